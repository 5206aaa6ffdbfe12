//! The queue of waiters against a plain one, in any order of events.

use crate::input::Input;

#[allow(
    dead_code,
    reason = "what makes events for proptest is not for the fuzzer"
)]
#[path = "../../../limiter-std/tests/model.rs"]
mod model;

use model::Event;

pub(crate) fn run(data: &[u8]) {
    model::is_the_plain_queue(Input::new(data).all(event));
}

fn event(input: &mut Input<'_>) -> Event {
    match input.upto(15) {
        0 | 1 => Event::Try,
        2..=6 => Event::Join,
        7..=9 => Event::Release(input.upto(7) as usize),
        10 | 11 => Event::Poll(input.upto(7) as usize),
        12 | 13 => Event::Cancel(input.upto(7) as usize),
        14 => Event::SetLimit(input.between(1, 5)),
        _ => {
            let min = input.between(1, 3);
            Event::SetBounds(min, min + input.between(0, 3))
        }
    }
}
