//! Waiting threads, on a clock that moves when it is told: nothing here sleeps.

mod common;

use common::{Fixture, Task, assert_idle, fixed, with};
use limiter_std::law::Fixed;
use limiter_std::{Config, Limiter, RejectReason};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_millis(100);

/// Until so many wait.
fn until_queued(limiter: &Fixture, waiters: usize) {
    while limiter.queued() != waiters {
        thread::yield_now();
    }
}

#[test]
fn a_thread_waits_until_a_slot_is_free() {
    let (limiter, _) = fixed(1);
    let held = limiter.acquire().unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| limiter.acquire().map(drop));
        until_queued(&limiter, 1);
        drop(held);
        assert!(waiter.join().unwrap().is_ok());
    });
    assert_idle(&limiter);
}

#[test]
fn threads_and_futures_wait_in_one_line() {
    let (limiter, _) = fixed(1);
    let held = limiter.acquire().unwrap();
    thread::scope(|scope| {
        let mut first = Task::queued(&limiter);
        let second = scope.spawn(|| limiter.acquire().unwrap());
        until_queued(&limiter, 2);
        let mut third = Task::queued(&limiter);
        drop(held);
        drop(first.permit());
        let permit = second.join().unwrap();
        assert_eq!(third.woken(), 0);
        drop(permit);
        drop(third.permit());
    });
    assert_idle(&limiter);
}

#[test]
fn a_timeout_and_a_release_in_the_same_instant_lose_no_slot_in_any_order() {
    let (limiter, clock) = fixed(1);
    let (mut kept, mut timed_out) = (0, 0);
    for round in 0..10_000 {
        let held = limiter
            .try_acquire()
            .expect("the slot of the last round is free");
        let outcome = thread::scope(|scope| {
            let waiter = scope.spawn(|| limiter.acquire_timeout(TIMEOUT).map(drop));
            until_queued(&limiter, 1);
            if round % 2 == 0 {
                drop(held);
                clock.advance(TIMEOUT);
            } else {
                clock.advance(TIMEOUT);
                drop(held);
            }
            waiter.join().unwrap()
        });
        match outcome {
            Ok(()) => kept += 1,
            Err(refused) => {
                timed_out += 1;
                assert_eq!(refused.reason, RejectReason::TimedOut);
                assert_eq!(round % 2, 1, "released before its time was up");
            }
        }
        assert_eq!(limiter.snapshot().inflight, 0, "round {round}");
    }
    assert!(kept >= 5_000, "{kept} kept, {timed_out} timed out");
    assert_idle(&limiter);
}

#[test]
fn a_timeout_shorter_than_a_tick_is_a_tick_and_not_nothing() {
    let (limiter, clock) = fixed(1);
    let held = limiter.acquire().unwrap();
    for timeout in [Duration::from_nanos(1), Duration::from_micros(500)] {
        thread::scope(|scope| {
            let waiter = scope.spawn(|| limiter.acquire_timeout(timeout).map(drop));
            // It does wait, as long as the clock stands still.
            until_queued(&limiter, 1);
            clock.advance(timeout);
            let refused = waiter.join().unwrap().unwrap_err();
            assert_eq!(refused.reason, RejectReason::TimedOut);
        });
    }
    drop(held);
    assert_idle(&limiter);
}

#[test]
fn a_timeout_ends_not_before_its_time() {
    let (limiter, clock) = fixed(1);
    let held = limiter.acquire().unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| limiter.acquire_timeout(TIMEOUT).map(drop));
        until_queued(&limiter, 1);
        // Each step unparks the waiter, who finds that its time has not come.
        for _ in 0..99 {
            clock.advance(TIMEOUT / 100);
            assert!(!waiter.is_finished());
        }
        assert_eq!(limiter.queued(), 1);
        clock.advance(TIMEOUT / 100);
        assert!(waiter.join().unwrap().is_err());
    });
    drop(held);
    assert_idle(&limiter);
}

#[test]
fn a_timeout_of_zero_takes_a_free_slot_and_waits_for_no_other() {
    let (limiter, _) = fixed(1);
    let held = limiter.acquire_timeout(Duration::ZERO).unwrap();
    let refused = limiter.acquire_timeout(Duration::ZERO).unwrap_err();
    assert_eq!(refused.reason, RejectReason::TimedOut);
    assert_eq!((refused.limit, refused.inflight), (1, 1));
    drop(held);
    assert_idle(&limiter);
}

#[test]
fn a_timeout_beyond_the_clock_waits_for_the_slot() {
    let (limiter, clock) = with(Config::new(Fixed).initial(1).without_longest_wait());
    clock.set(Duration::from_secs(1 << 33));
    let held = limiter.acquire().unwrap();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| limiter.acquire_timeout(Duration::MAX).map(drop));
        until_queued(&limiter, 1);
        clock.advance(Duration::from_secs(365 * 24 * 3600));
        drop(held);
        assert!(waiter.join().unwrap().is_ok());
    });
    // At the very end of the clock there is no time left to wait.
    clock.set(Duration::MAX);
    let held = limiter.acquire_timeout(Duration::MAX).unwrap();
    assert!(limiter.acquire_timeout(Duration::MAX).is_err());
    drop(held);
    assert_idle(&limiter);
}

#[test]
fn real_time_ends_a_timeout_too() {
    let limiter = Limiter::try_new(Config::new(Fixed).initial(1)).unwrap();
    let held = limiter.acquire().unwrap();
    for timeout in [Duration::from_micros(300), Duration::from_millis(20)] {
        let start = Instant::now();
        let refused = limiter.acquire_timeout(timeout).unwrap_err();
        assert_eq!(refused.reason, RejectReason::TimedOut);
        assert!(start.elapsed() >= timeout);
    }
    let waiter = thread::spawn({
        let limiter = limiter.clone();
        move || limiter.acquire_timeout(Duration::MAX).map(drop)
    });
    while limiter.queued() == 0 {
        thread::yield_now();
    }
    drop(held);
    assert!(waiter.join().unwrap().is_ok());
    assert_eq!(limiter.snapshot().inflight, 0);
}

#[test]
fn a_thread_that_is_unparked_for_nothing_goes_on_waiting() {
    let (limiter, _) = fixed(1);
    let held = limiter.acquire().unwrap();
    let released = AtomicBool::new(false);
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let permit = limiter.acquire().unwrap();
            assert!(released.load(Ordering::Acquire), "nobody released it");
            drop(permit);
        });
        until_queued(&limiter, 1);
        for _ in 0..1_000 {
            waiter.thread().unpark();
            thread::yield_now();
        }
        assert_eq!(limiter.queued(), 1);
        released.store(true, Ordering::Release);
        drop(held);
        waiter.join().unwrap();
    });
    assert_idle(&limiter);
}

#[test]
fn closing_ends_the_wait_of_every_thread() {
    let (limiter, _) = fixed(1);
    let held = limiter.acquire().unwrap();
    thread::scope(|scope| {
        let waiters: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| limiter.acquire().map(drop)))
            .collect();
        until_queued(&limiter, 4);
        limiter.close();
        for waiter in waiters {
            let refused = waiter.join().unwrap().unwrap_err();
            assert_eq!(refused.reason, RejectReason::Closed);
        }
    });
    drop(held);
    assert_eq!(limiter.snapshot().inflight, 0);
}
