//! Attempts and deadlines in headers: what callers write is what the server's layer reads.

use crate::support::{Script, poll};
use http::{HeaderMap, HeaderName, Request, Response, StatusCode};
use limiter_std::http::{Answers, Head, LimiterLayer, Marks};
use limiter_std::law::Fixed;
use limiter_std::tower::DependencyLayer;
use limiter_std::{
    Config, Dependency, DependencyConfig, Ending, Guarantee, Jitter, Judge, Limiter, ManualClock,
    Outcome, Partitions, Request as RequestOf,
};
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tower::{Layer, Service, ServiceExt, service_fn};

type Fixture = Limiter<Fixed, ManualClock>;

fn limiter(limit: u32) -> (Fixture, ManualClock) {
    let clock = ManualClock::new();
    let limiter = Limiter::with_clock(Config::new(Fixed).initial(limit), clock.clone());
    (limiter.unwrap(), clock)
}

fn request(headers: &[(&'static str, &str)]) -> Request<()> {
    let mut request = Request::new(());
    for (name, value) in headers {
        let name = HeaderName::from_static(name);
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    request
}

async fn answer(_: Request<()>) -> Result<Response<Script>, Infallible> {
    Ok(Response::new(Script::empty()))
}

fn status<F, B, E: std::fmt::Debug>(calling: F) -> StatusCode
where
    F: Future<Output = Result<Response<B>, E>>,
{
    match poll(std::pin::pin!(calling)) {
        Poll::Ready(response) => response.unwrap().status(),
        Poll::Pending => panic!("it waits"),
    }
}

#[test]
fn a_request_without_any_time_left_is_refused_before_it_takes_a_slot() {
    let (limiter, _) = limiter(4);
    let layer = LimiterLayer::new(limiter.clone()).reading(Marks::new());
    let mut service = layer.layer(service_fn(answer));
    for (timeout, expected) in [
        ("0m", StatusCode::SERVICE_UNAVAILABLE),
        ("0H", StatusCode::SERVICE_UNAVAILABLE),
        ("1u", StatusCode::OK),
        ("10S", StatusCode::OK),
        ("soon", StatusCode::OK),
    ] {
        let calling = service.call(request(&[("grpc-timeout", timeout)]));
        assert_eq!(status(calling), expected, "{timeout}");
    }
    assert_eq!(status(service.call(request(&[]))), StatusCode::OK);
    // Without `reading` the header is none of the layer's business.
    let mut plain = LimiterLayer::new(limiter).layer(service_fn(answer));
    let calling = plain.call(request(&[("grpc-timeout", "0m")]));
    assert_eq!(status(calling), StatusCode::OK);
}

#[test]
fn a_request_whose_time_ran_out_in_line_is_dropped_unserved_and_its_slot_goes_on() {
    let (limiter, clock) = limiter(1);
    let served = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&served);
    let layer = LimiterLayer::new(limiter.clone())
        .reading(Marks::new())
        .wait();
    let mut service = layer.layer(service_fn(move |request| {
        *counted.lock().unwrap() += 1;
        answer(request)
    }));
    let held = limiter.try_acquire().unwrap();
    let mut late = Box::pin(service.call(request(&[("grpc-timeout", "50m")])));
    let mut patient = Box::pin(service.call(request(&[("grpc-timeout", "5S")])));
    assert!(poll(late.as_mut()).is_pending() && poll(patient.as_mut()).is_pending());
    clock.advance(Duration::from_millis(50));
    held.finish(Outcome::Success);
    assert_eq!(status(late), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(status(patient), StatusCode::OK);
    assert_eq!(*served.lock().unwrap(), 1);
    assert_eq!(limiter.snapshot().inflight, 0);
}

#[test]
fn retries_are_shed_first_and_first_attempts_have_the_whole_limit() {
    let (limiter, _) = limiter(10);
    let marks = Marks::new().attempt(HeaderName::from_static("x-try"));
    let layer = LimiterLayer::new(limiter.clone())
        .reading(marks)
        .shed_retries(800);
    let mut service = layer.layer(service_fn(answer));
    let mut call = |number| status(service.call(request(&[("x-try", number)])));
    let mut held = Vec::new();
    for taken in 0..=10 {
        let first = if taken < 10 {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        let retry = if taken < 8 {
            StatusCode::OK
        } else {
            StatusCode::SERVICE_UNAVAILABLE
        };
        assert_eq!(
            (call("1"), call("2"), call("soon")),
            (first, retry, first),
            "{taken} taken"
        );
        held.extend(limiter.try_acquire());
    }
}

#[test]
fn a_retry_is_shed_by_what_its_own_partition_may_use() {
    let partitions = Partitions::new()
        .partition("reads", Guarantee::NONE)
        .partition("writes", Guarantee::of(500));
    let config = Config::new(Fixed).initial(10);
    let limiter = Limiter::partitioned_with_clock(config, &partitions, ManualClock::new()).unwrap();
    let retry = |name| {
        let of = RequestOf::new().partition(limiter.partition(name).unwrap());
        let layer = LimiterLayer::new(limiter.clone()).shed_retries(800);
        let layer = layer.describe(move |_: &Head<'_>| of);
        status(
            layer
                .layer(service_fn(answer))
                .call(request(&[("x-attempt", "2")])),
        )
    };
    let take = |name| {
        let of = RequestOf::new().partition(limiter.partition(name).unwrap());
        limiter.try_acquire_for(of).unwrap()
    };
    let _reads = [(); 4].map(|()| take("reads"));
    // Four of five that are not guaranteed to others; for writes of ten.
    assert_eq!(retry("reads"), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(retry("writes"), StatusCode::OK);
    let _writes = [(); 4].map(|()| take("writes"));
    assert_eq!(retry("writes"), StatusCode::SERVICE_UNAVAILABLE);
}

#[test]
fn a_limiter_that_only_watches_refuses_no_retry() {
    let (limiter, _) = limiter(1);
    limiter.set_watch_only(true);
    let layer = LimiterLayer::new(limiter.clone()).shed_retries(500);
    let mut service = layer.layer(service_fn(answer));
    let held = limiter.try_acquire().unwrap();
    let retry = || request(&[("x-attempt", "2")]);
    assert_eq!(status(service.call(retry())), StatusCode::OK);
    assert_eq!(limiter.watched().all(), 1, "counted once");
    drop(held);
    limiter.set_limit(2).unwrap();
    let _held = limiter.try_acquire().unwrap();
    assert_eq!(status(service.call(retry())), StatusCode::OK);
    assert_eq!(limiter.watched().all(), 2);
    let counts = limiter.counts();
    assert_eq!(counts.refused.total(), 0);
    assert_eq!(counts.admitted, 2, "without a slot, though there was one");
}

#[test]
fn what_a_dependency_layer_writes_is_what_the_server_reads() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let seen: Arc<Mutex<Vec<HeaderMap>>> = Arc::default();
    let kept = Arc::clone(&seen);
    let service = service_fn(move |request: Request<()>| {
        kept.lock().unwrap().push(request.headers().clone());
        let last = kept.lock().unwrap().len() == 3;
        let mut response = Response::new(());
        if !last {
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        }
        std::future::ready(io::Result::Ok(response))
    });
    let config = DependencyConfig::new(Config::new(Fixed))
        .backoff(
            Jitter::Full,
            Duration::from_millis(1),
            Duration::from_millis(1),
        )
        .timeout(Duration::from_secs(1));
    let layer = DependencyLayer::new(Dependency::try_new(config).unwrap(), tokio::time::sleep)
        .judge(Answers::new())
        .prepare(Marks::new());
    let response = runtime.block_on(
        layer
            .layer(service)
            .oneshot(request(&[("grpc-timeout", "200m")])),
    );
    assert_eq!(response.unwrap().status(), StatusCode::OK);
    let marks = Marks::new();
    let seen = seen.lock().unwrap();
    let numbers: Vec<_> = seen.iter().map(|headers| marks.number(headers)).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let left = Duration::from_millis(200);
    assert!(
        seen.iter().all(|headers| marks.left(headers) == Some(left)),
        "the shorter one stays"
    );
}

#[test]
fn answers_are_judged_by_status_and_hint() {
    let judge = |status: u16, headers: &[(&'static str, &str)]| {
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        *response.headers_mut() = request(headers).into_parts().0.headers;
        Answers::new().judge(Ok::<_, &io::Error>(&response))
    };
    let two = Duration::from_secs(2);
    for (status, headers, ending) in [
        (200, &[][..], Ending::success()),
        (200, &[("retry-after", "2")], Ending::success()),
        (404, &[], Ending::ignored()),
        (
            429,
            &[("retry-after", "2")],
            Ending::refused().retry_after(two),
        ),
        (503, &[], Ending::overload()),
        (503, &[("retry-after", "soon")], Ending::overload()),
        (
            500,
            &[("retry-after", "2")],
            Ending::failure().retry_after(two),
        ),
        (501, &[], Ending::permanent()),
        (504, &[], Ending::timeout()),
        (200, &[("grpc-status", "0")], Ending::success()),
        (200, &[("grpc-status", "14")], Ending::overload()),
        (200, &[("grpc-status", "4")], Ending::timeout()),
        (200, &[("grpc-status", "15")], Ending::permanent()),
        (
            200,
            &[("grpc-status", "3"), ("grpc-retry-pushback-ms", "5")],
            Ending::ignored(),
        ),
        (
            200,
            &[("grpc-status", "8"), ("grpc-retry-pushback-ms", "2000")],
            Ending::refused().retry_after(two),
        ),
        (
            200,
            &[("grpc-status", "8"), ("grpc-retry-pushback-ms", "-1")],
            Ending::refused().do_not_retry(),
        ),
    ] {
        assert_eq!(judge(status, headers), ending, "{status} {headers:?}");
    }
    let error = io::Error::from(io::ErrorKind::TimedOut);
    assert_eq!(
        Judge::<Response<()>, _>::judge(&Answers::new(), Err(&error)),
        Ending::timeout()
    );
}
