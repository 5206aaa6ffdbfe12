//! Policy and budget for tower's own retries.

use crate::callers::{block_on, dependency, succeeds_at};
use crate::spy::ms;
use limiter_std::law::Fixed;
use limiter_std::tower::{BreakerLayer, DependencyLayer, LimiterLayer, RetryPolicy};
use limiter_std::{
    Breaker, BreakerConfig, Budget, BudgetConfig, Config, Jitter, Limiter, ManualClock, Outcome,
    Tokens,
};
use std::sync::atomic::Ordering;
use tower::retry::RetryLayer;
use tower::{Layer, ServiceExt, service_fn};

fn budget(capacity: u32) -> Budget {
    let config = BudgetConfig::new()
        .capacity(Tokens::whole(capacity))
        .without_floor();
    Budget::with_clock(config, ManualClock::new()).unwrap()
}

fn policy(budget: &Budget) -> RetryPolicy<fn(std::time::Duration) -> tokio::time::Sleep> {
    let sleep: fn(_) -> _ = tokio::time::sleep;
    let policy = RetryPolicy::new(budget.clone(), sleep).seed(1);
    policy.backoff(Jitter::Full, ms(1), ms(1)).unwrap()
}

#[test]
fn a_policy_retries_while_attempts_and_budget_last() {
    let budget = budget(3);
    let (service, calls) = succeeds_at(3);
    let layer = RetryLayer::new(policy(&budget).attempts(4));
    assert_eq!(
        block_on(layer.layer(service_fn(service)).oneshot(())).unwrap(),
        3
    );
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    assert_eq!(budget.balance(), Tokens::milli(1_000));
    let (service, calls) = succeeds_at(100);
    assert!(block_on(layer.layer(service_fn(service)).oneshot(())).is_err());
    assert_eq!(calls.load(Ordering::Relaxed), 2, "one token was left");
}

#[test]
fn f88_a_policy_around_our_layers_retries_no_refusal_and_spends_nothing() {
    let budget = budget(10);
    let store = dependency(4);
    store.close();
    let inner = DependencyLayer::new(store.clone(), tokio::time::sleep);
    let inner = inner.layer(service_fn(succeeds_at(1).0));
    let service = RetryLayer::new(policy(&budget)).layer(inner);
    assert!(block_on(service.oneshot(())).is_err());
    assert_eq!(store.counts().calls, 1);

    let limiter = Limiter::try_new(Config::new(Fixed).initial(1)).unwrap();
    let held = limiter.try_acquire().unwrap();
    let (service, calls) = succeeds_at(1);
    let inner = LimiterLayer::new(limiter).layer(service_fn(service));
    assert!(block_on(RetryLayer::new(policy(&budget)).layer(inner).oneshot(())).is_err());
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    drop(held);

    let breaker = Breaker::try_new(BreakerConfig::new().consecutive(Some(1))).unwrap();
    breaker.try_pass().unwrap().finish(Outcome::Failure);
    let (service, calls) = succeeds_at(1);
    let inner = BreakerLayer::new(breaker).layer(service_fn(service));
    assert!(block_on(RetryLayer::new(policy(&budget)).layer(inner).oneshot(())).is_err());
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    assert_eq!(budget.balance(), budget.capacity(), "nothing was spent");
}

#[test]
fn f79_a_success_through_a_policy_around_a_dependency_pays_in_once() {
    let store = dependency(4);
    store
        .budget()
        .reconfigure(BudgetConfig::new().without_floor())
        .unwrap();
    store.budget().withdraw(Tokens::whole(5)).unwrap();
    let inner = DependencyLayer::new(store.clone(), tokio::time::sleep);
    let inner = inner.layer(service_fn(succeeds_at(1).0));
    let service = RetryLayer::new(policy(&store.budget())).layer(inner);
    for _ in 0..10 {
        block_on(service.clone().oneshot(())).unwrap();
    }
    assert_eq!(store.budget().balance(), Tokens::whole(6), "6, not 7");
}

#[test]
fn f78_and_f80_as_a_budget_of_tower_it_pays_out_exactly_its_ratio() {
    let budget = budget(10);
    assert_eq!(
        (0..100)
            .filter(|_| tower::retry::budget::Budget::withdraw(&budget))
            .count(),
        10
    );
    for first in [25, 250, 3] {
        (0..first).for_each(|_| tower::retry::budget::Budget::deposit(&budget));
        let retries = (0..100).filter(|_| tower::retry::budget::Budget::withdraw(&budget));
        // What is left over from the rounds before adds up to whole tokens.
        let expected = match first {
            25 => 2,
            250 => 10,
            _ => 0,
        };
        assert_eq!(retries.count(), expected, "after {first} first attempts");
    }
}

#[test]
fn f84_a_policy_begins_nothing_after_its_total_time() {
    block_on(async {
        tokio::time::pause();
        let budget = Budget::try_new(BudgetConfig::new()).unwrap();
        let (service, calls) = succeeds_at(100);
        let policy = RetryPolicy::new(budget, tokio::time::sleep)
            .attempts(100)
            .total(ms(500));
        let service = RetryLayer::new(policy).layer(service_fn(service));
        assert!(service.oneshot(()).await.is_err());
        // The default back-off is a second or more.
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    });
}
