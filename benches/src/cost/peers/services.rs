//! Limits as layers, around a service that is ready and answers at once.

use crate::cost::case::{Subject, subject};
use crate::cost::service::{Ready, make_ready, serve, serve_refusals};
use core::time::Duration;
use little_loadshedder::LoadShed as LittleLoadShed;
use tower::Layer;
use tower::limit::ConcurrencyLimit;
use tower::load_shed::LoadShed;
use tower_resilience::adaptive::{AdaptiveLimiterLayer, Aimd};
use tower_resilience::bulkhead::BulkheadLayer;

const SLOTS: usize = 10;

/// A fixed limit, where calls wait.
pub(crate) fn tower_limit() -> Box<dyn Subject> {
    subject(ConcurrencyLimit::new(Ready, SLOTS), serve)
}

/// A fixed limit that refuses.
pub(crate) fn tower() -> Box<dyn Subject> {
    let limit = ConcurrencyLimit::new(Ready, SLOTS);
    subject(LoadShed::new(limit), serve)
}

pub(crate) fn tower_refuse() -> Box<dyn Subject> {
    let limit = ConcurrencyLimit::new(Ready, 1);
    let mut holder = limit.clone();
    make_ready(&mut holder);
    core::mem::forget(holder);
    subject(LoadShed::new(limit), serve_refusals)
}

/// Holds a mean latency.
pub(crate) fn little_loadshedder() -> Box<dyn Subject> {
    let service = LittleLoadShed::new(Ready, 0.01, Duration::from_millis(100));
    subject(service, serve)
}

/// Adapts by every sample.
pub(crate) fn tower_resilience() -> Box<dyn Subject> {
    let law = Aimd::builder().build().expect("defaults");
    subject(AdaptiveLimiterLayer::new(law).layer(Ready), serve)
}

/// A fixed limit.
pub(crate) fn tower_resilience_bulkhead() -> Box<dyn Subject> {
    let layer = BulkheadLayer::builder()
        .max_concurrent_calls(SLOTS)
        .build()
        .expect("a number of calls");
    subject(layer.layer(Ready), serve)
}
