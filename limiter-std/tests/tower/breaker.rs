//! The breaker's layer.

use crate::callers::{block_on, succeeds_at};
use limiter_std::law::Fixed;
use limiter_std::tower::{BreakerError, BreakerLayer, Error, LimiterLayer};
use limiter_std::{Breaker, BreakerConfig, BreakerState, Config, Limiter, ManualClock, Outcome};
use std::io;
use tower::{Layer, Service, ServiceExt, service_fn};

#[test]
fn a_breaker_layer_opens_refuses_and_closes_by_its_probe() {
    let clock = ManualClock::new();
    let config = BreakerConfig::new().consecutive(Some(2)).probes(1);
    let breaker = Breaker::with_clock(config, clock.clone(), 1).unwrap();
    let layer = BreakerLayer::new(breaker.clone());
    let service = layer.layer(service_fn(succeeds_at(3).0));
    for _ in 0..2 {
        let failed = block_on(service.clone().oneshot(())).unwrap_err();
        assert!(matches!(failed, BreakerError::Inner(_)));
    }
    let refused = block_on(service.clone().oneshot(())).unwrap_err();
    assert!(matches!(refused, BreakerError::Open(_)));
    clock.advance(std::time::Duration::from_secs(5));
    assert_eq!(breaker.state(), BreakerState::HalfOpen);
    assert_eq!(block_on(service.oneshot(())).unwrap(), 3);
    assert_eq!(breaker.state(), BreakerState::Closed);
}

#[test]
fn f91_a_probe_that_a_limiter_behind_the_breaker_refuses_is_given_back() {
    let clock = ManualClock::new();
    let config = BreakerConfig::new().consecutive(Some(1)).probes(1);
    let breaker = Breaker::with_clock(config, clock.clone(), 1).unwrap();
    breaker.try_pass().unwrap().finish(Outcome::Failure);
    clock.advance(std::time::Duration::from_secs(5));
    let limiter = Limiter::try_new(Config::new(Fixed).initial(1)).unwrap();
    let held = limiter.try_acquire().unwrap();
    let inner = LimiterLayer::new(limiter).layer(service_fn(succeeds_at(1).0));
    let service = BreakerLayer::new(breaker.clone()).layer(inner);
    for _ in 0..3 {
        let refused = block_on(service.clone().oneshot(())).unwrap_err();
        assert!(matches!(refused, BreakerError::Inner(Error::Rejected(_))));
        assert_eq!(breaker.state(), BreakerState::HalfOpen);
    }
    drop(held);
    block_on(service.oneshot(())).expect("the probe is there");
    assert_eq!(breaker.state(), BreakerState::Closed);
}

#[test]
fn f90_a_probe_whose_response_is_dropped_is_given_back() {
    let clock = ManualClock::new();
    let config = BreakerConfig::new().consecutive(Some(1)).probes(1);
    let breaker = Breaker::with_clock(config, clock.clone(), 1).unwrap();
    breaker.try_pass().unwrap().finish(Outcome::Failure);
    clock.advance(std::time::Duration::from_secs(5));
    let mut service = BreakerLayer::new(breaker.clone())
        .layer(service_fn(|()| std::future::pending::<io::Result<()>>()));
    for _ in 0..10 {
        drop(service.call(()));
    }
    assert!(breaker.try_pass().unwrap().is_probe());
}
