//! Handles, permits and holds: every way in and every way out.

mod common;

use common::{Fixture, Taken, assert_idle, fixed, poll};
use limiter_std::law::Fixed;
use limiter_std::{Config, Limiter, ManualClock, Outcome, RejectReason};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::{Poll, Waker};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// A limiter whose window knows a usual RTT of 10 ms, so that a permit that is given up after more than
/// twice that is seen in the window too.
fn usual_10_ms(limit: u32) -> (Fixture, ManualClock) {
    let config = Config::new(Fixed)
        .initial(limit)
        .min_samples(1)
        .windows(Duration::from_secs(1), Duration::from_secs(10))
        .urgent_overloads(1 << 20);
    let (limiter, clock) = common::with(config);
    clock.advance(Duration::from_secs(1));
    let first = limiter.try_acquire().unwrap();
    clock.advance(10 * MS);
    first.finish(Outcome::Success);
    let seen = limiter.snapshot();
    assert_eq!((seen.window_successes, seen.window_overloads), (0, 0));
    assert_ne!(seen.usual_rtt, Default::default());
    (limiter, clock)
}

fn acquire_by_poll(limiter: &Fixture) -> Taken {
    match poll(&mut limiter.acquire_async(), Waker::noop()) {
        Poll::Ready(Ok(permit)) => permit,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_way_in_counts_one_and_every_way_out_counts_it_off() {
    let ways_in: [fn(&Fixture) -> Taken; 6] = [
        |limiter| limiter.try_acquire().unwrap(),
        |limiter| limiter.acquire().unwrap(),
        |limiter| limiter.acquire_timeout(Duration::ZERO).unwrap(),
        |limiter| limiter.acquire_timeout(Duration::MAX).unwrap(),
        acquire_by_poll,
        |limiter| {
            let mut timed = Box::pin(limiter.acquire_until(std::future::ready(())));
            match poll(&mut timed, Waker::noop()) {
                Poll::Ready(Ok(permit)) => permit,
                other => panic!("{other:?}"),
            }
        },
    ];
    let ways_out: [fn(Taken); 8] = [
        drop,
        Taken::forget,
        |permit| permit.finish(Outcome::Success),
        |permit| permit.finish(Outcome::Cancelled),
        |mut permit| {
            let now = permit.now();
            assert!(permit.record(Outcome::Failure, now));
        },
        |permit| drop(permit.into_hold()),
        |permit| {
            let hold = permit.into_hold();
            let other = hold.clone();
            drop(hold);
            other.record(Outcome::Overload, other.now());
        },
        |permit| {
            let unwound = catch_unwind(AssertUnwindSafe(move || {
                let _permit = permit;
                resume_unwind(Box::new("the work panics"))
            }));
            assert!(unwound.is_err());
        },
    ];
    let (limiter, _) = fixed(3);
    for way_in in ways_in {
        for way_out in ways_out {
            let permit = way_in(&limiter);
            assert_eq!(limiter.snapshot().inflight, 1);
            way_out(permit);
            assert_eq!(limiter.snapshot().inflight, 0);
        }
    }
    assert_idle(&limiter);
}

#[test]
fn each_of_five_ways_to_end_records_one_outcome() {
    let (limiter, clock) = usual_10_ms(5);
    let permits: [Taken; 5] = std::array::from_fn(|_| limiter.try_acquire().unwrap());
    let [ok, failed, never_polled, half_way, panics] = permits;
    let task = async move {
        let _permit = never_polled;
    };
    let mut cancelled = Box::pin(async move {
        let _permit = half_way;
        std::future::pending::<()>().await;
    });
    assert!(poll(&mut cancelled, Waker::noop()).is_pending());
    // Old enough for a permit without an outcome to be evidence of slowness.
    clock.advance(9 * MS);
    ok.finish(Outcome::Success);
    failed.finish(Outcome::Overload);
    clock.advance(20 * MS);
    drop(task);
    drop(cancelled);
    let unwound = catch_unwind(AssertUnwindSafe(move || {
        let _permit = panics;
        resume_unwind(Box::new("the work panics"))
    }));
    assert!(unwound.is_err());

    let seen = limiter.snapshot();
    assert_eq!(seen.inflight, 0);
    assert_eq!(seen.window_successes, 1);
    assert_eq!(seen.window_overloads, 1 + 3);
}

#[test]
fn a_hundred_panics_leave_the_slots_and_the_limit_as_they_were() {
    let (limiter, _) = fixed(10);
    for _ in 0..100 {
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let _permit = limiter.try_acquire().unwrap();
            resume_unwind(Box::new("the work panics"))
        }));
        assert!(unwound.is_err());
    }
    assert_eq!(limiter.snapshot().limit, 10);
    assert_idle(&limiter);
}

#[test]
fn a_permit_whose_task_is_refused_by_its_executor_is_given_back() {
    let (limiter, _) = fixed(10);
    for _ in 0..10 {
        let permit = limiter.try_acquire().unwrap();
        let task = async move { permit.finish(Outcome::Success) };
        // An executor that is shut down drops what it is given.
        drop(task);
    }
    assert_idle(&limiter);
}

