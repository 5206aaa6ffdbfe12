//! The admission word: exclusion, conservation, and the waiting bit.

use super::{NOW, eager, explore, explore_bounded, later};
use limiter_core::law::Fixed;
use limiter_core::{Outcome, RejectReason};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use loom::thread;

/// With a limit of 1 the limiter is a lock: what one holder wrote, the next one sees.
#[test]
fn a_slot_is_held_by_one_and_passes_on_what_was_written() {
    explore("admission-exclusion", || {
        let limiter = Arc::new(eager(Fixed, 1));
        let data = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (limiter, data) = (Arc::clone(&limiter), Arc::clone(&data));
                thread::spawn(move || match limiter.try_acquire(NOW) {
                    Ok(permit) => {
                        // Neither a lost update nor a stale read, though these are relaxed.
                        let seen = data.load(Relaxed);
                        data.store(seen + 1, Relaxed);
                        drop(permit);
                        1
                    }
                    Err(refused) => {
                        assert_eq!(refused.reason, RejectReason::AtLimit);
                        assert_eq!((refused.inflight, refused.limit), (1, 1));
                        0
                    }
                })
            })
            .collect();
        let admitted: u32 = threads.into_iter().map(|t| t.join().unwrap()).sum();
        assert!(admitted >= 1, "the first to come is never refused");
        assert_eq!(data.load(Relaxed), admitted);
        let end = limiter.snapshot();
        assert_eq!((end.inflight, end.limit, end.waiting), (0, 1, false));
    });
}

#[test]
fn admission_never_passes_a_limit_that_shrinks_and_drops_lose_nothing() {
    explore_bounded("admission-shrink", 3, || {
        let limiter = Arc::new(eager(Fixed, 2));
        let held = limiter.try_acquire(NOW).unwrap();
        let shrink = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || limiter.set_limit(1, NOW).unwrap())
        };
        let newcomer = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || {
                if let Err(refused) = limiter.admit(NOW).map(|slot| limiter.release(slot)) {
                    assert!(
                        refused.inflight >= refused.limit,
                        "refused beside a free slot"
                    );
                }
            })
        };
        // Dropped while the limit shrinks.
        drop(held);
        shrink.join().unwrap();
        newcomer.join().unwrap();
        let end = limiter.snapshot();
        assert_eq!((end.inflight, end.limit), (0, 1));
        let first = limiter.try_acquire(NOW).unwrap();
        assert!(limiter.try_acquire(NOW).is_err(), "the new limit holds");
        drop(first);
    });
}

#[test]
fn a_release_sees_the_waiter_or_the_waiter_sees_the_slot() {
    explore("admission-waiting", || {
        let limiter = Arc::new(eager(Fixed, 1));
        let held = limiter.admit(NOW).unwrap();
        let waiter = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || {
                limiter.set_waiting();
                match limiter.admit_waiter(NOW) {
                    Ok(slot) => {
                        let _ = limiter.release(slot);
                        true
                    }
                    Err(_) => false,
                }
            })
        };
        let woken = limiter.settle(held, Outcome::Success, later()).wake();
        let served = waiter.join().unwrap();
        assert!(woken || served, "a waiter sleeps beside a free slot");
        assert!(limiter.try_acquire(NOW).is_err(), "newcomers stay behind");
        limiter.clear_waiting();
        assert_eq!(limiter.snapshot().inflight, 0);
        assert!(limiter.try_acquire(NOW).is_ok());
    });
}

#[test]
fn a_raise_sees_the_waiter_or_the_waiter_sees_the_slot() {
    explore("admission-raise", || {
        let limiter = Arc::new(eager(Fixed, 1));
        let held = limiter.admit(NOW).unwrap();
        let waiter = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || {
                limiter.set_waiting();
                limiter.admit_waiter(NOW).ok()
            })
        };
        let woken = limiter.set_limit(2, NOW).unwrap().wake();
        let served = waiter.join().unwrap();
        assert!(
            woken || served.is_some(),
            "a waiter sleeps beside a raised limit"
        );
        for slot in served.into_iter().chain([held]) {
            let _ = limiter.release(slot);
        }
        let end = limiter.snapshot();
        assert_eq!((end.inflight, end.limit), (0, 2));
    });
}

#[test]
fn closing_is_final_whatever_limit_is_set_beside_it() {
    explore("admission-close", || {
        let limiter = Arc::new(eager(Fixed, 1));
        let setter = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || limiter.set_limit(5, NOW).map(drop))
        };
        limiter.close();
        setter.join().unwrap().unwrap();
        let refused = limiter.try_acquire(NOW).unwrap_err();
        assert_eq!(refused.reason, RejectReason::Closed);
        let end = limiter.snapshot();
        assert_eq!((end.limit, end.inflight, end.closed), (0, 0, true));
    });
}
