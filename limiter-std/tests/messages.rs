//! What a reader of a log is told.

mod common;

use common::fixed;
use limiter_std::law::{Fixed, Vegas};
use limiter_std::{
    BreakerConfig, BudgetConfig, CallOptions, Config, ConfigError, Dependency, DependencyConfig,
    Ending, Guarantee, Jitter, Limiter, ManualClock, Partitions, Request, Shares, ThrottleConfig,
    Tokens,
};
use std::task::Waker;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn call(store: &Dependency<Fixed, ManualClock>, ending: Ending) -> String {
    let once = CallOptions::new().attempts(1).total(SECOND);
    let gave_up = store.call(once, move |_| ending, |_| Err::<(), _>("failed"));
    gave_up.expect_err("no attempt succeeds").to_string()
}

fn dependency(breaker: BreakerConfig) -> (Dependency<Fixed, ManualClock>, ManualClock) {
    let clock = ManualClock::new();
    let config = DependencyConfig::new(Config::new(Fixed)).breaker(breaker);
    let store = Dependency::with_clock(config, clock.clone(), 7);
    (store.expect("a configuration that works"), clock)
}

#[test]
fn a_weighted_request_is_told_what_it_takes() {
    let (limiter, _) = fixed(10);
    let _held = limiter.try_acquire_for(Request::new().weight(8)).unwrap();
    let refused = limiter
        .try_acquire_for(Request::new().weight(3))
        .unwrap_err();
    let said = "fewer slots are free than it takes; refuse the caller, do not retry here (8 in flight, limit 10, takes 3)";
    assert_eq!(refused.to_string(), said);
    let refused = limiter
        .try_acquire_for(Request::new().weight(2_000))
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .ends_with("(8 in flight, limit 10, takes 2000)"),
        "{refused}"
    );
}

#[test]
fn a_request_of_a_partition_is_told_which_and_its_quota() {
    let partitions = Partitions::new()
        .partition("reads", Guarantee::NONE)
        .partition("writes", Guarantee::of(300));
    let limiter = Limiter::partitioned(Config::new(Fixed), &partitions).unwrap();
    let writes = Request::new().partition(limiter.partition("writes").unwrap());
    let held: Vec<_> = std::iter::from_fn(|| limiter.try_acquire_for(writes).ok()).collect();
    let refused = limiter.try_acquire_for(writes).unwrap_err();
    let said = "(10 in flight, limit 10, partition 1 with a quota of 3)";
    assert!(refused.to_string().ends_with(said), "{refused}");
    drop(held);
}

#[test]
fn slots_that_are_guaranteed_and_idle_are_told_apart_from_those_in_flight() {
    let partitions = Partitions::new()
        .partition("reads", Guarantee::NONE)
        .partition("writes", Guarantee::of(300));
    let config = Config::new(Fixed).queue_length(1);
    let limiter = Limiter::partitioned(config, &partitions).unwrap();
    let read = Request::new().partition(limiter.partition("reads").unwrap());
    let _held: Vec<_> = std::iter::from_fn(|| limiter.try_acquire_for(read).ok()).collect();
    let waited = limiter.acquire_timeout_for(read, Duration::from_millis(1));
    let mut waiting = limiter.acquire_async_for(read);
    assert!(common::poll(&mut waiting, Waker::noop()).is_pending());
    let full = limiter.acquire_timeout_for(read, SECOND);
    for refused in [
        limiter.try_acquire(),
        limiter.try_acquire_for(read),
        waited,
        full,
    ] {
        let refused = refused.unwrap_err();
        assert_eq!((refused.inflight, refused.idle), (7, 3), "{refused}");
        let said = "(7 in flight, 3 idle of what is guaranteed to partitions, limit 10";
        assert!(refused.to_string().contains(said), "{refused}");
    }
}

#[test]
fn a_dependency_that_was_closed_does_not_say_that_it_is_at_its_limit() {
    let (store, _) = dependency(BreakerConfig::new());
    store.close();
    let said = "the limiter is closed; stop sending work (0 in flight, limit 0)";
    assert_eq!(call(&store, Ending::success()), said);
}

