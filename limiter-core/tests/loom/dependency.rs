//! Dependencies: a save beside an update.

use super::{explore, explore_bounded};
use core::time::Duration;
use limiter_core::law::Fixed;
use limiter_core::{
    BreakerConfig, BreakerState, BudgetConfig, CallOptions, Config, Dependency, DependencyConfig,
    Ending, Step, TickRate, Timestamp, Tokens,
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
