//! Taking and giving back slots, settings, waiting and closing, against the plain rules.

use crate::input::{Input, expect};

#[allow(
    dead_code,
    reason = "what makes operations for proptest is not for the fuzzer"
)]
#[path = "../../../limiter-core/tests/admission/model.rs"]
mod model;

use model::Op;

pub(crate) fn run(data: &[u8]) {
    let ops = Input::new(data).all(|input| (op(input), input.odd()));
    expect(model::follows_the_rules(ops));
}

fn op(input: &mut Input<'_>) -> Op {
    match input.upto(15) {
        0..=4 => Op::Acquire,
        5 => Op::AcquireWaiter,
        6..=8 => Op::Finish(input.upto(15) as usize, input.any()),
        9 => Op::Release(input.upto(15) as usize),
        10 | 11 => Op::SetLimit(input.between(0, 11)),
        12 => Op::SetBounds(input.between(0, 11), input.between(0, 11)),
        13 | 14 => Op::SetWaiting(input.any()),
        _ => Op::Close,
    }
}