#[test]
fn an_open_breaker_says_for_how_long_yet() {
    let open = BreakerConfig::new()
        .consecutive(Some(1))
        .open(4 * SECOND, 4 * SECOND);
    let (store, clock) = dependency(open);
    call(&store, Ending::failure());
    let said = |after: Duration| {
        clock.advance(after);
        let said = call(&store, Ending::success());
        let left = said
            .split("(for another ")
            .nth(1)
            .expect("it is open")
            .to_owned();
        assert!(left.ends_with("s)") && !left.contains("ticks"), "{said}");
        left
    };
    assert_ne!(said(Duration::ZERO), said(SECOND));
}

/// Every field that a builder may refuse, with the error of a value that does not work.
#[test]
fn an_error_names_the_method_that_was_called_and_its_argument() {
    let none = Duration::ZERO;
    let day = Duration::from_secs(2 * 86_400);
    let base = DependencyConfig::default;
    let budget = |budget| base().budget(budget);
    let breaker = |breaker| base().breaker(breaker);
    let throttle = |throttle| base().throttle(Some(throttle));
    let errors = [
        (base().attempts(0), "attempts"),
        (base().total(none), "total in ms"),
        (base().timeout(none), "timeout in ms"),
        (
            base().timeout_bounds(none, SECOND),
            "timeout_bounds.least in ms",
        ),
        (
            base().timeout_bounds(none, none),
            "timeout_bounds.most in ms",
        ),
        (base().timeout_quantile(0, 2_000, 50), "timeout_quantile"),
        (
            base().timeout_quantile(990, 0, 50),
            "timeout_quantile.margin",
        ),
        (
            base().timeout_quantile(990, 2_000, 0),
            "timeout_quantile.samples",
        ),
        (base().hedge(0, SECOND), "hedge"),
        (base().hedge(950, none), "hedge.delay in ms"),
        (
            base().retry_cost(Tokens::milli(0)),
            "retry_cost in thousandths",
        ),
        (
            base().timeout_cost(Tokens::milli(0)),
            "timeout_cost in thousandths",
        ),
        (
            base().pushback_cost(Tokens::milli(0)),
            "pushback_cost in thousandths",
        ),
        (base().waiting(0), "waiting"),
        (
            base().backoff(Jitter::Full, none, SECOND),
            "backoff.base in ns",
        ),
        (
            base().backoff(Jitter::Full, none, none),
            "backoff.cap in ns",
        ),
        (
            budget(BudgetConfig::new().capacity(Tokens::milli(0))),
            "budget.capacity in thousandths",
        ),
        (budget(BudgetConfig::new().ratio(2_000)), "budget.ratio"),
        (
            budget(BudgetConfig::new().floor(Tokens::milli(0), SECOND)),
            "budget.floor in thousandths",
        ),
        (
            budget(BudgetConfig::new().floor(Tokens::milli(1), none)),
            "budget.floor.period in ms",
        ),
        (
            breaker(BreakerConfig::new().consecutive(Some(0))),
            "breaker.consecutive",
        ),
        (
            breaker(BreakerConfig::new().failure_share(Some(0))),
            "breaker.failure_share",
        ),
        (
            breaker(BreakerConfig::new().slow_share(0, SECOND)),
            "breaker.slow_share",
        ),
        (
            breaker(BreakerConfig::new().slow_share(1, day)),
            "breaker.slow_share.longest in ms",
        ),
        (breaker(BreakerConfig::new().volume(0)), "breaker.volume"),
        (
            breaker(BreakerConfig::new().window(none)),
            "breaker.window in ms",
        ),
        (
            breaker(BreakerConfig::new().open(SECOND, none)),
            "breaker.open.most in ms",
        ),
        (
            breaker(BreakerConfig::new().open(none, SECOND)),
            "breaker.open in ms",
        ),
        (breaker(BreakerConfig::new().probes(0)), "breaker.probes"),
        (
            breaker(BreakerConfig::new().probe_time(none)),
            "breaker.probe_time in ms",
        ),
        (
            throttle(ThrottleConfig::new().window(none)),
            "throttle.window in ms",
        ),
        (
            throttle(ThrottleConfig::new().slack_q8(0)),
            "throttle.slack_q8",
        ),
        (
            throttle(ThrottleConfig::new().protect(0)),
            "throttle.protect",
        ),
        (throttle(ThrottleConfig::new().most(0)), "throttle.most"),
    ];
    let said = |config| Dependency::try_new(config).expect_err("a value that does not work");
    for (config, field) in errors {
        assert_eq!(said(config).field(), field);
    }
    let limiter = |config: Config| -> ConfigError { Limiter::try_new(config).unwrap_err() };
    let config = Config::default;
    for (config, field) in [
        (config().min(0), "min"),
        (config().max(0), "max"),
        (config().initial(0), "initial"),
        (config().windows(SECOND, none), "windows.longest in ns"),
        (
            config().windows(2 * SECOND, SECOND),
            "windows.shortest in ns",
        ),
        (config().min_samples(0), "min_samples"),
        (config().overload_tolerance(2_000), "overload_tolerance"),
        (config().urgent_overloads(0), "urgent_overloads"),
        (config().queue_length(0), "queue_length"),
        (config().longest_wait(none), "longest_wait in ns"),
        (
            config().standing_delay(none, SECOND),
            "standing_delay.target in ns",
        ),
        (
            config().standing_delay(SECOND, none),
            "standing_delay.interval in ns",
        ),
        (config().beyond_may_use(0), "beyond_may_use"),
    ] {
        assert_eq!(limiter(config).field(), field);
    }
}

