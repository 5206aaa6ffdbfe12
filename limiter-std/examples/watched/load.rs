//! A load in waves: calm, busy, twice what the server can do, and a store that has a bad time.

use crate::server::Site;
use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, Uri};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;
use tower::ServiceExt;

/// Requests a second, for so many seconds, with the store in a bad time or not.
const WAVES: [(f64, u64, bool); 6] = [
    (150.0, 15, false),
    (330.0, 10, false),
    (800.0, 15, false),
    (150.0, 15, false),
    (150.0, 15, true),
    (250.0, 10, false),
];

/// Sends requests for ever.
pub(crate) async fn waves(site: Site, routes: Router) {
    for (rate, seconds, bad) in WAVES.into_iter().cycle() {
        site.bad.store(bad, Ordering::Relaxed);
        wave(&routes, rate, Duration::from_secs(seconds)).await;
    }
}

/// Arrivals that do not wait for answers, at random times (Poisson).
pub(crate) async fn wave(routes: &Router, rate: f64, lasts: Duration) {
    let ends = Instant::now() + lasts;
    let mut due = Instant::now();
    while due < ends {
        tokio::time::sleep_until(due).await;
        let (method, path) = match fastrand::u8(..) {
            0..12 => (Method::GET, "/report"),
            12..60 => (Method::POST, "/orders"),
            _ => (Method::GET, "/orders"),
        };
        let mut request = Request::new(Body::empty());
        (*request.method_mut(), *request.uri_mut()) = (method, Uri::from_static(path));
        tokio::spawn(routes.clone().oneshot(request));
        due += Duration::from_secs_f64(-(1.0 - fastrand::f64()).ln() / rate);
    }
}
