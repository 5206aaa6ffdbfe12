//! Waiters of several classes and weights, and shares that change.

use crate::support::{Seen, assert_idle, check, check_bounded, limiter, queued_for, with_law};
use limiter_std::law::Fixed;
use limiter_std::{Config, Priority, RejectReason, Request, Shares};
use loom::{future::block_on, thread};

const BATCH: Request = Request::new().priority(Priority::Batch);

/// Catches: shares that are set without serving the queue.
#[test]
fn a_larger_share_reaches_a_thread_that_is_just_joining_the_queue() {
    check("share meets join", || {
        let limiter = with_law(Config::new(Fixed).initial(2));
        let small = Shares::new().batch(500).best_effort(500);
        limiter.set_shares(small).expect("in order");
        let held = limiter.try_acquire().expect("nothing is in flight");
        let waiter = {
            let limiter = limiter.clone();
            thread::spawn(move || limiter.acquire_for(BATCH).expect("not closed"))
        };
        limiter.set_shares(small.batch(900)).expect("in order");
        drop((held, waiter.join().expect("no panic")));
        assert_idle(&limiter, 2);
    });
}

/// Catches: one of a higher class that joins and leaves those of lower ones behind.
///
/// With three preemptions any two of the threads meet at any one step.
#[test]
fn a_lower_class_is_served_after_a_higher_one_that_joins_while_a_slot_comes_free() {
    check_bounded("classes meet release", Some(3), || {
        let limiter = limiter(1);
        let held = limiter.try_acquire().expect("nothing is in flight");
        let lower = queued_for(&limiter, BATCH);
        let higher = {
            let limiter = limiter.clone();
            thread::spawn(move || drop(limiter.acquire().expect("not closed")))
        };
        let release = thread::spawn(move || held.forget());
        drop(block_on(lower).expect("not closed"));
        higher.join().expect("no panic");
        release.join().expect("no panic");
        assert_idle(&limiter, 1);
    });
}

/// Catches: one who made place for another and is never told.
#[test]
fn who_makes_place_in_a_full_queue_has_the_slot_or_is_told() {
    let (granted, refused) = (Seen::default(), Seen::default());
    let seen = (granted.clone(), refused.clone());
    check_bounded("eviction meets release", Some(3), move || {
        let limiter = with_law(Config::new(Fixed).initial(1).queue_length(1));
        let held = limiter.try_acquire().expect("nothing is in flight");
        let lower = queued_for(&limiter, BATCH);
        let higher = {
            let limiter = limiter.clone();
            thread::spawn(move || drop(limiter.acquire().expect("makes place")))
        };
        let release = thread::spawn(move || held.forget());
        match block_on(lower) {
            Ok(permit) => {
                granted.once();
                drop(permit);
            }
            Err(why) => {
                refused.once();
                assert_eq!(why.reason, RejectReason::QueueFull);
            }
        }
        higher.join().expect("no panic");
        release.join().expect("no panic");
        assert_idle(&limiter, 1);
    });
    seen.0.assert_some("granted it the slot");
    seen.1.assert_some("made it make place");
}

/// Catches: a heavy waiter that goes away and leaves a lighter one behind it asleep.
#[test]
fn a_light_waiter_is_served_when_the_heavy_one_before_it_goes_away() {
    check("heavy cancel meets release", || {
        let limiter = limiter(2);
        let held = limiter.try_acquire().expect("nothing is in flight");
        let other = limiter.try_acquire().expect("half the limit");
        let heavy = queued_for(&limiter, Request::new().weight(2));
        let light = queued_for(&limiter, Request::new());
        let release = thread::spawn(move || held.forget());
        drop(heavy);
        drop(block_on(light).expect("not closed"));
        release.join().expect("no panic");
        drop(other);
        assert_idle(&limiter, 2);
    });
}
