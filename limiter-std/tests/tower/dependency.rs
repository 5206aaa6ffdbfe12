//! The layers of callers: readiness, order, what is tried again and what is answered.

use crate::spy::ms;
use limiter_std::law::Fixed;
use limiter_std::tower::{
    BreakerError, BreakerLayer, DependencyError, DependencyLayer, Error, LimiterLayer, Once,
};
use limiter_std::{
    Attempt, Breaker, BreakerConfig, BreakerState, Config, Dependency, DependencyConfig, Ending,
    GiveUp, Jitter, Limiter, ManualClock, Outcome, Refusal, Tokens,
};
use std::future::{Ready, ready};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use tower::{Layer, Service, ServiceExt, service_fn};

fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

fn dependency(limit: u32) -> Dependency<Fixed> {
    Dependency::try_new(
        DependencyConfig::new(Config::new(Fixed).initial(limit).without_queue())
            .backoff(Jitter::Full, ms(1), ms(1))
            .throttle(None),
    )
    .unwrap()
}

fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.unwrap().block_on(future)
}

/// Fails until the attempt of this number.
fn succeeds_at(
    number: usize,
) -> (
    impl Fn(()) -> Ready<io::Result<usize>> + Clone,
    Arc<AtomicUsize>,
) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let service = move |()| {
        let now = counted.fetch_add(1, Ordering::Relaxed) + 1;
        ready(if now < number {
            Err(io::Error::other("not yet"))
        } else {
            Ok(now)
        })
    };
    (service, count)
}

#[test]
fn a_failure_is_tried_again_and_the_answer_is_that_of_the_attempt_which_succeeds() {
    let store = dependency(4);
    let (service, calls) = succeeds_at(3);
    let layer = DependencyLayer::new(store.clone(), tokio::time::sleep);
    assert_eq!(
        block_on(layer.layer(service_fn(service)).oneshot(())).unwrap(),
        3
    );
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    let counts = store.counts();
    assert_eq!(
        (counts.attempts, counts.retries, counts.succeeded),
        (3, 2, 1)
    );
    assert_eq!(store.snapshot().limiter.inflight, 0);
}

#[test]
fn one_layer_is_one_dependency_however_often_it_is_applied_and_cloned() {
    let store = dependency(4);
    let layer = DependencyLayer::new(store.clone(), tokio::time::sleep).clone();
    let (one, other) = (succeeds_at(9).0, succeeds_at(9).0);
    for service in [
        layer.layer(service_fn(one)),
        layer.clone().layer(service_fn(other)).clone(),
    ] {
        let error = block_on(service.clone().oneshot(())).unwrap_err();
        assert_eq!(error.why, GiveUp::Attempts);
        assert_eq!(error.last.unwrap().to_string(), "not yet");
    }
    assert_eq!(store.counts().retries, 4);
    assert_eq!(store.counts().calls, 2);
}

#[test]
fn a_request_that_cannot_be_repeated_is_sent_once() {
    struct NotClone;
    let store = dependency(4);
    let layer = DependencyLayer::new(store.clone(), tokio::time::sleep).prepare(Once);
    let service = layer.layer(service_fn(|_: NotClone| {
        ready(Err::<(), _>(io::Error::other("down")))
    }));
    let error = block_on(service.oneshot(NotClone)).unwrap_err();
    assert_eq!(error.why, GiveUp::Attempts);
    assert_eq!(store.counts().attempts, 1);
}

#[test]
fn a_bad_response_is_the_answer_when_nothing_better_comes() {
    let layer = DependencyLayer::new(dependency(4), tokio::time::sleep).judge(
        |result: Result<&u16, &io::Error>| match result {
            Ok(503) => Ending::overload(),
            Ok(_) => Ending::success(),
            Err(_) => Ending::failure(),
        },
    );
    let service = layer.layer(service_fn(|()| ready(io::Result::Ok(503_u16))));
    assert_eq!(block_on(service.oneshot(())).unwrap(), 503);
    assert_eq!(layer.dependency().counts().attempts, 3);
}

