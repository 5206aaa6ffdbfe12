//! Circuit breakers, closed, with calls that succeed. (The one of `throttle-net` always has a rate limiter in
//! it, so there is nothing to compare it with.)

use crate::cost::case::{Subject, each, subject};
use crate::cost::service::{Ready, serve};
use core::convert::Infallible;
use core::ops::Range;
use core::time::Duration;
use failsafe::failure_policy::{ConsecutiveFailures, SuccessRateOverTimeWindow};
use failsafe::{CircuitBreaker, Config, FailurePolicy, StateMachine};
use recloser::Recloser;
use tower::Layer;
use tower_resilience::circuitbreaker::CircuitBreakerLayer;

fn failsafe<P>(policy: P) -> Box<dyn Subject>
where
    P: FailurePolicy + Send + Sync + 'static,
{
    let breaker: StateMachine<P, ()> = Config::new().failure_policy(policy).build();
    subject(breaker, |breaker, operations: Range<u64>| {
        each(operations, |_| {
            breaker.call(|| Ok::<(), Infallible>(())).is_ok()
        })
    })
}

pub(crate) fn failsafe_consecutive() -> Box<dyn Subject> {
    failsafe(ConsecutiveFailures::default())
}

pub(crate) fn failsafe_ratio() -> Box<dyn Subject> {
    failsafe(SuccessRateOverTimeWindow::default())
}

/// The share of failures among the last hundred.
pub(crate) fn recloser() -> Box<dyn Subject> {
    let breaker = Recloser::custom().build();
    subject(breaker, |breaker, operations: Range<u64>| {
        each(operations, |_| {
            breaker.call(|| Ok::<(), Infallible>(())).is_ok()
        })
    })
}

/// The share of failures among the last hundred; only to be had as a layer.
pub(crate) fn tower_resilience_ratio() -> Box<dyn Subject> {
    let layer = CircuitBreakerLayer::builder()
        .wait_duration_in_open(Duration::from_secs(5))
        .build()
        .expect("defaults");
    subject(layer.layer(Ready), serve)
}

/// Failures in a row; only to be had as a layer.
pub(crate) fn tower_resilience_consecutive() -> Box<dyn Subject> {
    let layer = CircuitBreakerLayer::builder()
        .consecutive_failures(10)
        .build()
        .expect("defaults");
    subject(layer.layer(Ready), serve)
}
