//! A call made by a thread.

use super::options::{Attempt, Ending, GaveUp, Judge};
use super::shared::{Guard, Next};
use crate::clock::Clock;
use crate::wait::block;
use limiter_core::law::Law;
use limiter_core::{GiveUp, Refusal, Timestamp};

pub(super) fn call<T, E, L: Law, C: Clock>(
    mut guard: Guard<L, C>,
    judge: impl Judge<T, E>,
    mut attempt: impl FnMut(Attempt) -> Result<T, E>,
) -> Result<T, GaveUp<T, E>> {
    let mut last = None;
    let mut slot = None;
    loop {
        match guard.step(slot.take()) {
            Next::Attempt(next) => {
                let result = attempt(next);
                let ending = judge.judge(result.as_ref());
                last = Some(result);
                guard.finish(next.number, ending);
            }
            Next::Wait(until) | Next::Running(until) => sleep_until(guard.clock(), until),
            Next::Queue(line, _) => match block(line, guard.clock()) {
                Ok((_, granted)) => slot = granted,
                Err(refused) => {
                    return Err(guard.give_up(GiveUp::Refused(Refusal::Limiter(refused)), last));
                }
            },
            Next::Done => {
                return match last {
                    Some(Ok(answer)) => Ok(answer),
                    // An error that was judged a success is an answer all the same.
                    last => Err(guard.give_up(GiveUp::Permanent, last)),
                };
            }
            Next::GiveUp(why) => return Err(guard.give_up(why, last)),
            // Nothing of a thread runs between two steps.
            Next::Cancel(number) => guard.finish(number, Ending::timeout()),
        }
    }
}

fn sleep_until(clock: &impl Clock, until: Timestamp) {
    while clock.now() < until {
        clock.park_until(until);
    }
}