#[test]
fn handlers_that_are_cancelled_while_they_work_make_room_at_once() {
    let (limiter, _) = fixed(4);
    let mut handlers: Vec<_> = (0..4)
        .map(|_| {
            let limiter = limiter.clone();
            Box::pin(async move {
                let _permit = limiter.acquire_async().await.unwrap();
                std::future::pending::<()>().await;
            })
        })
        .collect();
    for handler in &mut handlers {
        assert!(poll(handler, Waker::noop()).is_pending());
    }
    assert!(limiter.try_acquire().is_err());
    drop(handlers);
    assert_idle(&limiter);
}

#[test]
fn response_bodies_that_are_dropped_half_read_give_their_slots_back() {
    let (limiter, _) = fixed(10);
    for _ in 0..10 {
        let hold = limiter.try_acquire().unwrap().into_hold();
        let body = vec![hold.clone(), hold.clone()];
        assert!(hold.record(Outcome::Success, hold.now()));
        drop(hold);
        assert_eq!(limiter.snapshot().inflight, 1, "the body is still read");
        drop(body);
    }
    assert_idle(&limiter);
}

#[test]
fn a_permit_stays_with_its_limiter_when_the_handle_is_replaced() {
    let (old, _) = fixed(3);
    let (new, _) = fixed(5);
    let mut current = old.clone();
    let permit = current.try_acquire().unwrap();
    current = new.clone();
    let later = current.try_acquire().unwrap();
    assert_eq!((old.snapshot().inflight, new.snapshot().inflight), (1, 1));
    drop(permit);
    assert_eq!((old.snapshot().inflight, new.snapshot().inflight), (0, 1));
    drop(later);
    assert_idle(&old);
    assert_idle(&new);
}

#[test]
fn an_outcome_counts_once_for_a_permit_and_for_all_shares_of_a_hold() {
    let (limiter, clock) = usual_10_ms(2);
    let (mut permit, other) = (
        limiter.try_acquire().unwrap(),
        limiter.try_acquire().unwrap(),
    );
    clock.advance(5 * MS);
    assert!(permit.record(Outcome::Success, limiter.now()));
    assert!(!permit.record(Outcome::Overload, limiter.now()));
    // Recorded already: this only frees the slot, however late.
    clock.advance(100 * MS);
    permit.finish(Outcome::Overload);

    let hold = other.into_hold();
    let share = hold.clone();
    assert!(share.record(Outcome::Overload, share.now()));
    assert!(!hold.record(Outcome::Success, hold.now()));
    drop((hold, share));
    let seen = limiter.snapshot();
    assert_eq!((seen.window_successes, seen.window_overloads), (1, 1));
    assert_idle(&limiter);
}

#[test]
fn a_recorded_permit_stays_recorded_as_a_hold() {
    let (limiter, clock) = usual_10_ms(1);
    let mut permit = limiter.try_acquire().unwrap();
    assert!(permit.record(Outcome::Failure, limiter.now()));
    clock.advance(100 * MS);
    let hold = permit.into_hold();
    assert!(!hold.record(Outcome::Overload, hold.now()));
    drop(hold);
    assert_eq!(limiter.snapshot().window_overloads, 0);
    assert_idle(&limiter);
}

#[test]
fn what_is_dropped_without_an_outcome_teaches_by_its_age_and_what_is_forgotten_never() {
    let (limiter, clock) = usual_10_ms(6);
    let mut permits: Vec<_> = (0..6).map(|_| limiter.try_acquire().unwrap()).collect();
    let overloads = || limiter.snapshot().window_overloads;
    drop(permits.pop());
    drop(permits.pop().map(Taken::into_hold));
    assert_eq!(overloads(), 0, "younger than usual");
    clock.advance(100 * MS);
    drop(permits.pop());
    assert_eq!(overloads(), 1, "much older");
    drop(permits.pop().map(Taken::into_hold));
    assert_eq!(overloads(), 2, "shared, and much older");
    permits.pop().unwrap().forget();
    assert_eq!(overloads(), 2, "forgotten");
    drop(permits);
    assert_idle(&limiter);
}

#[test]
fn all_clones_of_a_handle_share_one_limit() {
    let limiter = Limiter::try_new(Config::default().initial(2)).unwrap();
    let other = limiter.clone();
    let permits = (limiter.try_acquire().unwrap(), other.try_acquire().unwrap());
    assert!(limiter.try_acquire().is_err());
    other.set_limit(3).unwrap();
    assert_eq!(limiter.snapshot().limit, 3);
    other.close();
    let refused = limiter.acquire().unwrap_err();
    assert_eq!(refused.reason, RejectReason::Closed);
    drop((limiter, other));
    // The permits outlive every handle.
    drop(permits);
}

#[test]
fn a_setting_out_of_range_is_an_error_that_names_it_and_changes_nothing() {
    let (limiter, _) = common::with(Config::new(Fixed).initial(8).min(2).max(64));
    for (error, field) in [
        (limiter.set_limit(1).unwrap_err(), "limit"),
        (limiter.set_limit(65).unwrap_err(), "limit"),
        (limiter.set_bounds(0, 10).unwrap_err(), "min"),
        (limiter.set_bounds(20, 10).unwrap_err(), "min"),
        (limiter.set_bounds(1, u32::MAX).unwrap_err(), "max"),
    ] {
        assert_eq!(error.field(), field);
    }
    let seen = limiter.snapshot();
    assert_eq!((seen.limit, seen.min, seen.max), (8, 2, 64));
}
