//! The defaults, as the documentation gives them: who changes one changes this test, and tells it in the changelog.

#![cfg(not(limiter_loom))]

use core::time::Duration;
use limiter_core::law::Knee;
use limiter_core::{
    BreakerConfig, BudgetConfig, Config, DependencyConfig, ThrottleConfig, TickRate, Tokens,
};

const RATE: TickRate = TickRate::MILLIS;

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

#[test]
fn defaults_are_what_the_changelog_and_the_documentation_say() {
    let config = Config::new(Knee::new(), RATE);
    let said = config
        .initial(10)
        .min(1)
        .max(1_000)
        .windows(Duration::from_millis(10), secs(1))
        .min_samples(10)
        .overload_tolerance(20)
        .urgent_overloads(5);
    assert_eq!(config, said);

    let budget = BudgetConfig::new();
    let said = budget.capacity(Tokens::whole(10)).ratio(100);
    assert_eq!(budget, said.floor(Tokens::ONE, secs(10)));

    let breaker = BreakerConfig::new();
    let said = breaker
        .consecutive(Some(30))
        .failure_share(Some(667))
        .volume(20)
        .window(secs(10))
        .open(secs(5), secs(20))
        .probes(3)
        .probe_time(secs(10));
    assert_eq!(breaker, said);

    let dependency = DependencyConfig::new(RATE);
    let said = dependency
        .budget(BudgetConfig::new())
        .breaker(BreakerConfig::new())
        .throttle(Some(ThrottleConfig::new().window(secs(10))))
        .timeout(secs(2))
        .timeout_bounds(secs(1), secs(5))
        .attempts(3)
        .total(secs(10))
        .waiting(40);
    assert_eq!(dependency, said);
}
