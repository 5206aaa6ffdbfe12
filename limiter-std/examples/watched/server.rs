//! The server: a few workers, a route that waits for its turn, one that does not, and a store that it calls.

use anyhow::Result;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use limiter_std::http::{Head, LimiterLayer};
use limiter_std::law::Fixed;
use limiter_std::telemetry::Monitor;
use limiter_std::{
    BreakerConfig, CallOptions, Config, Dependency, DependencyConfig, Ending, Guarantee, Limiter,
    Partitions, Request, Tokio,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

/// What the server can do at once, and how long one request takes it: 400 a second.
const WORKERS: usize = 8;
const WORK: Duration = Duration::from_millis(20);
/// What one may wait for a slot.
const PATIENCE: Duration = Duration::from_millis(300);

/// What requests share.
#[derive(Clone)]
pub(crate) struct Site {
    api: Limiter,
    reports: Limiter<Fixed>,
    store: Dependency,
    /// Others that a large service has, with nothing to do.
    more: Vec<Limiter>,
    workers: Arc<Semaphore>,
    /// The store has a bad time.
    pub(crate) bad: Arc<AtomicBool>,
}

impl Site {
    pub(crate) fn new(more: usize) -> Result<Site> {
        let breaker = BreakerConfig::new().open(Duration::from_secs(2), Duration::from_secs(8));
        let store = DependencyConfig::default().breaker(breaker).attempts(3);
        Ok(Site {
            // Writes have three tenths of the limit, however many reads there are.
            api: Limiter::partitioned(
                Config::default(),
                &Partitions::new()
                    .partition("reads", Guarantee::NONE)
                    .partition("writes", Guarantee::of(300)),
            )?,
            reports: Limiter::try_new(Config::new(Fixed).initial(2).without_queue())?,
            store: Dependency::try_new(store)?,
            more: (0..more).map(|_| Limiter::default()).collect(),
            workers: Arc::new(Semaphore::new(WORKERS)),
            bad: Arc::new(AtomicBool::new(false)),
        })
    }

    pub(crate) fn watch(&self, monitor: &Monitor) {
        monitor
            .limiter("api", &self.api)
            .limiter("reports", &self.reports)
            .dependency("store", &self.store);
        for (number, limiter) in self.more.iter().enumerate() {
            monitor.limiter(format!("tenant {number} <&>"), limiter);
        }
    }

    pub(crate) fn routes(&self) -> Result<Router> {
        let (reads, writes) = (self.api.partition("reads")?, self.api.partition("writes")?);
        let api = LimiterLayer::new(self.api.clone())
            .wait_until(|| tokio::time::sleep(PATIENCE))
            .describe(move |head: &Head<'_>| {
                let safe = head.method.is_safe();
                Request::new().partition(if safe { reads } else { writes })
            });
        let reports = LimiterLayer::new(self.reports.clone());
        let api = Router::new()
            .route("/orders", get(orders).post(orders))
            .layer(api);
        let reports = Router::new().route("/report", get(report)).layer(reports);
        Ok(api.merge(reports).with_state(self.clone()))
    }

    async fn work(&self, times: u32) {
        // It is never closed.
        let worker = self.workers.acquire().await;
        tokio::time::sleep(WORK * times).await;
        drop(worker);
    }
}

async fn orders(State(site): State<Site>) -> Result<&'static str, StatusCode> {
    site.work(1).await;
    let bad = Arc::clone(&site.bad);
    let asked = site.store.call_async(
        Tokio,
        CallOptions::new(),
        |result| match result {
            Ok(_) => Ending::success(),
            Err(()) => Ending::failure(),
        },
        move |_| {
            let bad = bad.load(Ordering::Relaxed) && fastrand::u8(..) < 200;
            async move {
                tokio::time::sleep(Duration::from_millis(if bad { 40 } else { 5 })).await;
                if bad { Err(()) } else { Ok("rows") }
            }
        },
    );
    asked.await.map_err(|_| StatusCode::BAD_GATEWAY)
}

async fn report(State(site): State<Site>) -> &'static str {
    site.work(5).await;
    "a long answer"
}
