//! Breakers against the plain one, and under any clock.

use crate::input::{Input, expect};
use limiter_core::Outcome;

#[allow(
    dead_code,
    reason = "what makes operations for proptest is not for the fuzzer"
)]
#[path = "../../../limiter-core/tests/breaker/model.rs"]
mod model;

use model::Op;

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    if input.any() {
        let start = 1 + input.upto(10_000_000_000);
        let work = input.all(|input| {
            let most = input.one(&[200, 200, 200, 5_000]);
            (op(input), input.upto(most))
        });
        expect(model::is_the_plain_breaker(start, work));
    } else {
        let work = input.all(|input| (op(input), input.odd(), input.any()));
        expect(model::closes_in_the_end(work));
    }
}

fn op(input: &mut Input<'_>) -> Op {
    const OUTCOMES: [Outcome; 5] = [
        Outcome::Success,
        Outcome::Failure,
        Outcome::Overload,
        Outcome::Ignored,
        Outcome::Cancelled,
    ];
    match input.upto(7) {
        0..=2 => Op::Enter,
        3..=6 => Op::Settle(input.upto(15) as usize, input.one(&OUTCOMES)),
        _ => Op::Drop(input.upto(15) as usize),
    }
}
