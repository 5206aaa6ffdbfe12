//! The same requests within a `Dependency`.

use crate::callers::Link;
use crate::seconds::Request;
use crate::settings::{ATTEMPTS, BACKOFF, HEDGE, TIMEOUT, TOTAL};
use axum::http::StatusCode;
use limiter_std::{
    BreakerConfig, BudgetConfig, CallOptions, ConfigError, Dependency, DependencyConfig, Ending,
    Jitter, Tokens, Tokio,
};
use std::io;
use std::time::Duration;

/// A caller's own: nobody tells it what the other 199 see.
pub(crate) fn dependency(seed: u32) -> Result<Dependency, ConfigError> {
    let config = DependencyConfig::default()
        .attempts(ATTEMPTS)
        .total(TOTAL)
        .timeout(TIMEOUT)
        .timeout_bounds(TIMEOUT, TIMEOUT)
        .hedge(950, HEDGE)
        .backoff(Jitter::Full, BACKOFF.0, BACKOFF.1)
        .budget(BUDGET)
        .breaker(BREAKER);
    Dependency::with_clock(config, limiter_std::MonotonicClock::new(), seed)
}

/// What a caller of six requests a second may save up: 200 of them add a sixth to the worst second at most.
const BUDGET: BudgetConfig = BudgetConfig::new().capacity(Tokens::ONE);

/// How long a caller may take to notice that the server is well again is up to its owner: here two seconds.
const BREAKER: BreakerConfig =
    BreakerConfig::new().open(Duration::from_secs(1), Duration::from_secs(2));

/// Whether the request was answered well.
pub(crate) async fn request(dependency: &Dependency, link: &Link, request: Request<'_>) -> bool {
    let answer = dependency.call_async(Tokio, CallOptions::new().hedge(), judge, |_| {
        request.attempt();
        link.send()
    });
    answer.await.is_ok()
}

fn judge(result: Result<&StatusCode, &io::Error>) -> Ending {
    match result {
        Ok(&StatusCode::OK) => Ending::success(),
        Ok(_) => Ending::overload(),
        Err(_) => Ending::failure(),
    }
}
