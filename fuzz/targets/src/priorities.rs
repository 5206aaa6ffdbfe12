//! Classes and weights against the plain rules.

use crate::input::{Input, expect};

#[allow(
    dead_code,
    reason = "what makes operations for proptest is not for the fuzzer"
)]
#[path = "../../../limiter-core/tests/priorities/model.rs"]
mod model;

use model::Op;

pub(crate) fn run(data: &[u8]) {
    expect(model::follows_the_rules(Input::new(data).all(op)));
}

fn op(input: &mut Input<'_>) -> Op {
    match input.upto(15) {
        0..=6 => Op::Acquire {
            class: input.between(0, 3) as u8,
            weight: match input.upto(7) {
                0 => input.any(),
                _ => input.between(0, 13),
            },
            retry: input.any(),
            waiter: input.any(),
        },
        7..=9 => Op::Release(input.upto(15) as usize),
        10 | 11 => Op::SetLimit(input.between(1, 11)),
        12 => Op::SetShares(share(input), share(input), share(input)),
        13 => Op::Wait(input.between(0, 3) as u8),
        14 => Op::NobodyWaits,
        _ => Op::Close,
    }
}

fn share(input: &mut Input<'_>) -> u16 {
    input.between(0, 1_100) as u16
}
