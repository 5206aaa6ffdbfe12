//! A newcomer beside one who waits.

use crate::support::{assert_idle, check, limiter, queued};
use loom::{future::block_on, thread};

/// Catches: a slot that is free for newcomers on its way from a release to the head of the queue.
#[test]
fn a_newcomer_does_not_take_the_slot_that_a_waiter_is_to_get() {
    check("newcomer meets release", || {
        let limiter = limiter(1);
        let held = limiter.try_acquire().expect("nothing is in flight");
        let waiter = queued(&limiter);
        let newcomer = {
            let limiter = limiter.clone();
            thread::spawn(move || limiter.try_acquire().is_ok())
        };
        let release = thread::spawn(move || held.forget());
        let permit = block_on(waiter).expect("not closed");
        assert!(!newcomer.join().expect("no panic"), "it passed the waiter");
        release.join().expect("no panic");
        drop(permit);
        assert_idle(&limiter, 1);
    });
}
