//! A limiter under any law and configuration, with any clock: it keeps its bounds and its count.

use crate::input::Input;
use crate::laws::{bounds, law, rate};
use core::time::Duration;
use limiter_core::{Config, Limiter, Outcome, RejectReason, Tickets, Ticks, Timestamp};

const OUTCOMES: [Outcome; 6] = [
    Outcome::Success,
    Outcome::Success,
    Outcome::Overload,
    Outcome::Failure,
    Outcome::Ignored,
    Outcome::Cancelled,
];

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let law = law(&mut input);
    let (mut min, initial, mut max) = bounds(&mut input);
    let shortest = Duration::from_micros(input.upto(2_000_000));
    let config = Config::new(law, rate(&mut input))
        .min(min)
        .initial(initial)
        .max(max)
        .windows(
            shortest,
            shortest + Duration::from_micros(input.upto(10_000_000)),
        )
        .min_samples(input.between(1, 50))
        .overload_tolerance(input.between(0, 1_000))
        .urgent_overloads(input.between(1, 50));
    let Ok(limiter) = Limiter::try_new(config) else {
        return;
    };
    let tickets: Tickets<'_, 4, _> = Tickets::new(&limiter);
    let (mut held, mut out) = (Vec::new(), Vec::new());
    let mut clock = input.odd();
    while !input.is_empty() {
        clock = clock.wrapping_add_signed(input.step());
        let now = Timestamp::from_ticks(clock);
        match input.upto(15) {
            0..=4 => match limiter.try_acquire(now) {
                Ok(permit) => held.push(permit),
                Err(refused) => assert_eq!(refused.reason, RejectReason::AtLimit),
            },
            5 => held.extend(limiter.try_acquire_from_isr(now).ok()),
            6..=9 if !held.is_empty() => {
                let permit = held.swap_remove(input.upto(held.len() as u64 - 1) as usize);
                let outcome = input.one(&OUTCOMES);
                if input.any() {
                    permit.finish_from_isr(outcome, now);
                } else {
                    permit.finish(outcome, now);
                }
            }
            10 => held.truncate(held.len() / 2),
            11 => out.extend(tickets.try_acquire(now).ok()),
            12 if !out.is_empty() => {
                let ticket = out.swap_remove(input.upto(out.len() as u64 - 1) as usize);
                let outcome = input.one(&OUTCOMES);
                assert!(tickets.finish(ticket, outcome, now).is_ok());
                assert!(tickets.finish(ticket, outcome, now).is_err(), "twice");
            }
            13 => {
                let limit = input.any();
                let allowed = (min..=max).contains(&limit);
                assert_eq!(limiter.set_limit(limit, now).is_ok(), allowed);
            }
            14 => {
                let (least, most) = (input.any(), input.any());
                if limiter.set_bounds(least, most, now).is_ok() {
                    (min, max) = (least, most);
                }
            }
            _ => limiter.set_wall_offset(Ticks::new(input.odd())),
        }
        let seen = limiter.snapshot();
        assert_eq!(seen.inflight as usize, held.len() + out.len());
        assert!((min..=max).contains(&seen.limit), "{seen:?}");
        assert_eq!(seen, limiter.snapshot(), "looking changes nothing");
    }
    limiter.close();
    let closed = limiter.try_acquire(Timestamp::from_ticks(clock));
    assert_eq!(
        closed.err().map(|refused| refused.reason),
        Some(RejectReason::Closed)
    );
    drop(held);
    assert_eq!(limiter.snapshot().inflight as usize, out.len());
}
