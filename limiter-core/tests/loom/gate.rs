//! The gate: what a loser leaves is done by the holder.

use super::{BASE, Count, NOW, eager, explore, explore_bounded, later};
use limiter_core::Outcome;
use limiter_core::law::{Decision, Law, Reason, Window};
use loom::sync::Arc;
use loom::thread;

/// Keeps what it is given and counts how often it was told of a limit set by hand.
#[derive(Clone, Copy, Debug)]
struct Obedient;

impl Law for Obedient {
    type State = [u32; 1];

    fn on_window(&self, _: &mut [u32; 1], window: &Window) -> Decision {
        Decision::new(window.limit, Reason::HeldSteady)
    }

    fn on_set(&self, [told]: &mut [u32; 1], _: u32) {
        *told += 1;
    }
}

#[test]
fn a_limit_set_while_a_window_closes_is_not_lost() {
    explore("gate-set", || {
        let limiter = Arc::new(eager(Obedient, 2));
        let permit = limiter.admit(NOW).unwrap();
        let setter = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || limiter.set_limit(7, NOW).map(drop))
        };
        let _ = limiter.settle(permit, Outcome::Success, later());
        setter.join().unwrap().unwrap();
        let end = limiter.snapshot();
        assert_eq!((end.limit, end.inflight), (7, 0));
    });
}

#[test]
fn bounds_moved_while_a_window_closes_hold_afterwards() {
    explore("gate-bounds", || {
        let limiter = Arc::new(eager(Count, BASE));
        let permit = limiter.admit(NOW).unwrap();
        let setter = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || limiter.set_bounds(1, 5, NOW).map(drop))
        };
        let _ = limiter.settle(permit, Outcome::Success, later());
        setter.join().unwrap().unwrap();
        let end = limiter.snapshot();
        assert_eq!((end.limit, end.max, end.inflight), (5, 5, 0));
    });
}

/// One holder after the other, and each sees what the last one learned: the law's state is plain words.
#[test]
fn the_next_holder_sees_what_the_last_one_learned() {
    explore_bounded("gate-state", 1, || {
        let limiter = Arc::new(eager(Count, BASE));
        let first = limiter.admit(NOW).unwrap();
        let second = limiter.admit(NOW).unwrap();
        let thread = {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || {
                limiter
                    .settle(first, Outcome::Success, later())
                    .change()
                    .is_some()
            })
        };
        let here = limiter
            .settle(second, Outcome::Success, later())
            .change()
            .is_some();
        let there = thread.join().unwrap();
        let end = limiter.snapshot();
        let (windows, closed) = ((end.limit - BASE) / 1_000, (end.limit - BASE) % 1_000);
        assert_eq!(closed + end.window_successes, 2);
        assert!(windows >= u32::from(here) + u32::from(there));
        assert_eq!(end.inflight, 0);
    });
}
