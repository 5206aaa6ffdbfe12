//! A waiter that goes away, at any moment.

use crate::support::{assert_idle, check, limiter, queued};
use loom::{future::block_on, thread};

/// Catches: a cancelled waiter that keeps the slot it was granted, or hands it to nobody.
#[test]
fn the_next_is_served_when_the_first_is_cancelled_while_a_slot_comes_free() {
    check("cancel meets release", || {
        let limiter = limiter(1);
        let held = limiter.try_acquire().expect("nothing is in flight");
        let (first, second) = (queued(&limiter), queued(&limiter));
        let cancel = thread::spawn(move || drop(first));
        let release = thread::spawn(move || held.forget());
        drop(block_on(second).expect("not closed"));
        cancel.join().expect("no panic");
        release.join().expect("no panic");
        assert_idle(&limiter, 1);
    });
}

/// Catches: the waiting bit cleared outside the lock, over the head of one who has just joined.
#[test]
fn one_who_joins_while_the_last_one_leaves_is_not_forgotten() {
    check("cancel meets join", || {
        let limiter = limiter(1);
        let held = limiter.try_acquire().expect("nothing is in flight");
        let last = queued(&limiter);
        let joins = {
            let limiter = limiter.clone();
            thread::spawn(move || drop(limiter.acquire().expect("not closed")))
        };
        drop(last);
        drop(held);
        joins.join().expect("no panic");
        assert_idle(&limiter, 1);
    });
}
