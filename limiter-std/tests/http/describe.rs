//! What requests are said to be, and what comes of it.

use crate::support::{Script, answers, poll};
use http::{Request, Response, StatusCode};
use limiter_std::http::{Head, LimiterLayer, Marks};
use limiter_std::law::Fixed;
use limiter_std::{Caller, Config, Guarantee, Limiter, ManualClock, Partitions, Priority};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tower::{Layer, Service};

type Fixture = Limiter<Fixed, ManualClock>;

fn limiter(limit: u32) -> Fixture {
    let partitions = Partitions::new()
        .partition("reads", Guarantee::NONE)
        .partition("writes", Guarantee::of(300));
    let config = Config::new(Fixed).initial(limit);
    let limiter = Limiter::partitioned_with_clock(config, &partitions, ManualClock::new());
    limiter.expect("a configuration that works")
}

/// Who a request is, as its path says.
fn described(limiter: &Fixture) -> impl Fn(&Head<'_>) -> limiter_std::Request + use<> {
    let (reads, writes) = (
        limiter.partition("reads").unwrap(),
        limiter.partition("writes").unwrap(),
    );
    move |head| {
        let partition = if head.method.is_safe() { reads } else { writes };
        let request = limiter_std::Request::new().partition(partition);
        match head.uri.path() {
            "/report" => request.priority(Priority::Batch),
            "/bulk" => request.weight(4),
            "/" => request,
            tenant => request.caller(Caller::new(tenant)),
        }
    }
}

fn request(method: &str, path: &str) -> Request<()> {
    let request = Request::builder().method(method).uri(path);
    request.body(()).expect("a request")
}

/// Sends requests that are never answered; how many were let in.
fn let_in<S, F>(
    service: &mut S,
    requests: impl Iterator<Item = Request<()>>,
    kept: &mut Vec<F>,
) -> usize
where
    S: Service<
            Request<()>,
            Response = Response<limiter_std::http::ResponseBody<Script>>,
            Future = F,
        >,
    F: Future<Output = Result<S::Response, S::Error>> + Unpin,
{
    let before = kept.len();
    for request in requests {
        let mut call = service.call(request);
        match poll(std::pin::Pin::new(&mut call)) {
            Poll::Pending => kept.push(call),
            Poll::Ready(_) => {}
        }
    }
    kept.len() - before
}

macro_rules! service {
    ($layer:expr) => {{
        let hangs = tower::service_fn(|_: Request<()>| {
            std::future::pending::<Result<Response<Script>, std::convert::Infallible>>()
        });
        $layer.layer(hangs)
    }};
}

#[test]
fn partition_priority_and_weight_of_a_request_decide_whether_it_is_let_in() {
    let limiter = limiter(10);
    let mut service = service!(LimiterLayer::new(limiter.clone()).describe(described(&limiter)));
    let mut kept = Vec::new();
    let many = |method: &'static str, path: &'static str| {
        std::iter::repeat_with(move || request(method, path)).take(20)
    };
    assert_eq!(
        let_in(&mut service, many("GET", "/report"), &mut kept),
        5,
        "of seven"
    );
    assert_eq!(let_in(&mut service, many("GET", "/"), &mut kept), 2);
    assert_eq!(let_in(&mut service, many("PUT", "/bulk"), &mut kept), 0);
    assert_eq!(let_in(&mut service, many("PUT", "/"), &mut kept), 3);
    let seen = limiter.partitions();
    assert_eq!((seen[0].seen.pooled, seen[1].seen.inflight), (7, 3));
    drop(kept);
    assert_eq!(limiter.snapshot().inflight, 0);
}

#[test]
fn a_retry_is_one_class_lower_by_its_number_in_the_header_that_marks_name() {
    let attempts = |layer: LimiterLayer<_, _, _, Fixed, ManualClock, _>, header: &'static str| {
        let mut service = service!(layer);
        let mut kept = Vec::new();
        let retries = std::iter::repeat_with(|| {
            let mut retry = request("GET", "/report");
            retry.headers_mut().insert(header, 2.into());
            retry
        });
        let_in(&mut service, retries.take(20), &mut kept)
    };
    // Of the seven that are for reads: half for the lowest class, rounded up, seven tenths for the one above.
    let layer = |limiter: &Fixture| LimiterLayer::new(limiter.clone()).describe(described(limiter));
    assert_eq!(attempts(layer(&limiter(10)), "x-attempt"), 4);
    assert_eq!(attempts(layer(&limiter(10)), "x-other"), 5);
    let marks = Marks::new().attempt(http::HeaderName::from_static("x-other"));
    assert_eq!(attempts(layer(&limiter(10)).reading(marks), "x-other"), 4);
}

#[test]
fn a_request_that_waits_is_served_by_its_class_and_refused_when_its_time_would_be_over() {
    let clock = ManualClock::new();
    let config = Config::new(Fixed).initial(1);
    let limiter = Limiter::with_clock(config, clock.clone()).unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let served = Arc::clone(&order);
    let inner = answers(move |request: Request<()>| {
        served.lock().unwrap().push(request.uri().path().to_owned());
        Response::new(Script::empty())
    });
    let by_path = |head: &Head<'_>| {
        let batch = head.uri.path() == "/report";
        let priority = if batch {
            Priority::Batch
        } else {
            Priority::Interactive
        };
        limiter_std::Request::new().priority(priority)
    };
    let layer = LimiterLayer::new(limiter.clone()).describe(by_path);
    let mut service = layer.reading(Marks::new()).wait().layer(inner);
    for _ in 0..20 {
        let held = limiter.try_acquire().unwrap();
        let mut report = pin!(service.call(request("GET", "/report")));
        let mut page = pin!(service.call(request("GET", "/page")));
        assert!(poll(report.as_mut()).is_pending() && poll(page.as_mut()).is_pending());
        clock.advance(Duration::from_millis(100));
        drop(held);
        assert!(poll(page).is_ready());
        clock.advance(Duration::from_millis(100));
        assert!(poll(report).is_ready());
    }
    assert_eq!(order.lock().unwrap()[..2], ["/page", "/report"]);

    // By now it is known that slots come every fifty milliseconds.
    let _held = limiter.try_acquire().unwrap();
    let mut first = pin!(service.call(request("GET", "/page")));
    assert!(poll(first.as_mut()).is_pending());
    let mut hurried = request("GET", "/page");
    let timeout = "20m".parse().unwrap();
    hurried.headers_mut().insert("grpc-timeout", timeout);
    let Poll::Ready(Ok(answer)) = poll(pin!(service.call(hurried))) else {
        panic!("it waits");
    };
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(limiter.counts().refused.would_expire, 1);
}
