//! Permits that are dropped run no law; the task that comes next does it for them, in line or not.

mod common;

use common::{Clock, poll};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_time::Duration;
use limiter_embassy::law::Aimd;
use limiter_embassy::{Limiter, Outcome, config};
use std::task::{Poll, Waker};

/// An outage in which every task gives up after a second, while others are always in line.
#[test]
fn a_limit_follows_drops_also_while_tasks_are_in_line() {
    let clock = Clock::take();
    let limiter: Limiter<CriticalSectionRawMutex, Aimd, 8> =
        Limiter::new(config(Aimd::new()).initial(8));
    for _ in 0..100 {
        let permit = limiter.try_acquire().expect("nothing is in flight");
        clock.advance(Duration::from_millis(10));
        permit.finish(Outcome::Success);
    }
    let mut held: Vec<_> = std::iter::from_fn(|| limiter.try_acquire().ok()).collect();
    let full = held.len();
    let mut line: Vec<_> = (0..3).map(|_| limiter.acquire()).collect();
    for waiting in &mut line {
        assert!(poll(waiting, Waker::noop()).is_pending());
    }
    for _ in 0..60 {
        clock.advance(Duration::from_secs(1));
        drop(held.remove(0));
        if line.len() < 3 {
            line.push(limiter.acquire());
        }
        for mut waiting in std::mem::take(&mut line) {
            match poll(&mut waiting, Waker::noop()) {
                Poll::Ready(permit) => held.push(permit.expect("the line is not full")),
                Poll::Pending => line.push(waiting),
            }
        }
        if held.is_empty() {
            break;
        }
    }
    let seen = limiter.snapshot();
    assert!(seen.cuts > 0 && (seen.limit as usize) < full, "{seen:?}");
}
