//! The open window: no sample is lost or counted twice, and one closer at a time.

use super::{BASE, Count, NOW, eager, explore_bounded, later};
use limiter_core::Outcome;
use loom::sync::Arc;
use loom::thread;

#[test]
fn every_sample_is_in_exactly_one_window() {
    explore_bounded("window-conservation", 1, || {
        let limiter = Arc::new(eager(Count, BASE));
        let beside = limiter.admit(NOW).unwrap();
        let thread = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || {
                let slot = limiter.admit(NOW).unwrap();
                limiter.settle(slot, Outcome::Success, later())
            })
        };
        let _ = limiter.settle(beside, Outcome::Success, later());
        let _ = thread.join().unwrap();
        let end = limiter.snapshot();
        let (windows, closed) = ((end.limit - BASE) / 1_000, (end.limit - BASE) % 1_000);
        assert_eq!(
            closed + end.window_successes,
            2,
            "{closed} samples in {windows} closed windows, {} in the open one",
            end.window_successes
        );
        // Each closed window had at least one sample, so there are at most as many as samples.
        assert!((1..=2).contains(&windows), "{windows} windows were closed");
        assert_eq!(end.inflight, 0);
    });
}

#[test]
fn a_window_marked_due_by_an_interrupt_is_closed_by_the_next_thread() {
    explore_bounded("window-isr", 1, || {
        let limiter = Arc::new(eager(Count, BASE));
        let handler = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || {
                let slot = limiter.admit(NOW).unwrap();
                limiter.settle_from_isr(slot, Outcome::Success, later())
            })
        };
        let beside = limiter.try_acquire(NOW).unwrap();
        beside.finish(Outcome::Success, later());
        handler.join().unwrap();
        limiter.tend(later());
        let end = limiter.snapshot();
        assert_eq!((end.limit - BASE) % 1_000, 2, "both samples were judged");
        assert_eq!((end.window_successes, end.inflight), (0, 0));
    });
}
