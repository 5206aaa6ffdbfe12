//! gRPC tells how it went behind the body.

use crate::spy::{CANCELLED, Lab, NOTHING, OVERLOADED, SUCCEEDED, Trace, ms, trace};
use crate::support::{Script, Step, frame, poll};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, Request, Response};
use limiter_std::http::{CallerLayer, LimiterLayer, ReleaseAt, ResponseBody};
use std::convert::Infallible;
use std::future::ready;
use std::pin::pin;
use std::task::Poll;
use tower::{Layer, Service, service_fn};

const STATUS: HeaderName = HeaderName::from_static("grpc-status");

fn status(code: &str) -> HeaderMap {
    HeaderMap::from_iter([(STATUS, code.parse().unwrap())])
}

type Limited = Response<ResponseBody<Script>>;

/// A gRPC response whose head comes after `time`.
fn respond(lab: &Lab, release_at: ReleaseAt, time: std::time::Duration, body: &Script) -> Limited {
    let inner = service_fn(|_: Request<()>| {
        let response = Response::builder().header(CONTENT_TYPE, "application/grpc");
        ready(Ok::<_, Infallible>(response.body(body.clone()).unwrap()))
    });
    let mut service = LimiterLayer::new(lab.limiter.clone())
        .release_at(release_at)
        .layer(inner);
    let response = pin!(service.call(Request::new(())));
    lab.clock.advance(time);
    match poll(response) {
        Poll::Ready(Ok(response)) => response,
        Poll::Pending => panic!("no response"),
    }
}

/// What a response teaches whose body takes `steps`, a second each.
fn taught_by(steps: impl Fn() -> Vec<Step>, over: bool) -> Trace {
    let taught = |release_at| {
        trace(|lab, age| {
            let body = Script::new();
            let mut response = respond(lab, release_at, age, &body);
            let at_the_head = lab.teaches(|_| ());
            assert_eq!(at_the_head, Default::default());
            for step in steps() {
                lab.clock.advance(ms(1_000));
                body.push(step);
                assert!(frame(response.body_mut()).is_some());
            }
            lab.clock.advance(ms(1_000));
            if over {
                let _over = body.end();
                assert!(frame(response.body_mut()).is_none());
                assert_eq!(lab.inflight(), 0);
            }
        })
    };
    let [head, body] = [ReleaseAt::Head, ReleaseAt::Body].map(&taught);
    assert_eq!(head, body);
    head
}

#[test]
fn the_trailers_tell_the_outcome_with_the_age_of_the_head() {
    let with = |code| move || vec![Step::Data("message"), Step::Trailers(status(code))];
    assert_eq!(taught_by(with("0"), true), SUCCEEDED);
    assert_eq!(taught_by(with("8"), true), OVERLOADED);
    assert_eq!(taught_by(with("5"), true), NOTHING);
    assert_eq!(taught_by(with("13"), true), NOTHING);
    assert_eq!(taught_by(with("nonsense"), true), NOTHING);
    assert_eq!(
        taught_by(|| vec![Step::Trailers(HeaderMap::new())], true),
        NOTHING
    );
}

#[test]
fn a_body_without_trailers_failed_and_one_that_is_dropped_says_nothing() {
    assert_eq!(taught_by(|| vec![Step::Data("message")], true), NOTHING);
    assert_eq!(taught_by(Vec::new, true), NOTHING);
    assert_eq!(
        taught_by(|| vec![Step::Data("message"), Step::Fail], false),
        NOTHING
    );
    // A stream that its client leaves was answered: half of all heads are older than usual, and none is late.
    assert_eq!(taught_by(|| vec![Step::Data("message")], false), NOTHING);
}

#[test]
fn the_rtt_is_that_of_the_head() {
    let lab = Lab::new(1);
    let body = Script::new();
    let mut response = respond(&lab, ReleaseAt::Head, ms(50), &body);
    lab.clock.advance(ms(10_000));
    body.push(Step::Trailers(status("0")));
    assert!(frame(response.body_mut()).is_some());
    assert_eq!(lab.taught().successes, 1);
    assert_eq!(lab.windows()[0].rtt_mean.get(), 50_000_000);
}

#[test]
fn a_status_in_the_head_is_taken_at_the_head() {
    for (code, expected) in [
        ("8", OVERLOADED),
        ("0", SUCCEEDED),
        ("3", NOTHING),
        ("1", CANCELLED),
    ] {
        let taught = trace(|lab, age| {
            let inner = service_fn(|_: Request<()>| {
                let mut response = Response::new(Script::empty());
                *response.headers_mut() = status(code);
                ready(Ok::<_, Infallible>(response))
            });
            let mut service = LimiterLayer::new(lab.limiter.clone()).layer(inner);
            let response = pin!(service.call(Request::new(())));
            lab.clock.advance(age);
            assert!(poll(response).is_ready());
            assert_eq!(lab.inflight(), 0);
        });
        assert_eq!(taught, expected, "{code}");
    }
}

#[test]
fn a_caller_reads_the_trailers_too() {
    let taught = trace(|lab, age| {
        let body = Script::new();
        let inner = service_fn(|_: Request<()>| {
            let response = Response::builder().header(CONTENT_TYPE, "application/grpc");
            ready(Ok::<_, Infallible>(response.body(body.clone()).unwrap()))
        });
        let mut service = CallerLayer::new(lab.limiter.clone()).layer(inner);
        let call = pin!(service.call(Request::new(())));
        lab.clock.advance(age);
        let Poll::Ready(Ok(mut response)) = poll(call) else {
            panic!("no response");
        };
        // UNAVAILABLE is overload for a caller, and not for the server that passes it on.
        body.push(Step::Trailers(status("14")));
        assert!(frame(response.body_mut()).is_some());
    });
    assert_eq!(taught, OVERLOADED);
}

#[test]
fn a_stream_that_ends_long_after_its_head_belongs_to_the_window_of_its_end() {
    let lab = Lab::usual(2);
    let call = |lab: &Lab| {
        let permit = lab.limiter.try_acquire().unwrap();
        lab.clock.advance(ms(10));
        permit.finish(limiter_std::Outcome::Success);
    };
    let body = Script::new();
    let mut stream = respond(&lab, ReleaseAt::Head, ms(10), &body);
    // A minute of other traffic, in windows of two RTTs.
    for _ in 0..6_000 {
        call(&lab);
    }
    let before = lab.windows().len();
    body.push(Step::Trailers(status("0")));
    assert!(frame(stream.body_mut()).is_some());
    for _ in 0..100 {
        call(&lab);
    }
    let windows = lab.windows().split_off(before);
    assert_eq!(
        windows.iter().map(|window| window.successes).sum::<u32>(),
        101
    );
    for window in windows {
        assert_eq!(window.rtt_mean.get(), 10_000_000);
        assert!(window.elapsed.get() <= 31_000_000, "{window:?}");
    }
}

#[test]
fn a_stream_whose_slot_is_free_at_the_head_still_teaches_at_its_trailers() {
    for (release_at, during) in [(ReleaseAt::Head, 0), (ReleaseAt::Body, 1)] {
        let lab = Lab::new(1);
        let body = Script::new();
        let mut stream = respond(&lab, release_at, ms(10), &body);
        assert_eq!(lab.inflight(), during);
        assert_eq!(lab.taught().overloads, 0);
        body.push(Step::Trailers(status("8")));
        assert!(frame(stream.body_mut()).is_some());
        assert_eq!(lab.inflight(), 0);
        assert_eq!(lab.taught().overloads, 1);
    }
}
