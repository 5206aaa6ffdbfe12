//! Dependencies: a save beside an update, and what the throttle notes beside what else is in its word.

use super::{explore, explore_bounded};
use core::time::Duration;
use limiter_core::law::Fixed;
use limiter_core::{
    BreakerConfig, BreakerState, BudgetConfig, CallOptions, Config, Dependency, DependencyConfig,
    Ending, GiveUp, Refusal, Step, ThrottleConfig, TickRate, Timestamp, Tokens,
};
use loom::thread;

const RATE: TickRate = TickRate::MILLIS;
const START: Timestamp = Timestamp::from_ticks(4_096);
const WORD: u32 = u32::MAX;

/// One failure opens the breaker; no floor, no throttle.
fn leaked() -> &'static Dependency<Fixed> {
    let config = DependencyConfig::new(RATE)
        .throttle(None)
        .budget(BudgetConfig::new().without_floor())
        .breaker(BreakerConfig::new().consecutive(Some(1)));
    Box::leak(Box::new(Dependency::new(Config::new(Fixed, RATE), config)))
}

/// What a new life makes of a record.
fn revived(bytes: &[u8]) -> &'static Dependency<Fixed> {
    let dependency = leaked();
    assert!(dependency.restore(bytes, Duration::ZERO, START).is_ok());
    dependency
}

#[test]
fn a_save_beside_an_opening_saves_an_open_breaker_with_its_time_or_a_closed_one() {
    explore_bounded("dependency-save-breaker", 2, || {
        let dependency = leaked();
        let mut call = dependency.call(START, CallOptions::new().attempts(1));
        let Step::Attempt(first) = call.step(START, WORD) else {
            panic!("nothing is in flight");
        };
        // The reader is spawned: loom shows a load the stores that came before it, in every order.
        let thread = thread::spawn(move || dependency.save(START).to_bytes());
        call.finish(first.number, Ending::failure(), START, WORD);
        let bytes = thread.join().unwrap();
        assert_ne!(revived(&bytes).breaker(START), BreakerState::HalfOpen);
    });
}

#[test]
fn a_save_beside_a_withdrawal_saves_the_balance_before_or_after() {
    explore("dependency-save-budget", || {
        let dependency = leaked();
        let thread = thread::spawn(move || dependency.save(START).to_bytes());
        assert!(dependency.budget().withdraw(Tokens::ONE, START).is_ok());
        let bytes = thread.join().unwrap();
        let saved = revived(&bytes).budget().balance(START).get();
        assert!(saved == 10_000 || saved == 9_000, "{saved}");
    });
}

/// Whose throttle refuses once two requests were not accepted; no breaker that could do it first.
fn strained() -> &'static Dependency<Fixed> {
    let config = DependencyConfig::new(RATE)
        .throttle(Some(ThrottleConfig::new().protect(2)))
        .budget(BudgetConfig::new().without_floor());
    Box::leak(Box::new(Dependency::new(Config::new(Fixed, RATE), config)))
}

/// Whether a new call sends its first attempt, by the random word that any share refuses. It stays in flight.
fn sends(dependency: &'static Dependency<Fixed>) -> bool {
    let mut call = dependency.call(START, CallOptions::new());
    let sent = match call.step(START, 0) {
        Step::Attempt(_) => true,
        Step::GiveUp(GiveUp::Refused(Refusal::Throttled)) => false,
        step => panic!("{step:?}"),
    };
    core::mem::forget(call);
    sent
}

#[test]
fn what_the_throttle_notes_keeps_the_calls_that_wait_beside_it() {
    explore("dependency-stressed", || {
        let dependency = strained();
        let mut call = dependency.call(START, CallOptions::new());
        let Step::Attempt(first) = call.step(START, 0) else {
            panic!("nothing is in flight");
        };
        let thread = thread::spawn(move || {
            call.finish(first.number, Ending::overload(), START, WORD);
            assert!(matches!(call.step(START, WORD), Step::Wait(_)));
            call
        });
        assert!(sends(dependency));
        let call = thread.join().unwrap();
        assert_eq!(dependency.snapshot(START).backing_off, 1);
        assert!(!sends(dependency), "two were not accepted");
        drop(call);
        assert_eq!(dependency.snapshot(START).backing_off, 0);
    });
}

#[test]
fn of_two_that_note_at_once_what_the_earlier_one_saw_the_next_one_is_the_last_that_is_sent() {
    // Two whole steps: without a bound it does not end in minutes.
    explore_bounded("dependency-noted", 3, || {
        let dependency = strained();
        let thread = thread::spawn(move || assert!(sends(dependency)));
        assert!(sends(dependency));
        thread.join().unwrap();
        sends(dependency);
        assert!(!sends(dependency), "whoever is counted notes it again");
    });
}
