//! Callers that take more than their share against the plain rule.

use crate::input::{Input, expect};

#[allow(
    dead_code,
    reason = "what makes operations for proptest is not for the fuzzer"
)]
#[path = "../../../limiter-core/tests/callers/model.rs"]
mod model;

use model::Op;

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (seed, within) = (input.any(), input.between(0, 1_100) as u16);
    expect(model::follows_the_rule(seed, within, input.all(op)));
}

fn op(input: &mut Input<'_>) -> Op {
    match input.upto(15) {
        0..=6 => Op::Admit {
            name: input.between(0, 5) as u8,
            origin: match input.upto(3) {
                3 => None,
                origin => Some(origin as u8),
            },
            class: input.between(0, 3) as u8,
            weight: match input.upto(7) {
                0 => input.any(),
                1 => input.between(0, 23),
                _ => input.between(1, 2),
            },
        },
        7..=12 => Op::Release(input.upto(31) as usize),
        13 | 14 => Op::Step(input.step()),
        _ => Op::Silence,
    }
}
