//! The contract of `poll_ready` and `call`.

use crate::spy::{Lab, Taught};
use limiter_std::RejectReason;
use limiter_std::tower::{Error, LimiterLayer};
use std::future::{Ready, pending, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use tower::{Layer, Service, ServiceExt, service_fn};

fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Panics when it is called without having been ready itself, and is ready only every third time it is
/// asked. Clones are not ready.
#[derive(Debug, Default)]
struct Strict {
    ready: bool,
    asked: u32,
    calls: Arc<AtomicUsize>,
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        Self {
            calls: Arc::clone(&self.calls),
            ..Self::default()
        }
    }
}

impl Service<()> for Strict {
    type Response = ();
    type Error = ();
    type Future = Ready<Result<(), ()>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ()>> {
        self.asked += 1;
        if self.ready || self.asked % 3 == 0 {
            self.ready = true;
            return Poll::Ready(Ok(()));
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn call(&mut self, (): ()) -> Self::Future {
        assert!(std::mem::take(&mut self.ready), "called without readiness");
        self.calls.fetch_add(1, Ordering::Relaxed);
        ready(Ok(()))
    }
}

#[test]
fn the_inner_service_is_called_only_where_it_was_ready() {
    let lab = Lab::new(2);
    let strict = Strict::default();
    let calls = Arc::clone(&strict.calls);
    let layer = LimiterLayer::new(lab.limiter.clone());
    let mut refusing = layer.clone().layer(strict.clone());
    let mut waiting = layer.wait().layer(strict);
    pollster::block_on(async {
        for round in 0..1_000_usize {
            // Beside one that is ready and idle, and by a clone now and then.
            let mut idle = refusing.clone();
            idle.ready().await.unwrap();
            refusing.ready().await.unwrap().call(()).await.unwrap();
            waiting.ready().await.unwrap().call(()).await.unwrap();
            if round % 7 == 0 {
                refusing.clone().oneshot(()).await.unwrap();
                waiting.clone().oneshot(()).await.unwrap();
            }
        }
    });
    assert_eq!(calls.load(Ordering::Relaxed), 2 * (1_000 + 143));
    assert_eq!(lab.inflight(), 0);
}

#[test]
fn a_call_that_waited_goes_to_the_service_that_was_ready_for_it() {
    let lab = Lab::new(1);
    let strict = Strict::default();
    let calls = Arc::clone(&strict.calls);
    let mut service = LimiterLayer::new(lab.limiter.clone()).wait().layer(strict);
    pollster::block_on(async {
        for round in 1..=1_000 {
            let taken = lab.limiter.try_acquire().unwrap();
            let mut response = pin!(service.ready().await.unwrap().call(()));
            assert!(response.as_mut().poll(&mut context()).is_pending());
            assert_eq!(calls.load(Ordering::Relaxed), round - 1, "not called yet");
            taken.forget();
            response.await.unwrap();
            assert_eq!(calls.load(Ordering::Relaxed), round);
        }
    });
    assert_eq!(lab.inflight(), 0);
}

#[test]
fn readiness_takes_no_slot() {
    let lab = Lab::new(1);
    let layer = LimiterLayer::new(lab.limiter.clone());
    let mut idle = layer.layer(service_fn(|()| ready(Ok::<_, ()>(()))));
    assert!(idle.poll_ready(&mut context()).is_ready());
    assert_eq!(lab.inflight(), 0);

    let mut busy = idle.clone();
    assert!(busy.poll_ready(&mut context()).is_ready());
    let answer = pin!(busy.call(())).poll(&mut context());
    assert_eq!(answer, Poll::Ready(Ok(())));
}

#[test]
fn readiness_is_that_of_the_inner_service() {
    struct Broken;

    impl Service<()> for Broken {
        type Response = ();
        type Error = &'static str;
        type Future = Ready<Result<(), &'static str>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
            Poll::Ready(Err("broken"))
        }

        fn call(&mut self, (): ()) -> Self::Future {
            ready(Ok(()))
        }
    }

    let lab = Lab::new(1);
    // At the limit it is ready all the same: it is `call` that refuses.
    let _taken = lab.limiter.try_acquire().unwrap();
    let layer = LimiterLayer::new(lab.limiter.clone());
    let ready_of = |answer: Poll<Result<(), Error<&'static str>>>| answer;
    let mut broken = layer.layer(Broken);
    let answer = ready_of(broken.poll_ready(&mut context()));
    assert_eq!(answer, Poll::Ready(Err(Error::Inner("broken"))));

    let mut never = layer.layer(tower::util::MapErr::new(Strict::default(), |()| "strict"));
    assert_eq!(ready_of(never.poll_ready(&mut context())), Poll::Pending);
}

#[test]
fn a_call_without_readiness_takes_no_slot_with_it() {
    let lab = Lab::new(1);
    let mut service = LimiterLayer::new(lab.limiter.clone()).layer(Strict::default());
    for _ in 0..3 {
        let call = std::panic::AssertUnwindSafe(|| drop(service.call(())));
        assert!(
            std::panic::catch_unwind(call).is_err(),
            "the inner service panics"
        );
        assert_eq!(lab.inflight(), 0);
    }
}

#[test]
fn a_closed_limiter_fails_readiness_and_calls_and_takes_no_slot() {
    let lab = Lab::new(1);
    let layer = LimiterLayer::new(lab.limiter.clone());
    let mut refusing = layer.clone().layer(Strict::default());
    let mut waiting = layer.wait().layer(Strict::default());
    lab.limiter.close();

    let closed = |error: Option<Error<()>>| {
        let reason = error
            .as_ref()
            .and_then(Error::rejected)
            .map(|rejected| rejected.reason);
        assert_eq!(reason, Some(RejectReason::Closed), "{error:?}");
    };
    pollster::block_on(async {
        closed(refusing.ready().await.err());
        closed(waiting.ready().await.err());
        closed(refusing.call(()).await.err());
        closed(waiting.call(()).await.err());
    });
    assert_eq!(lab.inflight(), 0);
}

#[test]
fn a_limiter_that_is_applied_twice_takes_two_slots_and_refuses_at_the_first_poll() {
    let lab = Lab::new(1);
    let layer = LimiterLayer::new(lab.limiter.clone());
    let inner = layer.layer(service_fn(|()| ready(Ok::<_, ()>(()))));
    let mut twice = layer.layer(inner);
    let answer = pin!(twice.call(())).poll(&mut context());
    let Poll::Ready(Err(Error::Inner(Error::Rejected(rejected)))) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!((rejected.limit, rejected.inflight), (1, 1));
    assert_eq!(lab.inflight(), 0);

    lab.limiter.set_limit(2).unwrap();
    let answer = pin!(twice.call(())).poll(&mut context());
    assert_eq!(answer, Poll::Ready(Ok(())));
}

#[test]
fn layers_made_twice_and_services_cloned_share_one_limit() {
    let lab = Lab::new(2);
    let layer = LimiterLayer::new(lab.limiter.clone());
    let hang = || service_fn(|()| pending::<Result<(), ()>>());
    let (mut one, mut two) = (layer.layer(hang()), layer.clone().layer(hang()));
    let mut clone = one.clone();
    let held = (one.call(()), two.call(()));
    let answer = pin!(clone.call(())).poll(&mut context());
    assert!(
        matches!(answer, Poll::Ready(Err(Error::Rejected(_)))),
        "{answer:?}"
    );
    drop(held);
}

#[test]
fn a_refused_call_leaves_the_inner_service_alone_and_teaches_nothing() {
    let lab = Lab::usual(1);
    let taken = lab.limiter.try_acquire().unwrap();
    let strict = Strict::default();
    let calls = Arc::clone(&strict.calls);
    let mut service = LimiterLayer::new(lab.limiter.clone()).layer(strict);
    let taught = lab.teaches(|_| {
        for _ in 0..100 {
            let answer = pin!(service.call(())).poll(&mut context());
            assert!(matches!(answer, Poll::Ready(Err(Error::Rejected(_)))));
        }
    });
    assert_eq!(taught, Taught::default());
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    drop(taken);
}
