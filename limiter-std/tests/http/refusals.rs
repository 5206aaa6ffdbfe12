//! What a refused request is answered.

use crate::spy::{Lab, Taught};
use crate::support::{Script, answers, poll};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Body;
use limiter_std::http::{GrpcStatus, LimiterLayer, Refusal, Refuse, Refused, ResponseBody};
use std::cell::Cell;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tower::{Layer, Service};

/// What a request is answered that finds the limit taken.
fn refused_by(
    refusal: impl Refuse<Script>,
    request: Request<&'static str>,
) -> Response<ResponseBody<Script>> {
    let lab = Lab::usual(1);
    let _taken = lab.limiter.try_acquire().unwrap();
    answer_of(&lab, refusal, request)
}

fn answer_of(
    lab: &Lab,
    refusal: impl Refuse<Script>,
    request: Request<&'static str>,
) -> Response<ResponseBody<Script>> {
    let called = Cell::new(false);
    let inner = answers(|_| {
        called.set(true);
        Response::new(Script::empty())
    });
    let mut service = LimiterLayer::new(lab.limiter.clone())
        .refuse(refusal)
        .layer(inner);
    let mut answer = None;
    let taught = lab.teaches(|_| {
        match poll(pin!(service.call(request))) {
            Poll::Ready(Ok(response)) => answer = Some(response),
            Poll::Pending => panic!("not at once"),
        };
    });
    assert!(!called.get(), "the inner service is left alone");
    assert_eq!(taught, Taught::default());
    answer.unwrap()
}

fn plain() -> Request<&'static str> {
    Request::new("a body")
}

fn grpc() -> Request<&'static str> {
    let mut request = plain();
    request
        .headers_mut()
        .insert(CONTENT_TYPE, "application/grpc+proto".parse().unwrap());
    request
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().unwrap().to_owned())
}

#[test]
fn a_refusal_is_503_with_a_second_to_stay_away_and_no_body() {
    let response = refused_by(Refusal::default(), plain());
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(
        header(response.headers(), "retry-after").as_deref(),
        Some("1")
    );
    assert_eq!(response.headers().len(), 1);
    assert!(response.body().is_end_stream());
    assert_eq!(response.body().size_hint().exact(), Some(0));
}

#[test]
fn status_and_time_can_be_replaced_and_times_round_up() {
    for (time, seconds) in [
        (Duration::ZERO, "0"),
        (Duration::from_nanos(1), "1"),
        (Duration::from_secs(30), "30"),
        (Duration::from_millis(30_001), "31"),
        (Duration::MAX, "18446744073709551615"),
    ] {
        let refusal = Refusal::new()
            .status(StatusCode::TOO_MANY_REQUESTS)
            .retry_after(time);
        let response = refused_by(refusal, plain());
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(
            header(response.headers(), "retry-after").as_deref(),
            Some(seconds)
        );
    }
    let response = refused_by(Refusal::new().without_retry_after(), plain());
    assert!(response.headers().is_empty());
}

#[test]
fn a_function_can_make_the_response_from_the_request_and_the_numbers() {
    let refuse = |refused: &Refused| {
        let numbers = format!(
            "{} of {}",
            refused.rejected.inflight, refused.rejected.limit
        );
        Response::builder()
            .status(403)
            .header("x-path", refused.request.uri.path())
            .header("x-numbers", numbers)
            .body(Script::new())
            .unwrap()
    };
    let mut request = plain();
    *request.uri_mut() = "/report".parse().unwrap();
    let response = refused_by(refuse, request);
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    assert_eq!(
        header(response.headers(), "x-path").as_deref(),
        Some("/report")
    );
    assert_eq!(
        header(response.headers(), "x-numbers").as_deref(),
        Some("1 of 1")
    );
    assert_eq!(response.body().size_hint().exact(), Some(7), "its own body");
}

#[test]
fn a_grpc_request_is_refused_in_the_head_and_told_not_to_retry() {
    let response = refused_by(Refusal::default(), grpc());
    let headers = response.headers();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(GrpcStatus::of(headers), GrpcStatus::ResourceExhausted);
    assert_eq!(header(headers, "grpc-status").as_deref(), Some("8"));
    assert_eq!(
        header(headers, "grpc-retry-pushback-ms").as_deref(),
        Some("-1")
    );
    assert_eq!(
        header(headers, "content-type").as_deref(),
        Some("application/grpc")
    );
    assert_eq!(headers.get(RETRY_AFTER), None);
    assert!(response.body().is_end_stream(), "trailers-only");
}

#[test]
fn grpc_pushback_can_be_replaced_and_stays_a_32_bit_number() {
    for (time, millis) in [
        (Duration::from_millis(250), "250"),
        (Duration::from_micros(1), "1"),
        (Duration::MAX, "2147483647"),
    ] {
        let response = refused_by(Refusal::new().grpc_pushback(time), grpc());
        let pushback = header(response.headers(), "grpc-retry-pushback-ms");
        assert_eq!(pushback.as_deref(), Some(millis));
    }
    let response = refused_by(Refusal::new().without_grpc_pushback(), grpc());
    assert_eq!(header(response.headers(), "grpc-retry-pushback-ms"), None);
}

#[test]
fn a_closed_limiter_answers_too_and_sends_grpc_clients_to_another_server() {
    let lab = Lab::new(1);
    lab.limiter.close();
    let response = answer_of(&lab, Refusal::new(), plain());
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    let response = answer_of(&lab, Refusal::new(), grpc());
    assert_eq!(GrpcStatus::of(response.headers()), GrpcStatus::Unavailable);
    assert_eq!(header(response.headers(), "grpc-retry-pushback-ms"), None);

    let layer = LimiterLayer::new(lab.limiter.clone());
    let mut service = layer.layer(answers(|_: Request<()>| Response::new(Script::empty())));
    let ready = service.poll_ready(&mut crate::support::context());
    assert!(
        matches!(ready, Poll::Ready(Ok(()))),
        "it has an answer to give"
    );
    assert_eq!(lab.inflight(), 0);
}

#[test]
fn a_request_that_waits_is_answered_or_refused_in_its_time() {
    let lab = Lab::with(|config| config.initial(1).queue_length(1));
    let inner = answers(|_: Request<()>| Response::new(Script::empty()));
    let mut service = LimiterLayer::new(lab.limiter.clone()).wait().layer(inner);
    let taken = lab.limiter.try_acquire().unwrap();
    let mut waits = pin!(service.call(Request::new(())));
    assert!(poll(waits.as_mut()).is_pending());
    let Poll::Ready(Ok(refused)) = poll(pin!(service.call(Request::new(())))) else {
        panic!("the queue is full");
    };
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    taken.forget();
    let Poll::Ready(Ok(answered)) = poll(waits) else {
        panic!("there is a slot");
    };
    assert_eq!(answered.status(), StatusCode::OK);
    assert_eq!(lab.inflight(), 0);
}
