//! What is published of a source: in the same order each time.

use super::names;
use crate::telemetry::source::refused;
use crate::telemetry::{DependencySeen, LimiterCounts, LimiterSeen, Seen};
use crate::{PartitionSnapshot, Watched};
use ::metrics::SharedString;
use limiter_core::{BreakerState, Tokens};
use std::sync::Arc;

/// The label beside that of the source.
pub(super) type Labels = Option<(&'static str, SharedString)>;

/// A count of the library's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Full(usize),
    /// One that wraps at 32 bits.
    Short(u32),
}

impl Count {
    pub(super) fn get(self) -> u64 {
        match self {
            Self::Full(count) => count as u64,
            Self::Short(count) => count.into(),
        }
    }

    /// How much was counted since then; nothing where a difference of two counts, read one after the other, fell.
    pub(super) fn since(self, before: Self) -> u64 {
        let (new, most) = match (self, before) {
            (Self::Full(count), Self::Full(before)) => {
                (count.wrapping_sub(before) as u64, usize::MAX as u64)
            }
            (Self::Short(count), Self::Short(before)) => {
                (count.wrapping_sub(before).into(), u32::MAX.into())
            }
            // Of one metric they are alike.
            _ => return 0,
        };
        if new > most / 2 { 0 } else { new }
    }
}

