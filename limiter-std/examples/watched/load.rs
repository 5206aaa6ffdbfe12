//! A load in waves: calm, busy, twice what the server can do, and a store that has a bad time.

use crate::server::Site;
use axum::body::Body;
use axum::http::Request;
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
pub(crate) async fn waves(site: Site) {
    for (rate, seconds, bad) in WAVES.into_iter().cycle() {
        site.bad.store(bad, Ordering::Relaxed);
        wave(&site, rate, Duration::from_secs(seconds)).await;
    }
}

/// Arrivals that do not wait for answers, at random times (Poisson).
pub(crate) async fn wave(site: &Site, rate: f64, lasts: Duration) {
    let routes = site.routes();
    let ends = Instant::now() + lasts;
    let mut due = Instant::now();
    while due < ends {
        tokio::time::sleep_until(due).await;
        let path = if fastrand::u8(..) < 12 {
            "/report"
        } else {
            "/orders"
        };
        let request = Request::get(path).body(Body::empty()).unwrap_or_default();
        tokio::spawn(routes.clone().oneshot(request));
        due += Duration::from_secs_f64(-(1.0 - fastrand::f64()).ln() / rate);
    }
}
