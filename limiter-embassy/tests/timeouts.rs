//! Waiting for no longer than a given time, at whatever rate the clock ticks.

mod common;

use common::{Clock, Count, Task, assert_idle, fixed, now_or_never, poll};
use embassy_time::{Duration, TICK_HZ};
use limiter_embassy::RejectReason;
use std::task::Poll;

const TICK: Duration = Duration::from_ticks(1);

/// F109: half a millisecond at 1 kHz is not nothing.
#[test]
fn a_timeout_shorter_than_a_tick_waits_for_at_least_one() {
    let clock = Clock::take();
    let limiter = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let (woken, waker) = Count::new();
    let short = Duration::from_micros(500);
    assert_eq!(short.as_ticks(), (500 * TICK_HZ).div_ceil(1_000_000));
    let mut future = limiter.acquire_timeout(short);
    assert!(poll(&mut future, &waker).is_pending());
    clock.advance(short - TICK);
    assert!(poll(&mut future, &waker).is_pending());
    clock.advance(TICK);
    assert!(woken.get() > 0, "the timer wakes it");
    match poll(&mut future, &waker) {
        Poll::Ready(Err(refused)) => {
            assert_eq!(refused.reason, RejectReason::TimedOut);
            assert_eq!((refused.limit, refused.inflight), (1, 1));
        }
        other => panic!("late, and then {other:?}"),
    }
    assert!(poll(&mut future, &waker).is_pending(), "over");
    drop(held);
    assert_idle(&limiter);
}

#[test]
fn zero_waits_for_nothing_and_takes_what_is_free() {
    let _clock = Clock::take();
    let limiter = fixed(1);
    let held = now_or_never(limiter.acquire_timeout(Duration::MIN)).expect("free");
    let refused = now_or_never(limiter.acquire_timeout(Duration::MIN)).unwrap_err();
    assert_eq!(refused.reason, RejectReason::TimedOut);
    drop(held);
    assert_idle(&limiter);
}

#[test]
fn a_timeout_too_long_for_the_clock_waits_for_ever() {
    let clock = Clock::take();
    let limiter = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let (_, waker) = Count::new();
    let mut future = limiter.acquire_timeout(Duration::MAX);
    assert!(poll(&mut future, &waker).is_pending());
    clock.advance(Duration::from_secs(1_000_000));
    assert!(poll(&mut future, &waker).is_pending());
    drop(held);
    assert!(matches!(poll(&mut future, &waker), Poll::Ready(Ok(_))));
    drop(future);
    assert_idle(&limiter);
}

#[test]
fn a_slot_that_comes_together_with_the_end_of_the_time_is_kept() {
    let clock = Clock::take();
    let limiter = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let (_, waker) = Count::new();
    let mut future = limiter.acquire_timeout(TICK);
    assert!(poll(&mut future, &waker).is_pending());
    clock.advance(TICK);
    drop(held);
    assert!(matches!(poll(&mut future, &waker), Poll::Ready(Ok(_))));
    drop(future);
    assert_idle(&limiter);
}

#[test]
fn who_gives_up_leaves_the_line_to_those_behind() {
    let clock = Clock::take();
    let limiter = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let (_, waker) = Count::new();
    let mut impatient = limiter.acquire_timeout(TICK);
    assert!(poll(&mut impatient, &waker).is_pending());
    let mut patient = Task::queued(&limiter);
    clock.advance(TICK);
    assert!(poll(&mut impatient, &waker).is_ready());
    drop(held);
    drop(patient.permit());
    drop((patient, impatient));
    assert_idle(&limiter);
}

/// F31: no two waiters wake each other.
#[test]
fn two_tasks_that_wait_a_second_in_vain_are_polled_twice_each() {
    let clock = Clock::take();
    let limiter = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let second = Duration::from_secs(1);
    let mut tasks: Vec<_> = (0..2)
        .map(|_| (limiter.acquire_timeout(second), Count::new()))
        .collect();
    let mut polls = 0;
    for (future, (_, waker)) in &mut tasks {
        polls += 1;
        assert!(poll(future, waker).is_pending());
    }
    let mut seen = [0; 2];
    for _ in 0..100 {
        clock.advance(Duration::from_millis(10));
        // As an executor does: whoever was woken is polled.
        for ((future, (woken, waker)), seen) in tasks.iter_mut().zip(&mut seen) {
            if woken.get() > *seen {
                *seen = woken.get();
                polls += 1;
                assert!(poll(future, waker).is_ready(), "woken for nothing");
            }
        }
    }
    assert_eq!(polls, 4);
    drop((held, tasks));
    assert_idle(&limiter);
}
