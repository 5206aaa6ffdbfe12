//! Decisions end to end: every change of the limit is told, and a law that panics changes nothing.

use super::{MS, at, batch, config};
use limiter_core::law::{Aimd, Decision, Law, Reason, Window};
use limiter_core::{Change, Limiter, Outcome};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

#[test]
fn a_law_that_panics_keeps_no_slot_no_lock_and_no_limit() {
    #[derive(Clone, Copy, Debug)]
    struct Faulty;
    impl Law for Faulty {
        type State = [u32; 1];
        fn on_window(&self, [runs]: &mut [u32; 1], window: &Window) -> Decision {
            assert!(window.successes != 10, "no law should see ten");
            *runs += 1;
            Decision::new(40 + *runs, Reason::Grew)
        }
    }
    let limiter = Limiter::new(config(Faulty));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        batch(&limiter, 10, 0, 20 * MS, Outcome::Success);
    }));
    assert!(panicked.is_err());
    let seen = limiter.snapshot();
    assert_eq!((seen.inflight, seen.limit), (0, 20));
    // The gate is open again: the next full window decides.
    batch(&limiter, 8, 30 * MS, 31 * MS, Outcome::Success);
    batch(&limiter, 1, 30 * MS, 1_100 * MS, Outcome::Success);
    batch(&limiter, 1, 1_100 * MS, 1_200 * MS, Outcome::Success);
    assert!(limiter.snapshot().limit > 40, "{:?}", limiter.snapshot());
}

/// Cuts to 5 while somebody sets 20 by hand, which whoever closes the window does too.
#[derive(Clone, Copy)]
struct CutsBeside;

static BESIDE: OnceLock<Limiter<CutsBeside>> = OnceLock::new();

impl Law for CutsBeside {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], window: &Window) -> Decision {
        let limiter = BESIDE.get().expect("it is there");
        let left = limiter
            .set_limit(20, window.now)
            .expect("within the bounds");
        assert_eq!(left.change(), None, "left for whoever closes the window");
        Decision::new(5, Reason::CutOverload)
    }
}

/// Whoever joined the queue under the limit of 5 is not served by anybody else.
#[test]
fn a_limit_that_ends_where_it_began_is_a_change_all_the_same() {
    let limiter = BESIDE.get_or_init(|| Limiter::new(config(CutsBeside)));
    let slots: Vec<_> = (0..10).map(|_| limiter.admit(at(0)).unwrap()).collect();
    let settle = |slot| limiter.settle(slot, Outcome::Success, at(20 * MS)).change();
    let changes: Vec<_> = slots.into_iter().filter_map(settle).collect();
    let [Change { from, to, reason }] = changes[..] else {
        panic!("{changes:?}");
    };
    assert_eq!((from, to, reason), (5, 20, Reason::SetByHand));
}

/// Panics when it is told of a limit.
#[derive(Clone, Copy)]
struct Deaf;

impl Law for Deaf {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], window: &Window) -> Decision {
        Decision::new(window.limit, Reason::HeldSteady)
    }

    fn on_set(&self, _: &mut [u32; 0], _: u32) {
        resume_unwind(Box::new("a law that panics"));
    }
}

#[test]
fn a_law_that_panics_when_a_limit_is_set_leaves_the_one_before() {
    let limiter = Limiter::new(config(Deaf));
    let set = AssertUnwindSafe(|| limiter.set_limit(10, at(0)));
    assert!(catch_unwind(set).is_err());
    let seen = limiter.snapshot();
    assert_eq!((seen.limit, seen.reason), (20, Reason::Initial));
}

#[test]
fn every_change_is_reported_once_with_its_reason() {
    let limiter = Limiter::new(config(Aimd::new()).max(64));
    let mut reported = 20;
    for round in 0..30u64 {
        let outcome = if round == 20 {
            Outcome::Overload
        } else {
            Outcome::Success
        };
        let (start, end) = (round * 20 * MS, (round + 1) * 20 * MS);
        let limit = limiter.snapshot().limit;
        let slots: Vec<_> = (0..limit)
            .map(|_| limiter.admit(at(start)).unwrap())
            .collect();
        for slot in slots {
            if let Some(change) = limiter.settle(slot, outcome, at(end)).change() {
                assert_eq!(change.from, reported);
                assert_ne!(change.from, change.to);
                let grew = change.to > change.from;
                let fits = match change.reason {
                    Reason::Grew | Reason::PinnedAtMax => grew,
                    Reason::CutOverload => !grew,
                    _ => false,
                };
                assert!(fits, "{change:?}");
                reported = change.to;
            }
        }
        assert_eq!(limiter.snapshot().limit, reported);
    }
    assert_ne!(reported, 20);
}
