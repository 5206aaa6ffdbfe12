//! Partitions: all together stay within the limit, and nothing is lost.

use crate::input::{Input, expect};

#[allow(
    dead_code,
    reason = "what makes operations for proptest is not for the fuzzer"
)]
#[path = "../../../limiter-core/tests/partition/model.rs"]
mod model;

use model::Op;

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let shares = (input.between(0, 449) as u16, input.between(0, 449) as u16);
    let lends = [input.any(), input.any()];
    let ops = input.all(op);
    expect(model::stay_within_the_limit(ops, shares, lends));
}

fn op(input: &mut Input<'_>) -> Op {
    match input.upto(15) {
        0..=7 => Op::Admit(input.upto(2) as usize),
        8..=11 => Op::Release(input.upto(15) as usize),
        12 | 13 => Op::SetLimit(input.between(1, 19)),
        _ => Op::Pass(input.upto(300)),
    }
}
