//! The layers of callers: readiness, order, what is tried again and what is answered.

use crate::callers::{block_on, dependency, succeeds_at};
use limiter_std::tower::{DependencyError, DependencyLayer, Once};
use limiter_std::{Attempt, Ending, GiveUp, Refusal};
use std::future::{Ready, ready};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use tower::{Layer, Service, ServiceExt, service_fn};

fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
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
