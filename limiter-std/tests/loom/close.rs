//! Closing while others wait.

use crate::support::{assert_idle, check, check_bounded, limiter, queued};
use limiter_std::RejectReason;
use loom::{future::block_on, thread};

/// Catches: closing without serving the queue.
#[test]
fn closing_reaches_a_thread_that_is_just_joining_the_queue() {
    check("close meets join", || {
        let limiter = limiter(1);
        let held = limiter.try_acquire().expect("nothing is in flight");
        let waiter = {
            let limiter = limiter.clone();
            thread::spawn(move || limiter.acquire().map(drop))
        };
        limiter.close();
        let refused = waiter.join().expect("no panic").expect_err("closed");
        assert_eq!(refused.reason, RejectReason::Closed);
        drop(held);
        assert_idle(&limiter, 0);
    });
}

/// Catches: a grant given out twice or lost, a waiter that is told neither.
///
/// Not done unbounded after a million executions. With three preemptions any two of the three threads
/// meet at any one step, with the third in between.
#[test]
fn closing_while_a_slot_comes_free_grants_it_or_refuses_and_loses_nothing() {
    check_bounded("close meets release", Some(3), || {
        let limiter = limiter(1);
        let held = limiter.try_acquire().expect("nothing is in flight");
        let (first, second) = (queued(&limiter), queued(&limiter));
        let release = thread::spawn(move || held.forget());
        let close = {
            let limiter = limiter.clone();
            thread::spawn(move || limiter.close())
        };
        let ended = block_on(first);
        assert!(
            !ended.is_err_and(|refused| refused.reason != RejectReason::Closed),
            "the first waiter"
        );
        let refused = block_on(second).map(drop);
        assert!(
            !refused.is_err_and(|refused| refused.reason != RejectReason::Closed),
            "the second waiter"
        );
        release.join().expect("no panic");
        close.join().expect("no panic");
        assert_idle(&limiter, 0);
    });
}
