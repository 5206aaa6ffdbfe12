//! The layer for callers.

use crate::spy::{Lab, NOTHING, OVERLOADED, SUCCEEDED, Trace, ms, trace};
use crate::support::{Script, poll};
use http::{Request, Response};
use limiter_std::RejectReason;
use limiter_std::http::{Caller, CallerLayer};
use limiter_std::tower::Error;
use std::future::ready;
use std::io;
use std::pin::pin;
use std::task::Poll;
use tower::{BoxError, Layer, Service, ServiceExt, service_fn};

fn dependency(answer: impl Fn() -> Result<u16, io::ErrorKind>) -> Trace {
    trace(|lab, age| {
        let inner = service_fn(|_: Request<()>| {
            let response = |status| Response::builder().status(status).body(Script::empty());
            ready(
                answer()
                    .map(|status| response(status).unwrap())
                    .map_err(io::Error::from),
            )
        });
        let mut service = CallerLayer::new(lab.limiter.clone()).layer(inner);
        let call = pin!(service.call(Request::new(())));
        assert_eq!(lab.inflight(), 1);
        lab.clock.advance(age);
        assert!(poll(call).is_ready());
    })
}

#[test]
fn answers_and_errors_of_the_dependency_teach_what_they_are() {
    assert_eq!(dependency(|| Ok(204)), SUCCEEDED);
    assert_eq!(dependency(|| Ok(503)), OVERLOADED);
    assert_eq!(dependency(|| Ok(500)), NOTHING);
    assert_eq!(dependency(|| Err(io::ErrorKind::TimedOut)), OVERLOADED);
    assert_eq!(
        dependency(|| Err(io::ErrorKind::ConnectionRefused)),
        NOTHING
    );
}

#[test]
fn a_call_beyond_the_limit_is_an_error_and_so_is_one_after_closing() {
    let lab = Lab::new(1);
    let inner =
        service_fn(|_: Request<()>| ready(Ok::<_, io::Error>(Response::new(Script::empty()))));
    let mut service = CallerLayer::new(lab.limiter.clone()).layer(inner);
    let taken = lab.limiter.try_acquire().unwrap();
    let Poll::Ready(Err(Error::Rejected(rejected))) = poll(pin!(service.call(Request::new(()))))
    else {
        panic!("not refused");
    };
    assert_eq!(rejected.reason, RejectReason::AtLimit);
    drop(taken);

    lab.limiter.close();
    let ready = service.poll_ready(&mut crate::support::context());
    let Poll::Ready(Err(Error::Rejected(rejected))) = ready else {
        panic!("ready although it is closed");
    };
    assert_eq!(rejected.reason, RejectReason::Closed);
}

#[test]
fn no_hold_is_sent_along_with_the_request() {
    let lab = Lab::new(1);
    let inner = service_fn(|request: Request<()>| {
        assert!(request.extensions().is_empty());
        ready(Ok::<_, io::Error>(Response::new(Script::empty())))
    });
    let mut service = CallerLayer::new(lab.limiter.clone()).layer(inner);
    assert!(poll(pin!(service.call(Request::new(())))).is_ready());
}

#[test]
fn attempts_of_a_retry_are_samples_of_their_own() {
    let lab = Lab::usual(1);
    let mut statuses = [429, 200].into_iter();
    let inner = service_fn(|_: Request<()>| {
        let response = Response::builder().status(statuses.next().unwrap());
        ready(Ok::<_, io::Error>(response.body(Script::empty()).unwrap()))
    });
    let mut service = CallerLayer::new(lab.limiter.clone()).layer(inner);
    let mut attempt = || {
        let call = pin!(service.call(Request::new(())));
        lab.clock.advance(ms(100));
        assert!(poll(call).is_ready());
    };
    let refused = lab.teaches(|_| attempt());
    lab.clock.advance(ms(5_000));
    let done = lab.teaches(|_| attempt());
    assert_eq!((refused.successes, refused.overloads), (0, 1));
    assert_eq!((done.successes, done.overloads), (1, 0));
    let last = *lab.windows().last().unwrap();
    assert_eq!(last.rtt_mean.get(), 100_000_000, "without the back-off");
}

#[test]
fn boxed_errors_are_classified_by_a_function() {
    let overloaded = trace(|lab, age| {
        let classify =
            Caller::errors(|error: &BoxError| limiter_std::http::error_outcome(&**error));
        let inner = service_fn(|_: Request<()>| {
            let late: BoxError = "the request timed out".into();
            ready(Err::<Response<Script>, _>(late))
        });
        let mut service = CallerLayer::new(lab.limiter.clone())
            .classify(classify)
            .layer(inner);
        let call = pin!(service.call(Request::new(())));
        lab.clock.advance(age);
        assert!(poll(call).is_ready());
    });
    assert_eq!(overloaded, OVERLOADED);
}

#[tokio::test]
async fn a_real_client_learns_from_what_the_network_answers() {
    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::get;
    use http_body_util::Empty;
    use hyper_util::client::legacy::Client;
    use hyper_util::rt::TokioExecutor;
    use std::net::SocketAddr;

    let app = Router::new()
        .route("/", get(async || "fine"))
        .route("/full", get(async || StatusCode::SERVICE_UNAVAILABLE));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });

    let lab = Lab::usual(1);
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<&[u8]>>();
    let limited = CallerLayer::new(lab.limiter.clone()).layer(client);
    let get = async |server: SocketAddr, path: &str| {
        let before = lab.taught();
        let request = Request::get(format!("http://{server}{path}"))
            .body(Empty::new())
            .unwrap();
        let answer = limited.clone().oneshot(request).await;
        let after = lab.taught();
        let taught = (
            after.successes - before.successes,
            after.overloads - before.overloads,
        );
        (
            answer.map(|response| response.status().as_u16()).ok(),
            taught,
        )
    };
    assert_eq!(get(server, "/").await, (Some(200), (1, 0)));
    assert_eq!(get(server, "/full").await, (Some(503), (0, 1)));
    assert_eq!(get(server, "/missing").await, (Some(404), (0, 0)));
    // A port on which nobody listens.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = listener.local_addr().unwrap();
    drop(listener);
    assert_eq!(get(nobody, "/").await, (None, (0, 0)));
    assert_eq!(lab.inflight(), 0);
}
