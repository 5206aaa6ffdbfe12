//! What requests say about themselves, and to whom.

use crate::spy::Lab;
use crate::support::{Script, answers, poll};
use http::{Request, Response, StatusCode};
use limiter_std::http::{LimiterLayer, Marks};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tower::{Layer, Service};

fn request(timeout: Option<&'static str>) -> Request<()> {
    let mut request = Request::new(());
    if let Some(timeout) = timeout {
        let timeout = timeout.parse().unwrap();
        request.headers_mut().insert("grpc-timeout", timeout);
    }
    request
}

#[test]
fn a_request_whose_time_was_over_before_its_wait_was_is_refused_and_teaches_nothing() {
    let lab = Lab::with(|config| config.initial(1));
    let inner = answers(|_: Request<()>| Response::new(Script::empty()));
    let layer = LimiterLayer::new(lab.limiter.clone()).reading(Marks::new());
    let mut service = layer.wait().layer(inner);
    for (timeout, status) in [
        (Some("5S"), StatusCode::SERVICE_UNAVAILABLE),
        (Some("50S"), StatusCode::OK),
        (None, StatusCode::OK),
    ] {
        let taken = lab.limiter.try_acquire().unwrap();
        let mut waits = pin!(service.call(request(timeout)));
        assert!(poll(waits.as_mut()).is_pending());
        lab.clock.advance(Duration::from_secs(10));
        taken.forget();
        let Poll::Ready(Ok(answer)) = poll(waits) else {
            panic!("there is a slot");
        };
        assert_eq!(answer.status(), status, "{timeout:?}");
        assert_eq!(lab.inflight(), 0);
    }
}

/// Every limiter's clock has an origin of its own.
#[test]
fn a_time_that_an_outer_limiter_read_is_not_held_against_the_clock_of_an_inner_one() {
    let elsewhere = Marks::new().timeout(http::HeaderName::from_static("x-timeout"));
    for marks in [None, Some(elsewhere)] {
        let (outer, inner) = (Lab::usual(1), Lab::usual(1));
        inner.clock.advance(Duration::from_secs(10));
        let layer = LimiterLayer::new(inner.limiter.clone());
        let layer = match marks {
            Some(marks) => layer.reading(marks),
            None => layer,
        };
        let service = layer
            .wait()
            .layer(answers(|_: Request<()>| Response::new(Script::empty())));
        let layer = LimiterLayer::new(outer.limiter.clone()).reading(Marks::new());
        let mut service = layer.layer(service);
        let taken = inner.limiter.try_acquire().unwrap();
        let mut waits = pin!(service.call(request(Some("5S"))));
        assert!(poll(waits.as_mut()).is_pending());
        taken.forget();
        let Poll::Ready(Ok(answer)) = poll(waits) else {
            panic!("there is a slot");
        };
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!((outer.inflight(), inner.inflight()), (0, 0));
    }
}
