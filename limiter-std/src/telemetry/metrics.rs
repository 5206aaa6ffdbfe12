//! Publishing to the `metrics` facade.

mod names;

pub use names::{ALL, Kind, Metric};

use super::source::refused;
use super::{DependencySeen, Event, LimiterCounts, LimiterSeen, Observer, Seen};
use crate::{PartitionSnapshot, Watched};
use ::metrics::{SharedString, counter, gauge};
use core::time::Duration;
use limiter_core::{BreakerState, Tokens};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// How often gauges and counters are written: scrapers come every 15 s or so.
const PUBLISH_EVERY: Duration = Duration::from_secs(1);

/// An [`Observer`] that publishes what a monitor sees to the recorder of the [`metrics`] facade, once a
/// second for each source, and edges as they come.
///
/// No request ever reaches the recorder. Counters are read off the library's own and set to them.
///
/// ```
/// use limiter_std::{Limiter, telemetry::{Metrics, Monitor}};
///
/// let limiter = Limiter::default();
/// let monitor = Monitor::new();
/// monitor.limiter("api", &limiter).observe(Metrics::new());
/// // With a recorder installed, from here on: `monitor.start()`.
/// monitor.look();
/// ```
#[doc = include_str!("metrics/table.md")]
#[derive(Debug)]
pub struct Metrics {
    published: HashMap<String, Instant>,
}

impl Metrics {
    /// Describes the metrics to the recorder that is installed by now.
    pub fn new() -> Self {
        for metric in ALL {
            metric.describe();
        }
        Self {
            published: HashMap::new(),
        }
    }

