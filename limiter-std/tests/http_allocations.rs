//! A refusal costs nothing but its response.

use ::tower::{Layer, Service, service_fn};
use allocation_counter::measure;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use http::{Request, Response, StatusCode};
use http_body_util::Empty;
use limiter_std::law::Fixed;
use limiter_std::{Config, Limiter, tower};
use std::convert::Infallible;
use std::future::{Future, ready};
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

type Body = Empty<&'static [u8]>;

/// A limiter that has no slot left.
fn full() -> Limiter<Fixed> {
    let limiter = Limiter::try_new(Config::new(Fixed).initial(1)).unwrap();
    std::mem::forget(limiter.try_acquire().unwrap());
    limiter
}

fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("not at once"),
    }
}

#[test]
fn a_refused_call_allocates_nothing() {
    let inner = service_fn(|()| ready(Ok::<_, Infallible>(())));
    let mut service = tower::LimiterLayer::new(full()).layer(inner);
    let refused = measure(|| assert!(now(service.call(())).is_err()));
    assert_eq!(refused.count_total, 0);
}

#[test]
fn a_refused_request_allocates_what_its_response_needs() {
    let inner = service_fn(|_: Request<()>| ready(Ok::<_, Infallible>(Response::new(Body::new()))));
    let mut service = limiter_std::http::LimiterLayer::new(full()).layer(inner);
    let plain = Request::new(());
    let mut grpc = Request::new(());
    let kind = HeaderValue::from_static("application/grpc");
    grpc.headers_mut().insert(CONTENT_TYPE, kind.clone());

    let by_hand = measure(|| {
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from_static("1"));
        drop(black_box(response));
    });
    let refused = measure(|| drop(black_box(now(service.call(plain)))));
    assert_eq!(refused.count_total, by_hand.count_total);
    assert_eq!(refused.bytes_total, by_hand.bytes_total);

    let four_headers = measure(|| {
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(CONTENT_TYPE, kind);
        drop(black_box(headers));
    });
    let refused = measure(|| drop(black_box(now(service.call(grpc)))));
    assert_eq!(refused.count_total, four_headers.count_total);
    assert_eq!(refused.bytes_total, four_headers.bytes_total);
}
