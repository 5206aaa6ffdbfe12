//! When the slot is free, and what the RTT is.

use crate::spy::{CANCELLED, Lab, NOTHING, SUCCEEDED, ms, trace};
use crate::support::{Script, Step, answers, frame, poll};
use http::{HeaderMap, Request, Response};
use http_body::Body;
use limiter_std::http::{LimiterLayer, ReleaseAt};
use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::oneshot;
use tower::{Layer, Service, service_fn};

type Limited = Response<limiter_std::http::ResponseBody<Script>>;

/// The response to one request, whose head comes after `time`.
fn respond(lab: &Lab, release_at: ReleaseAt, time: Duration, body: &Script) -> Limited {
    let (send, head) = oneshot::channel();
    let mut head = Some(head);
    let inner = service_fn(move |_: Request<()>| head.take().unwrap());
    let mut service = LimiterLayer::new(lab.limiter.clone())
        .release_at(release_at)
        .layer(inner);
    let mut response = pin!(service.call(Request::new(())));
    assert!(poll(response.as_mut()).is_pending());
    lab.clock.advance(time);
    send.send(Response::new(body.clone())).unwrap();
    match poll(response) {
        Poll::Ready(Ok(response)) => response,
        _ => panic!("no response"),
    }
}

#[test]
fn a_slot_is_free_at_the_head_or_at_the_end_of_the_body_and_the_rtt_is_the_heads() {
    for (release_at, during) in [(ReleaseAt::Head, 0), (ReleaseAt::Body, 1)] {
        let lab = Lab::new(10);
        let body = Script::new();
        let mut response = respond(&lab, release_at, ms(50), &body);
        assert_eq!(lab.inflight(), during);
        assert_eq!(lab.windows().len(), 1, "recorded at the head");
        for _ in 0..10 {
            lab.clock.advance(ms(1_000));
            body.push(Step::Data("chunk"));
            assert!(frame(response.body_mut()).is_some());
            assert_eq!(lab.inflight(), during);
        }
        let _over = body.end();
        assert!(frame(response.body_mut()).is_none());
        assert_eq!(lab.inflight(), 0);
        drop(response);
        assert_eq!(lab.inflight(), 0);
        assert_eq!(lab.taught().successes, 1);
        assert_eq!(lab.windows()[0].rtt_mean.get(), 50_000_000);
    }
}

#[test]
fn a_body_gives_its_slot_back_once_however_it_ends() {
    let ends: [fn(&mut Limited, Script); 5] = [
        |response, body| {
            let _over = body.end();
            assert!(frame(response.body_mut()).is_none());
        },
        |response, body| {
            // The last frame, by what the body says of itself.
            body.push(Step::Data("last"));
            let _over = body.end();
            assert!(frame(response.body_mut()).is_some());
        },
        |response, body| {
            body.push(Step::Trailers(HeaderMap::new()));
            assert!(frame(response.body_mut()).is_some());
        },
        |response, body| {
            body.push(Step::Fail);
            assert!(frame(response.body_mut()).unwrap().is_err());
        },
        |response, _| drop(std::mem::replace(response, Response::new(empty()))),
    ];
    for end in ends {
        let once = trace(|lab, age| {
            let other = lab.limiter.try_acquire().unwrap();
            let body = Script::new();
            let mut response = respond(lab, ReleaseAt::Body, age, &body);
            assert_eq!(lab.inflight(), 2);
            end(&mut response, body);
            assert_eq!(lab.inflight(), 1);
            drop(response);
            assert_eq!(lab.inflight(), 1);
            other.forget();
        });
        assert_eq!(once, SUCCEEDED);
    }
}

fn empty() -> limiter_std::http::ResponseBody<Script> {
    let lab = Lab::new(1);
    respond(&lab, ReleaseAt::Head, ms(1), &Script::empty()).into_body()
}

#[test]
fn ten_half_read_bodies_that_are_dropped_make_room_for_ten_more() {
    let lab = Lab::new(10);
    let body = Script::new();
    let half_read: Vec<_> = (0..10)
        .map(|_| {
            let mut response = respond(&lab, ReleaseAt::Body, ms(1), &body);
            body.push(Step::Data("half"));
            assert!(frame(response.body_mut()).is_some());
            response
        })
        .collect();
    assert!(lab.limiter.try_acquire().is_err());
    drop(half_read);
    assert_eq!(lab.inflight(), 0);
    respond(&lab, ReleaseAt::Body, ms(1), &body);
}

#[test]
fn an_empty_body_holds_no_slot() {
    let lab = Lab::new(1);
    let response = respond(&lab, ReleaseAt::Body, ms(1), &Script::empty());
    assert_eq!(lab.inflight(), 0);
    assert!(response.body().is_end_stream());
}

#[test]
fn a_body_tells_its_size() {
    let lab = Lab::new(1);
    for release_at in [ReleaseAt::Head, ReleaseAt::Body] {
        let response = respond(&lab, release_at, ms(1), &Script::new());
        assert_eq!(response.body().size_hint().exact(), Some(7));
        assert!(!response.body().is_end_stream());
    }
}

#[test]
fn a_request_that_is_dropped_before_its_head_is_cancelled() {
    for polls in [0, 1] {
        let dropped = trace(|lab, age| {
            let inner = service_fn(|_: Request<()>| pending::<Result<Response<Script>, ()>>());
            let mut service = LimiterLayer::new(lab.limiter.clone()).layer(inner);
            let mut response = Box::pin(service.call(Request::new(())));
            for _ in 0..polls {
                assert!(poll(response.as_mut()).is_pending());
            }
            lab.clock.advance(age);
            drop(response);
        });
        assert_eq!(dropped, CANCELLED);
    }
}

#[test]
fn an_error_of_the_service_stays_what_it_is_and_is_a_failure() {
    let failed = trace(|lab, age| {
        let inner = service_fn(|_: Request<()>| ready(Err::<Response<Script>, _>("broken")));
        let mut service = LimiterLayer::new(lab.limiter.clone()).layer(inner);
        let response = pin!(service.call(Request::new(())));
        lab.clock.advance(age);
        assert_eq!(poll(response).map(Result::err), Poll::Ready(Some("broken")));
    });
    assert_eq!(failed, NOTHING);
}

#[test]
fn a_panic_frees_the_slot_and_teaches_nothing() {
    let while_polled = trace(|lab, age| {
        let inner = service_fn(|request: Request<()>| async move {
            let _request = request;
            panic!("inside the handler");
            #[allow(unreachable_code, reason = "names the type")]
            Ok::<Response<Script>, ()>(Response::new(Script::new()))
        });
        let mut service = LimiterLayer::new(lab.limiter.clone()).layer(inner);
        let mut response = Box::pin(service.call(Request::new(())));
        lab.clock.advance(age);
        let unwound = catch_unwind(AssertUnwindSafe(|| poll(response.as_mut()).is_ready()));
        assert!(unwound.is_err());
        assert_eq!(lab.inflight(), 0);
    });
    assert_eq!(while_polled, NOTHING);

    let in_call = trace(|lab, age| {
        let inner = answers(|_: Request<()>| -> Response<Script> {
            lab.clock.advance(age);
            panic!("inside of call")
        });
        let mut service = LimiterLayer::new(lab.limiter.clone()).layer(inner);
        let call = AssertUnwindSafe(|| drop(service.call(Request::new(()))));
        assert!(catch_unwind(call).is_err());
    });
    assert_eq!(in_call, NOTHING);
}
