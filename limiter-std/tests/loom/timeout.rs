//! A wait that ends by its timeout in the moment of its grant.

use crate::support::{Seen, assert_idle, check, check_bounded, limiter, queued};
use core::time::Duration;
use limiter_std::RejectReason;
use loom::{future::block_on, thread};

/// Catches: a timeout that throws its grant away, or frees the slot twice.
#[test]
fn a_timeout_that_meets_its_grant_has_the_slot_or_leaves_it_free() {
    let (kept, timed_out) = (Seen::default(), Seen::default());
    let seen = (kept.clone(), timed_out.clone());
    check("timeout meets release", move || {
        let limiter = limiter(1);
        let held = limiter.try_acquire().expect("nothing is in flight");
        let release = thread::spawn(move || held.forget());
        // On a clock that stands still, zero has passed at once: after the one poll that queues.
        match limiter.acquire_timeout(Duration::ZERO) {
            Ok(permit) => {
                kept.once();
                drop(permit);
            }
            Err(refused) => {
                timed_out.once();
                assert_eq!(refused.reason, RejectReason::TimedOut);
            }
        }
        release.join().expect("no panic");
        assert_idle(&limiter, 1);
    });
    seen.0.assert_some("kept its grant");
    seen.1.assert_some("timed out");
}

/// Catches: a timeout whose node stays in the queue, or takes the wake-up of the next with it.
///
/// Not done unbounded after a million executions. With three preemptions any two of the three threads
/// meet at any one step, with the third in between.
#[test]
fn the_next_is_served_when_the_first_times_out_while_a_slot_comes_free() {
    check_bounded("timeout meets release, one behind", Some(3), || {
        let limiter = limiter(1);
        let held = limiter.try_acquire().expect("nothing is in flight");
        let timed = {
            let limiter = limiter.clone();
            thread::spawn(move || drop(limiter.acquire_timeout(Duration::ZERO)))
        };
        let next = queued(&limiter);
        let release = thread::spawn(move || held.forget());
        drop(block_on(next).expect("not closed"));
        timed.join().expect("no panic");
        release.join().expect("no panic");
        assert_idle(&limiter, 1);
    });
}
