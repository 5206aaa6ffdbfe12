//! A law of the user's that panics takes no slot with it and strands nobody.

mod common;

use common::Count;
use limiter_std::law::{Decision, Law, Window};
use limiter_std::{Config, Limiter, ManualClock, Outcome};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::Poll;
use std::time::Duration;

#[derive(Clone, Copy)]
struct Panics;

impl Law for Panics {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], _: &Window) -> Decision {
        resume_unwind(Box::new("a law that panics"))
    }
}

type Taken = limiter_std::Permit<Panics, ManualClock>;

#[test]
fn a_law_that_panics_frees_the_slot_that_woke_it_and_serves_the_next() {
    let ways_out: [fn(Taken); 4] = [
        |permit| permit.finish(Outcome::Success),
        drop,
        |permit| drop(permit.into_hold()),
        |permit| {
            let hold = permit.into_hold();
            hold.record(Outcome::Failure, hold.now());
        },
    ];
    for way_out in ways_out {
        let clock = ManualClock::new();
        let config = Config::new(Panics).initial(1).min_samples(1);
        let limiter = Limiter::with_clock(config, clock.clone()).unwrap();
        let permit = limiter.try_acquire().unwrap();
        let (woken, waker) = Count::new();
        let mut next = limiter.acquire_async();
        assert!(common::poll(&mut next, &waker).is_pending());

        // Longer than the longest window, so that any outcome closes it.
        clock.advance(Duration::from_secs(10));
        assert!(catch_unwind(AssertUnwindSafe(|| way_out(permit))).is_err());
        assert_eq!(woken.get(), 1);
        match common::poll(&mut next, &waker) {
            Poll::Ready(Ok(permit)) => permit.forget(),
            other => panic!("{other:?}"),
        }
        let seen = limiter.snapshot();
        assert_eq!((seen.inflight, seen.waiting), (0, false));
    }
}
