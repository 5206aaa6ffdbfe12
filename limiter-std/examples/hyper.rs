//! A hyper client behind a `DependencyLayer`, and an axum server that sheds retries first and does no work
//! for which nobody waits.
//!
//! ```text
//! cargo run -p limiter-std --example hyper
//! ```

use axum::Router;
use axum::http::{HeaderMap, Request, Response, StatusCode};
use axum::response::IntoResponse;
use axum::routing::get;
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use limiter_std::http::{Answers, LimiterLayer, Marks};
use limiter_std::tower::DependencyLayer;
use limiter_std::{CallOptions, Dependency, DependencyConfig, Jitter, Limiter, Tokio};
use std::net::Ipv4Addr;
use std::time::Duration;
use tower::{Layer, ServiceExt};

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let uri = format!("http://{}/rows", listener.local_addr()?);
    let limited = LimiterLayer::new(Limiter::default())
        .reading(Marks::new())
        .shed_retries(800);
    let app = Router::new().route("/rows", get(rows)).layer(limited);
    let server = tokio::spawn(async { axum::serve(listener, app).await });

    let store = Dependency::try_new(
        DependencyConfig::default()
            .backoff(
                Jitter::Full,
                Duration::from_millis(5),
                Duration::from_millis(50),
            )
            .hedge(950, Duration::from_millis(100))
            // More than half of what is sent is refused on purpose, which is what the throttle is for.
            .throttle(None),
    )?;
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<&[u8]>>();
    let service = DependencyLayer::new(store.clone(), Tokio)
        .options(CallOptions::new().hedge())
        .judge(Answers::new())
        .prepare(Marks::new())
        .layer(client);

    for _ in 0..20 {
        let response = service
            .clone()
            .oneshot(Request::get(&uri).body(Empty::new())?)
            .await?;
        assert_eq!(response.status(), StatusCode::OK);
        let body = response.into_body().collect().await?.to_bytes();
        assert_eq!(body, "attempt 2: 42 rows");
        if store.counts().retries >= 9 {
            break;
        }
    }
    let counts = store.counts();
    println!("{counts:?}");
    assert_eq!(
        counts.attempts,
        2 * counts.calls,
        "each first attempt is refused"
    );

    // The budget bounds that: in the end the refusal is the answer.
    let mut last = StatusCode::OK;
    for _ in 0..10 {
        let response = service
            .clone()
            .oneshot(Request::get(&uri).body(Empty::new())?)
            .await?;
        last = response.status();
    }
    assert_eq!(last, StatusCode::SERVICE_UNAVAILABLE);
    assert!(store.counts().refused_by_budget > 0);
    println!("{:?}", store.snapshot().balance);
    server.abort();
    Ok(())
}

/// Full for every first attempt.
async fn rows(headers: HeaderMap) -> Response<axum::body::Body> {
    let number = Marks::new().number(&headers);
    assert!(
        Marks::new()
            .left(&headers)
            .is_some_and(|left| left > Duration::ZERO)
    );
    if number == 1 {
        return (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "0")]).into_response();
    }
    format!("attempt {number}: 42 rows").into_response()
}

#[test]
fn retries_answer_until_the_budget_is_spent() {
    main().expect("runs");
}
