//! Logical calls against the plain loop, and six at once under any clock.

use crate::input::{Input, expect};
use limiter_core::{Ending, Ticks};

#[allow(
    dead_code,
    reason = "what makes operations for proptest is not for the fuzzer"
)]
#[path = "../../../limiter-core/tests/call/model.rs"]
mod model;

use model::Move;

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    if input.any() {
        let (tokens, most) = (input.between(0, 4_999), input.between(1, 5));
        let total = 1 + input.upto(29_998);
        let work = (0..6)
            .map(|_| (ending(&mut input), input.upto(1_499), input.any()))
            .collect();
        expect(model::is_the_plain_loop(tokens, most, total, work));
    } else {
        let start = input.odd();
        let work = input.all(|input| Move {
            call: input.upto(5) as usize,
            what: input.upto(7) as u8,
            ending: ending(input),
            passed: input.step(),
            random: input.any(),
        });
        expect(model::keep_their_bounds(start, work));
    }
}

fn ending(input: &mut Input<'_>) -> Ending {
    match input.upto(9) {
        0 => Ending::success(),
        1 => Ending::failure(),
        2 => Ending::permanent(),
        3 => Ending::overload(),
        4 => Ending::timeout(),
        5 => Ending::ignored(),
        6 => Ending::overload().do_not_retry(),
        7 => Ending::cancelled(),
        8 => Ending::overload().retry_after(Ticks::new(input.odd())),
        _ => Ending::failure().retry_after(Ticks::new(input.upto(10_000))),
    }
}