#[test]
fn f20_and_f21_readiness_reserves_nothing_and_a_service_that_is_ready_and_idle_keeps_nobody_out() {
    let store = dependency(1);
    let layer = DependencyLayer::new(store.clone(), tokio::time::sleep);
    let polled = Arc::new(AtomicUsize::new(0));
    let (one, all) = (Arc::clone(&polled), &polled);
    let inner = Strict {
        asked: one,
        ready: false,
    };
    let mut idle = layer.layer(inner);
    let mut busy = idle.clone();
    assert!(idle.poll_ready(&mut context()).is_ready());
    assert_eq!(
        all.load(Ordering::Relaxed),
        0,
        "the inner service is asked by attempts alone"
    );
    assert_eq!(store.snapshot().limiter.inflight, 0);
    assert!(busy.poll_ready(&mut context()).is_ready());
    block_on(busy.call(())).expect("the only slot is free");
}

/// Panics when it is called without having been ready itself; clones are not ready.
#[derive(Debug)]
struct Strict {
    asked: Arc<AtomicUsize>,
    ready: bool,
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        Self {
            asked: Arc::clone(&self.asked),
            ready: false,
        }
    }
}

impl Service<()> for Strict {
    type Response = ();
    type Error = io::Error;
    type Future = Ready<io::Result<()>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Every other time it is asked.
        self.ready = self.asked.fetch_add(1, Ordering::Relaxed) % 2 == 1;
        if self.ready {
            return Poll::Ready(Ok(()));
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn call(&mut self, (): ()) -> Self::Future {
        assert!(std::mem::take(&mut self.ready), "called without readiness");
        ready(Ok(()))
    }
}

#[test]
fn f22_every_attempt_calls_a_clone_that_was_ready_itself() {
    let layer = DependencyLayer::new(dependency(4), tokio::time::sleep);
    let service = layer.layer(Strict {
        asked: Arc::default(),
        ready: false,
    });
    for _ in 0..1_000 {
        block_on(service.clone().oneshot(())).expect("answers");
    }
    assert_eq!(layer.dependency().counts().succeeded, 1_000);
}

#[test]
fn f24_a_closed_dependency_answers_every_call_with_its_refusal() {
    let store = dependency(4);
    store.close();
    let layer = DependencyLayer::new(store.clone(), tokio::time::sleep);
    let service = layer.layer(service_fn(succeeds_at(1).0));
    let error: DependencyError<io::Error> = block_on(service.oneshot(())).unwrap_err();
    assert!(matches!(error.why, GiveUp::Refused(Refusal::Limiter(_))));
    assert!(error.last.is_none());
    assert_eq!(store.counts().attempts, 0);
}

#[test]
fn a_dropped_response_frees_the_slot_and_its_attempt() {
    let store = dependency(1);
    let layer = DependencyLayer::new(store.clone(), tokio::time::sleep);
    let mut service = layer.layer(service_fn(|()| std::future::pending::<io::Result<()>>()));
    block_on(async {
        let mut response = Box::pin(service.call(()));
        assert!(response.as_mut().poll(&mut context()).is_pending());
        assert_eq!(store.snapshot().limiter.inflight, 1);
        drop(response);
        assert_eq!(store.snapshot().limiter.inflight, 0);
    });
}

#[test]
fn attempts_are_marked_by_their_number() {
    #[derive(Clone)]
    struct Number;
    impl limiter_std::tower::Prepare<u32> for Number {
        fn copy(&self, request: &u32) -> Option<u32> {
            Some(*request)
        }
        fn mark(&self, request: &mut u32, attempt: &Attempt) {
            *request = attempt.number;
        }
    }
    let layer = DependencyLayer::new(dependency(4), tokio::time::sleep).prepare(Number);
    let service = layer.layer(service_fn(|number: u32| {
        ready(if number == 3 {
            Ok(number)
        } else {
            Err(io::Error::other("earlier"))
        })
    }));
    assert_eq!(block_on(service.oneshot(0)).unwrap(), 3);
}

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

#[cfg(feature = "retry")]
mod retries {
    use super::*;
    use limiter_std::tower::RetryPolicy;
    use limiter_std::{Budget, BudgetConfig};
    use tower::retry::RetryLayer;

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
}