#[test]
fn a_range_that_begins_or_ends_at_another_field_names_it() {
    let limiter = |config: Config<Fixed>| Limiter::try_new(config).unwrap_err().to_string();
    let whole =
        |config: DependencyConfig<Fixed>| Dependency::try_new(config).unwrap_err().to_string();
    let (config, store) = (Config::new(Fixed), DependencyConfig::of(Fixed));
    let breaker = BreakerConfig::new().open(SECOND * 3, SECOND);
    let ends = [
        (
            limiter(config.max(3).min(9)),
            "min = 9: allowed are 1 to 3 (max)",
        ),
        (
            limiter(config.min(20)),
            "initial = 10: allowed are 20 (min) to 1000 (max)",
        ),
        (
            limiter(config.windows(SECOND * 2, SECOND)),
            "windows.shortest in ns = 2000000000: allowed are 0 to 1000000000 (windows.longest)",
        ),
        (
            limiter(config.shares(Shares::new().batch(950))),
            "batch = 950: allowed are 1 to 900 (interactive)",
        ),
        (
            limiter(config.shares(Shares::new().best_effort(800))),
            "best_effort = 800: allowed are 1 to 700 (batch)",
        ),
        (
            Vegas::new().queue(9, 4).unwrap_err().to_string(),
            "vegas.queue.alpha = 9: allowed are 1 to 4 (vegas.queue.beta)",
        ),
        (
            whole(store.timeout_bounds(SECOND * 3, SECOND)),
            "timeout_bounds.least in ms = 3000: allowed are 1 to 1000 (timeout_bounds.most)",
        ),
        (
            whole(store.breaker(breaker)),
            "breaker.open in ms = 3000: allowed are 1 to 1000 (breaker.open.most)",
        ),
        (
            whole(store.backoff(Jitter::Full, SECOND * 3, SECOND)),
            "backoff.base in ns = 3000000000: allowed are 1 to 1000000000 (backoff.cap)",
        ),
        (
            whole(store.retry_cost(Tokens::milli(20_000))),
            "retry_cost in thousandths = 20000: allowed are 1 to 10000 (budget.capacity)",
        ),
        (
            whole(store.timeout_cost(Tokens::milli(20_000))),
            "timeout_cost in thousandths = 20000: allowed are 1 to 10000 (budget.capacity)",
        ),
        (
            whole(store.pushback_cost(Tokens::milli(20_000))),
            "pushback_cost in thousandths = 20000: allowed are 1 to 10000 (budget.capacity)",
        ),
    ];
    for (told, said) in ends {
        assert_eq!(told, said);
    }
    let (limiter, _) = fixed(10);
    limiter.set_bounds(5, 10).unwrap();
    let refused = limiter.set_limit(3).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "limit = 3: allowed are 5 (min) to 10 (max)"
    );
}
