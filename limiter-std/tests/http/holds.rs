//! Work that outlives its response keeps its slot by a share of the hold.

use crate::spy::{Lab, Spy, Taught, ms};
use crate::support::{Script, poll};
use http::{Request, Response};
use limiter_std::http::{LimiterLayer, ReleaseAt};
use limiter_std::{Hold, ManualClock};
use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;
use tokio::sync::oneshot;
use tower::{Layer, Service, service_fn};

type Share = Hold<Spy, ManualClock>;

fn share<Q>(request: &Request<Q>) -> Share {
    request
        .extensions()
        .get::<Share>()
        .expect("a hold in the extensions")
        .clone()
}

#[test]
fn work_that_outlives_its_dropped_response_keeps_the_slot_and_counts_once_when_it_ends() {
    for (age, overloads) in [(ms(1), 0), (ms(100), 1)] {
        let lab = Lab::usual(1);
        let mut work = None;
        let inner = service_fn(|request: Request<()>| {
            work = Some(share(&request));
            async move {
                let _request = request;
                pending::<Result<Response<Script>, Infallible>>().await
            }
        });
        let mut service = LimiterLayer::new(lab.limiter.clone()).layer(inner);
        let mut response = Box::pin(service.call(Request::new(())));
        assert!(poll(response.as_mut()).is_pending());
        let taught = lab.teaches(|lab| {
            // The client is gone at once; the work goes on.
            drop(response);
            assert_eq!(lab.inflight(), 1);
            lab.clock.advance(age);
        });
        assert_eq!(taught, Taught::default(), "nothing is known before it ends");
        assert!(lab.limiter.try_acquire().is_err(), "its slot is taken");

        drop(service);
        let taught = lab.teaches(|_| drop(work));
        let at_that_age = Taught {
            overloads,
            ..Taught::default()
        };
        assert_eq!(taught, at_that_age);
        assert_eq!(lab.inflight(), 0);
    }
}

#[test]
fn work_that_outlives_its_answer_keeps_the_slot_and_the_rtt_is_the_heads() {
    for release_at in [ReleaseAt::Head, ReleaseAt::Body] {
        let lab = Lab::new(1);
        let (send, head) = oneshot::channel();
        let (mut head, mut work) = (Some(head), None);
        let inner = service_fn(|request: Request<()>| {
            work = Some(share(&request));
            head.take().unwrap()
        });
        let mut service = LimiterLayer::new(lab.limiter.clone())
            .release_at(release_at)
            .layer(inner);
        {
            let mut response = pin!(service.call(Request::new(())));
            assert!(poll(response.as_mut()).is_pending());
            lab.clock.advance(ms(50));
            send.send(Response::new(Script::empty())).unwrap();
            assert!(poll(response).is_ready());
        }
        drop(service);
        assert_eq!(lab.windows()[0].rtt_mean.get(), 50_000_000);
        lab.clock.advance(ms(10_000));
        assert_eq!(lab.inflight(), 1);
        drop(work);
        assert_eq!(lab.inflight(), 0);
        assert_eq!(
            lab.taught(),
            Taught {
                successes: 1,
                overloads: 0
            }
        );
    }
}

#[test]
fn a_handler_may_record_by_itself_and_the_response_then_counts_for_nothing() {
    let lab = Lab::usual(1);
    let inner = service_fn(async |request: Request<()>| {
        let hold = share(&request);
        hold.record(limiter_std::Outcome::Overload, hold.now());
        Ok::<_, Infallible>(Response::new(Script::empty()))
    });
    let mut service = LimiterLayer::new(lab.limiter.clone()).layer(inner);
    let taught = lab.teaches(|_| {
        assert!(poll(pin!(service.call(Request::new(())))).is_ready());
    });
    assert_eq!(
        taught,
        Taught {
            successes: 0,
            overloads: 1
        }
    );
    assert_eq!(lab.inflight(), 0);
}

#[test]
fn a_request_that_is_kept_by_the_inner_service_keeps_the_slot() {
    let lab = Lab::new(1);
    let mut kept = None;
    let inner = service_fn(|request: Request<&'static str>| {
        kept = Some(request);
        std::future::ready(Ok::<_, Infallible>(Response::new(Script::empty())))
    });
    let mut service = LimiterLayer::new(lab.limiter.clone()).layer(inner);
    assert!(poll(pin!(service.call(Request::new("body")))).is_ready());
    drop(service);
    assert_eq!(lab.inflight(), 1);
    drop(kept);
    assert_eq!(lab.inflight(), 0);
}

/// A limit for all routes is free at the head although that of one route is not before the end of its bodies.
#[test]
fn an_outer_layer_frees_its_slot_when_it_should_whatever_an_inner_one_keeps() {
    let (outer, inner) = (Lab::new(1), Lab::new(1));
    let service = service_fn(|_: Request<()>| {
        std::future::ready(Ok::<_, Infallible>(Response::new(Script::new())))
    });
    let service = LimiterLayer::new(inner.limiter.clone())
        .release_at(ReleaseAt::Body)
        .layer(service);
    let mut service = LimiterLayer::new(outer.limiter.clone()).layer(service);
    let response = poll(pin!(service.call(Request::new(()))));
    assert_eq!((outer.inflight(), inner.inflight()), (0, 1));
    drop(response);
    assert_eq!((outer.inflight(), inner.inflight()), (0, 0));
}

#[test]
fn the_hold_of_an_inner_layer_keeps_the_outer_slot_too() {
    let (outer, inner) = (Lab::new(1), Lab::new(1));
    let mut work = None;
    let service = service_fn(|request: Request<()>| {
        work = Some(share(&request));
        std::future::ready(Ok::<_, Infallible>(Response::new(Script::empty())))
    });
    let service = LimiterLayer::new(inner.limiter.clone()).layer(service);
    let mut service = LimiterLayer::new(outer.limiter.clone()).layer(service);
    assert!(poll(pin!(service.call(Request::new(())))).is_ready());
    drop(service);
    assert_eq!((outer.inflight(), inner.inflight()), (1, 1));
    drop(work);
    assert_eq!((outer.inflight(), inner.inflight()), (0, 0));
}