struct List<T>(Vec<(&'static str, Labels, T)>);

impl<T> List<T> {
    fn add(&mut self, metric: &'static str, value: T) {
        self.0.push((metric, None, value));
    }

    fn add_of(
        &mut self,
        metric: &'static str,
        (label, name): (&'static str, impl Into<SharedString>),
        value: T,
    ) {
        self.0.push((metric, Some((label, name.into())), value));
    }
}

/// All gauges.
pub(super) fn gauges(seen: &Seen) -> Vec<(&'static str, Labels, f64)> {
    let mut list = List(Vec::new());
    if let Some(limiter) = &seen.limiter {
        list.limiter(limiter);
    }
    for partition in &seen.partitions {
        list.partition(partition);
    }
    if let Some(dependency) = &seen.dependency {
        list.add(names::BACKING_OFF, dependency.backing_off.into());
        list.add(names::TIMEOUT, dependency.timeout.as_secs_f64());
        list.add(names::THROTTLED, f64::from(dependency.throttled) / 1e3);
    }
    if let Some(budget) = &seen.budget {
        list.add(names::BUDGET_BALANCE, tokens(budget.balance));
        list.add(names::BUDGET_CAPACITY, tokens(budget.capacity));
    }
    if let Some(breaker) = seen.breaker {
        for (state, holds) in [
            ("closed", breaker == BreakerState::Closed),
            ("open", matches!(breaker, BreakerState::Open { .. })),
            ("half_open", breaker == BreakerState::HalfOpen),
        ] {
            list.flag(names::BREAKER_STATE, state, holds);
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
        list.flag(names::STATE, state, holds);
    }
    list.0
}

impl List<f64> {
    fn limiter(&mut self, seen: &LimiterSeen) {
        let snapshot = &seen.snapshot;
        self.add(names::LIMIT, snapshot.limit.into());
        self.add(names::INFLIGHT, snapshot.inflight.into());
        self.add(names::PEAK, seen.peak.into());
        self.add(names::IDLE, snapshot.idle.into());
        self.add(names::UTILISATION, f64::from(seen.utilisation) / 1e3);
        self.add(names::QUEUE_LENGTH, seen.waiting as f64);
        self.add(names::QUEUE_OLDEST, seen.oldest.as_secs_f64());
        self.add(names::RTT, seen.rtt.as_secs_f64());
    }

    fn partition(&mut self, partition: &PartitionSnapshot) {
        let seen = &partition.seen;
        let inflight = seen.inflight.saturating_add(seen.pooled);
        for (metric, value) in [
            (names::PARTITION_QUOTA, seen.quota.into()),
            (names::PARTITION_INFLIGHT, inflight.into()),
            (names::PARTITION_QUEUE, partition.queued as f64),
        ] {
            self.add_of(metric, ("partition", Arc::clone(&partition.name)), value);
        }
    }

    fn flag(&mut self, metric: &'static str, state: &'static str, holds: bool) {
        self.add_of(metric, ("state", state), f64::from(u8::from(holds)));
    }
}

/// All counters.
pub(super) fn counts(seen: &Seen) -> Vec<(&'static str, Labels, Count)> {
    let mut list = List(Vec::new());
    if let Some(limiter) = &seen.limiter {
        list.add(names::CUTS, Count::Full(limiter.cuts));
    }
    if let Some(counts) = &seen.requests {
        list.requests(counts);
    }
    for (reason, count) in seen.watched.iter().flat_map(Watched::by_reason) {
        list.full_of(names::WOULD_REFUSE, ("reason", reason), count);
    }
    for partition in &seen.partitions {
        let seen = &partition.seen;
        let failed = seen.overloads.wrapping_add(seen.failures);
        for (metric, count) in [
            (names::PARTITION_SUCCEEDED, seen.successes),
            (names::PARTITION_FAILED, failed),
        ] {
            let of = ("partition", Arc::clone(&partition.name));
            list.add_of(metric, of, Count::Short(count));
        }
    }
    if let Some(dependency) = &seen.dependency {
        list.dependency(dependency);
    }
    list.0
}

impl List<Count> {
    fn requests(&mut self, counts: &LimiterCounts) {
        self.add(names::ADMITTED, Count::Full(counts.admitted));
        for (outcome, count) in [
            ("success", counts.succeeded),
            ("overload", counts.overloaded),
            ("failure", counts.failed),
            ("ignored", counts.ignored),
            ("cancelled", counts.cancelled),
        ] {
            self.full_of(names::OUTCOMES, ("outcome", outcome), count);
        }
        for (reason, count) in counts.refused.by_reason() {
            self.full_of(names::REFUSED, ("reason", reason), count);
        }
    }

    fn dependency(&mut self, seen: &DependencySeen) {
        let counts = &seen.counts;
        for (end, count) in [
            ("succeeded", counts.succeeded),
            ("gave_up", counts.gave_up),
            ("dropped", counts.dropped),
        ] {
            self.full_of(names::CALLS, ("end", end), count);
        }
        let further = counts.retries.wrapping_add(counts.hedges);
        for (kind, count) in [
            // Read one after the other, so that there may be one too many.
            ("first", counts.attempts.saturating_sub(further)),
            ("retry", counts.retries),
            ("hedge", counts.hedges),
        ] {
            self.full_of(names::ATTEMPTS, ("kind", kind), count);
        }
        self.add(names::TIMEOUTS, Count::Full(counts.timeouts));
        self.add(names::REFUSALS, Count::Full(counts.refused_by_dependency));
        let budget = ("budget", counts.refused_by_budget);
        for (by, count) in refused(counts).into_iter().chain([budget]) {
            self.full_of(names::CALLS_REFUSED, ("by", by), count);
        }
        self.add(names::BREAKER_OPENED, Count::Full(counts.opened));
    }

    fn full_of(&mut self, metric: &'static str, of: (&'static str, &'static str), count: usize) {
        self.add_of(metric, of, Count::Full(count));
    }
}

fn tokens(tokens: Tokens) -> f64 {
    f64::from(tokens.get()) / f64::from(Tokens::ONE.get())
}

#[cfg(test)]
mod tests {
    use super::Count;

    #[test]
    fn a_count_that_wraps_goes_on() {
        let short = Count::Short(5).since(Count::Short(u32::MAX - 10));
        let full = Count::Full(5).since(Count::Full(usize::MAX - 10));
        assert_eq!((short, full), (16, 16));
        assert_eq!(Count::Full(9).since(Count::Full(10)), 0);
    }
}
