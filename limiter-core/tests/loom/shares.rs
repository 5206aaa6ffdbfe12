//! Classes and weights in the admission word, and the word of the shares.

use super::{NOW, eager, explore, explore_bounded};
use limiter_core::law::Fixed;
use limiter_core::{Priority, Request, Shares};
use loom::sync::Arc;
use loom::thread;

/// Two that fit alone and not together: one gets in, whichever it is, and leaves nothing behind.
#[test]
fn a_weight_and_a_lower_class_never_share_what_one_of_them_needs() {
    explore("shares-weights", || {
        let limiter = Arc::new(eager(Fixed, 4));
        let thread = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || limiter.admit_for(&Request::new().weight(3), NOW).ok())
        };
        let batch = Request::new().priority(Priority::BestEffort).weight(2);
        let here = limiter.admit_for(&batch, NOW).ok();
        let there = thread.join().unwrap();
        assert!(here.is_some() != there.is_some(), "3 and 2 of 4");
        let inflight = if there.is_some() { 3 } else { 2 };
        assert_eq!(limiter.snapshot().inflight, inflight);
        for slot in here.into_iter().chain(there) {
            let _ = limiter.release(slot);
        }
        assert_eq!(limiter.snapshot().inflight, 0);
    });
}

#[test]
fn a_class_stays_within_its_share_of_a_limit_that_shrinks() {
    explore_bounded("shares-shrink", 3, || {
        let limiter = Arc::new(eager(Fixed, 8));
        let held = limiter.admit_for(&Request::new().weight(2), NOW).unwrap();
        let shrink = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || limiter.set_limit(4, NOW).unwrap())
        };
        // Half of eight, rounded up, has room for two beside two; half of four has none.
        let best_effort = Request::new().priority(Priority::BestEffort).weight(2);
        let got = limiter.admit_for(&best_effort, NOW);
        shrink.join().unwrap();
        assert!(limiter.admit_for(&best_effort, NOW).is_err());
        let _ = limiter.release(held);
        if let Ok(slot) = got {
            let _ = limiter.release(slot);
        }
        let end = limiter.snapshot();
        assert_eq!((end.inflight, end.limit), (0, 4));
    });
}

#[test]
fn new_shares_and_the_class_that_waits_are_both_kept() {
    explore("shares-word", || {
        let limiter = Arc::new(eager(Fixed, 8));
        let shares = Shares::new().interactive(800).batch(400).best_effort(200);
        let thread = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || limiter.set_shares(shares).unwrap())
        };
        limiter.set_waiting_from(Priority::BestEffort);
        thread.join().unwrap();
        assert_eq!(limiter.shares(), shares);
        let batch = Request::new().priority(Priority::Batch);
        assert!(
            limiter.admit_for(&batch, NOW).is_ok(),
            "only best effort waits"
        );
    });
}