    fn is_due(&mut self, source: &str) -> bool {
        let now = Instant::now();
        match self.published.get_mut(source) {
            Some(last) if now.duration_since(*last) < PUBLISH_EVERY => false,
            Some(last) => {
                *last = now;
                true
            }
            None => {
                self.published.insert(source.to_owned(), now);
                true
            }
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Observer for Metrics {
    fn edge(&mut self, event: &Event<'_>) {
        let source = event.source.to_owned();
        counter!(names::EDGES, "limiter" => source, "edge" => event.edge.name()).increment(1);
    }

    fn seen(&mut self, source: &str, seen: &Seen) {
        if !self.is_due(source) {
            return;
        }
        let source = Named(source.to_owned().into());
        if let Some(limiter) = &seen.limiter {
            source.limiter(limiter);
        }
        if let Some(counts) = &seen.requests {
            source.requests(counts);
        }
        for (reason, count) in seen.watched.iter().flat_map(Watched::by_reason) {
            source.counter(names::WOULD_REFUSE, "reason", reason, count);
        }
        for partition in &seen.partitions {
            source.partition(partition);
        }
        if let Some(dependency) = &seen.dependency {
            source.dependency(dependency);
        }
        if let Some(budget) = &seen.budget {
            source.gauge(names::BUDGET_BALANCE, tokens(budget.balance));
            source.gauge(names::BUDGET_CAPACITY, tokens(budget.capacity));
        }
        if let Some(breaker) = seen.breaker {
            for (state, holds) in [
                ("closed", breaker == BreakerState::Closed),
                ("open", matches!(breaker, BreakerState::Open { .. })),
                ("half_open", breaker == BreakerState::HalfOpen),
            ] {
                source.flag(names::BREAKER_STATE, "state", state, holds);
            }
        }
        let overload = seen.overload;
        for (state, holds) in [
            ("queue_building", overload.queue_building),
            ("saturated", overload.saturated),
            ("shedding", overload.shedding),
            ("would_shed", overload.would_shed),
            ("dependency_refuses", overload.dependency_refuses),
            ("budget_empty", overload.budget_empty),
            ("watches_only", seen.watches_only),
        ] {
            source.flag(names::STATE, "state", state, holds);
        }
    }
}

/// The name of a source, as a label.
struct Named(SharedString);

impl Named {
    fn limiter(&self, seen: &LimiterSeen) {
        let snapshot = &seen.snapshot;
        self.gauge(names::LIMIT, snapshot.limit);
        self.gauge(names::INFLIGHT, snapshot.inflight);
        self.gauge(names::PEAK, seen.peak);
        self.gauge(names::IDLE, seen.snapshot.idle);
        self.gauge(names::UTILISATION, f64::from(seen.utilisation) / 1e3);
        self.gauge(names::QUEUE_LENGTH, seen.waiting as f64);
        self.gauge(names::QUEUE_OLDEST, seen.oldest.as_secs_f64());
        self.gauge(names::RTT, seen.rtt.as_secs_f64());
        counter!(names::CUTS, "limiter" => self.0.clone()).absolute(seen.cuts as u64);
    }

    fn requests(&self, counts: &LimiterCounts) {
        counter!(names::ADMITTED, "limiter" => self.0.clone()).absolute(counts.admitted as u64);
        for (outcome, count) in [
            ("success", counts.succeeded),
            ("overload", counts.overloaded),
            ("failure", counts.failed),
            ("ignored", counts.ignored),
            ("cancelled", counts.cancelled),
        ] {
            self.counter(names::OUTCOMES, "outcome", outcome, count);
        }
        for (reason, count) in counts.refused.by_reason() {
            self.counter(names::REFUSED, "reason", reason, count);
        }
    }

    fn partition(&self, partition: &PartitionSnapshot) {
        let (name, seen) = (&partition.name, &partition.seen);
        let inflight = seen.inflight.saturating_add(seen.pooled);
        for (metric, value) in [
            (names::PARTITION_QUOTA, seen.quota.into()),
            (names::PARTITION_INFLIGHT, inflight.into()),
            (names::PARTITION_QUEUE, partition.queued as f64),
        ] {
            gauge!(metric, "limiter" => self.0.clone(), "partition" => Arc::clone(name)).set(value);
        }
        for (metric, count) in [
            (names::PARTITION_SUCCEEDED, seen.successes),
            (
                names::PARTITION_FAILED,
                seen.overloads.wrapping_add(seen.failures),
            ),
        ] {
            let labels = [
                ("limiter", self.0.clone()),
                ("partition", SharedString::from(Arc::clone(name))),
            ];
            counter!(metric, &labels).absolute(count.into());
        }
    }

    fn dependency(&self, seen: &DependencySeen) {
        let counts = &seen.counts;
        for (end, count) in [
            ("succeeded", counts.succeeded),
            ("gave_up", counts.gave_up),
            ("dropped", counts.dropped),
        ] {
            self.counter(names::CALLS, "end", end, count);
        }
        let first = counts
            .attempts
            .wrapping_sub(counts.retries)
            .wrapping_sub(counts.hedges);
        for (kind, count) in [
            ("first", first),
            ("retry", counts.retries),
            ("hedge", counts.hedges),
        ] {
            self.counter(names::ATTEMPTS, "kind", kind, count);
        }
        for (name, count) in [
            (names::TIMEOUTS, counts.timeouts),
            (names::REFUSALS, counts.refused_by_dependency),
        ] {
            counter!(name, "limiter" => self.0.clone()).absolute(count as u64);
        }
        for (by, count) in refused(counts) {
            self.counter(names::CALLS_REFUSED, "by", by, count);
        }
        self.counter(
            names::CALLS_REFUSED,
            "by",
            "budget",
            counts.refused_by_budget,
        );
        counter!(names::BREAKER_OPENED, "limiter" => self.0.clone()).absolute(counts.opened as u64);
        self.gauge(names::BACKING_OFF, seen.backing_off);
        self.gauge(names::TIMEOUT, seen.timeout.as_secs_f64());
        self.gauge(names::THROTTLED, f64::from(seen.throttled) / 1e3);
    }

    fn gauge(&self, name: &'static str, value: impl Into<f64>) {
        gauge!(name, "limiter" => self.0.clone()).set(value.into());
    }

    fn flag(&self, name: &'static str, label: &'static str, value: &'static str, holds: bool) {
        gauge!(name, "limiter" => self.0.clone(), label => value).set(f64::from(u8::from(holds)));
    }

    fn counter(&self, name: &'static str, label: &'static str, value: &'static str, count: usize) {
        counter!(name, "limiter" => self.0.clone(), label => value).absolute(count as u64);
    }
}

fn tokens(tokens: Tokens) -> f64 {
    f64::from(tokens.get()) / f64::from(Tokens::ONE.get())
}
