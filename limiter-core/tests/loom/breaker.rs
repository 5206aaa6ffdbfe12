//! The breaker: leases are neither lost nor multiplied, and only the current generation counts.

use super::explore;
use limiter_core::{
    Breaker, BreakerChange, BreakerConfig, BreakerState, Outcome, TickRate, Timestamp,
};
use loom::sync::Arc;
use loom::thread;

const START: Timestamp = Timestamp::from_ticks(1_000);
/// After the open time.
const LATER: Timestamp = Timestamp::from_ticks(7_000);
const WORD: u32 = u32::MAX;

/// One failure opens it.
fn breaker(probes: u32) -> Breaker {
    let config = BreakerConfig::new().consecutive(Some(1)).probes(probes);
    Breaker::new(config, TickRate::MILLIS)
}

fn open(breaker: &Breaker) {
    let pass = breaker.try_pass(START).expect("closed");
    assert_eq!(
        pass.finish(Outcome::Failure, START, WORD),
        Some(BreakerChange::Opened)
    );
}

/// Loom has no statics, and a pass borrows its breaker.
fn leaked(probes: u32) -> &'static Breaker {
    Box::leak(Box::new(breaker(probes)))
}

#[test]
fn a_lease_that_is_lost_while_another_settles_comes_back() {
    explore("breaker-lost", || {
        let breaker = leaked(2);
        open(breaker);
        let lost = breaker.try_pass(LATER).expect("the first lease");
        let good = breaker.try_pass(LATER).expect("the second lease");
        let thread = thread::spawn(move || drop(lost));
        assert_eq!(good.finish(Outcome::Success, LATER, WORD), None);
        thread.join().unwrap();
        // One success, no lease out: one more is to be had, and closes it.
        let last = breaker.try_pass(LATER).expect("the lost lease");
        assert!(breaker.try_pass(LATER).is_err());
        assert_eq!(
            last.finish(Outcome::Success, LATER, WORD),
            Some(BreakerChange::Closed)
        );
    });
}

#[test]
fn a_late_result_of_an_older_generation_changes_nothing() {
    explore("breaker-late", || {
        let breaker = leaked(1);
        let late = breaker.try_pass(START).expect("closed");
        open(breaker);
        let thread = thread::spawn(move || late.finish(Outcome::Failure, LATER, WORD));
        let probe = breaker.try_pass(LATER).expect("the open time is over");
        assert_eq!(
            probe.finish(Outcome::Success, LATER, WORD),
            Some(BreakerChange::Closed)
        );
        assert_eq!(thread.join().unwrap(), None);
        assert_eq!(breaker.state(LATER), BreakerState::Closed);
    });
}

#[test]
fn of_two_at_the_half_open_moment_one_passes() {
    explore("breaker-half-open", || {
        let breaker = Arc::new(breaker(1));
        open(&breaker);
        let thread = {
            let breaker = Arc::clone(&breaker);
            thread::spawn(move || breaker.try_pass(LATER).map(core::mem::forget).is_ok())
        };
        let here = breaker.try_pass(LATER).map(core::mem::forget).is_ok();
        let there = thread.join().unwrap();
        assert!(here != there, "{here} and {there} passed");
    });
}

#[test]
fn one_who_sees_it_open_sees_for_how_long() {
    explore("breaker-open", || {
        let breaker = leaked(1);
        // The reader is spawned: loom shows a load the stores that came before it, in every order.
        let thread = thread::spawn(move || {
            match breaker.try_pass(START) {
                Ok(pass) => assert!(!pass.is_probe(), "half open before its time"),
                Err(open) => assert!(open.left.get() > 0),
            }
            assert_ne!(breaker.state(START), BreakerState::HalfOpen);
        });
        open(breaker);
        thread.join().unwrap();
    });
}

#[test]
fn of_two_failures_of_one_generation_one_opens_it() {
    explore("breaker-twice", || {
        let breaker = leaked(1);
        let passes = [(); 2].map(|()| breaker.try_pass(START).expect("closed"));
        let [first, second] = passes;
        let thread = thread::spawn(move || first.finish(Outcome::Failure, START, WORD));
        let here = second.finish(Outcome::Overload, START, WORD);
        let there = thread.join().unwrap();
        assert!(here.is_some() != there.is_some());
        assert!(matches!(breaker.state(START), BreakerState::Open { .. }));
    });
}
