//! Retries and hedges as they are written everywhere: bounded in number, with jittered back-off.

use crate::callers::Link;
use crate::seconds::Request;
use crate::settings::{ATTEMPTS, BACKOFF, HEDGE, TIMEOUT, TOTAL};
use axum::http::StatusCode;
use std::time::Duration;
use tokio::time::timeout;

/// Whether the request was answered well.
pub(crate) async fn request(link: &Link, request: Request<'_>, mut random: fastrand::Rng) -> bool {
    let all = async {
        let mut left = ATTEMPTS;
        let mut window = BACKOFF.0;
        loop {
            if hedged(link, request, &mut left).await {
                return true;
            }
            if left == 0 {
                return false;
            }
            tokio::time::sleep(window.mul_f64(random.f64())).await;
            window = Duration::min(window * 2, BACKOFF.1);
        }
    };
    timeout(TOTAL, all).await.unwrap_or(false)
}

/// An attempt, and another beside it when it takes long.
async fn hedged(link: &Link, request: Request<'_>, left: &mut u32) -> bool {
    *left -= 1;
    let first = attempt(link, request);
    tokio::pin!(first);
    if let Ok(good) = timeout(HEDGE, &mut first).await {
        return good;
    }
    if *left == 0 {
        return first.await;
    }
    *left -= 1;
    let second = attempt(link, request);
    tokio::pin!(second);
    tokio::select! {
        good = &mut first => good || second.await,
        good = &mut second => good || first.await,
    }
}

async fn attempt(link: &Link, request: Request<'_>) -> bool {
    request.attempt();
    matches!(timeout(TIMEOUT, link.send()).await, Ok(Ok(StatusCode::OK)))
}
