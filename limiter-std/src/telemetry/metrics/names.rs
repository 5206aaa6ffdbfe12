//! What is published: names, units, labels.
//!
//! Names are those of Prometheus' conventions (base units, `_total` for counters, `_ratio` for shares of one), which
//! the exporters of other systems take as they are.

use ::metrics::{Unit, describe_counter, describe_gauge};

/// Whether a metric goes up and down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Goes up only, until the process starts anew.
    Counter,
    /// Goes up and down.
    Gauge,
}

/// One metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// Whether it goes up and down.
    pub kind: Kind,
    /// The label beside `limiter`, which is the name that the source was registered by.
    pub label: Option<&'static str>,
    /// Whose it is, and what it says.
    pub says: &'static str,
    unit: Unit,
}

impl Metric {
    pub(super) fn describe(&self) {
        match self.kind {
            Kind::Counter => describe_counter!(self.name, self.unit, self.says),
            Kind::Gauge => describe_gauge!(self.name, self.unit, self.says),
        }
    }
}

macro_rules! metrics {
    ($($constant:ident = $name:literal, $kind:ident, $unit:ident, $label:expr, $says:literal;)*) => {
        $(pub(super) const $constant: &str = $name;)*

        /// All that is published.
        pub const ALL: &[Metric] = &[$(Metric {
            name: $name,
            kind: Kind::$kind,
            label: $label,
            says: $says,
            unit: Unit::$unit,
        },)*];
    };
}

metrics! {
    LIMIT = "limiter_limit", Gauge, Count, None,
        "The limit in force, 0 when closed";
    INFLIGHT = "limiter_inflight", Gauge, Count, None,
        "Slots taken";
    PEAK = "limiter_inflight_peak", Gauge, Count, None,
        "The largest number of slots taken since the open window began";
    IDLE = "limiter_idle", Gauge, Count, None,
        "Slots that are guaranteed to partitions and not in use";
    UTILISATION = "limiter_utilisation_ratio", Gauge, Count, None,
        "Mean share in use over the last ten seconds of the limit without idle guarantees, 0 to 1; saturates first, for autoscalers";
    QUEUE_LENGTH = "limiter_queue_length", Gauge, Count, None,
        "Requests that wait for a slot";
    QUEUE_OLDEST = "limiter_queue_oldest_seconds", Gauge, Seconds, None,
        "How long the first of those who wait has waited";
    RTT = "limiter_rtt_seconds", Gauge, Seconds, None,
        "Mean time of a request in the last window that had enough";
    STATE = "limiter_state", Gauge, Count, Some("state"),
        "1 while it holds: queue_building, saturated, shedding, would_shed, dependency_refuses, budget_empty, watches_only";
    EDGES = "limiter_edges_total", Counter, Count, Some("edge"),
        "How often something began or was over";
    CUTS = "limiter_cuts_total", Counter, Count, None,
        "How often the limit was cut for overloads";
    ADMITTED = "limiter_admitted_total", Counter, Count, None,
        "Requests that got a slot";
    REFUSED = "limiter_refused_total", Counter, Count, Some("reason"),
        "Requests refused";
    WOULD_REFUSE = "limiter_would_refuse_total", Counter, Count, Some("reason"),
        "Requests that a limiter which only watches let through and would have refused; no part of the refused";
    OUTCOMES = "limiter_outcomes_total", Counter, Count, Some("outcome"),
        "How permits ended: success, overload, failure, ignored, cancelled";
    PARTITION_QUOTA = "limiter_partition_quota", Gauge, Count, Some("partition"),
        "Slots of a partition's own";
    PARTITION_INFLIGHT = "limiter_partition_inflight", Gauge, Count, Some("partition"),
        "Slots that a partition has, its own and of what is for everybody";
    PARTITION_QUEUE = "limiter_partition_queue_length", Gauge, Count, Some("partition"),
        "Requests of a partition that wait for a slot";
    PARTITION_SUCCEEDED = "limiter_partition_succeeded_total", Counter, Count, Some("partition"),
        "Permits of a partition that ended with success";
    PARTITION_FAILED = "limiter_partition_failed_total", Counter, Count, Some("partition"),
        "Permits of a partition that ended with overload or failure";
    CALLS = "limiter_calls_total", Counter, Count, Some("end"),
        "Calls to a dependency by their end: succeeded, gave_up, dropped";
    ATTEMPTS = "limiter_attempts_total", Counter, Count, Some("kind"),
        "Attempts that left: first, retry, hedge";
    TIMEOUTS = "limiter_attempt_timeouts_total", Counter, Count, None,
        "Attempts that ran out of their time";
    REFUSALS = "limiter_attempt_refusals_total", Counter, Count, None,
        "Attempts that the dependency refused by a limit of its own";
    CALLS_REFUSED = "limiter_calls_refused_total", Counter, Count, Some("by"),
        "Attempts that did not leave, by what refused them: limiter, breaker, throttle, budget";
    BACKING_OFF = "limiter_calls_backing_off", Gauge, Count, None,
        "Calls that wait to try again";
    TIMEOUT = "limiter_attempt_timeout_seconds", Gauge, Seconds, None,
        "How long the next attempt may last";
    THROTTLED = "limiter_throttled_ratio", Gauge, Count, None,
        "The share of requests that the throttle refuses";
    BUDGET_BALANCE = "limiter_budget_balance_tokens", Gauge, Count, None,
        "What is left for retries, hedges and fallbacks";
    BUDGET_CAPACITY = "limiter_budget_capacity_tokens", Gauge, Count, None,
        "The most that is saved up for them";
    BREAKER_STATE = "limiter_breaker_state", Gauge, Count, Some("state"),
        "1 for how the breaker stands: closed, open, half_open";
    BREAKER_OPENED = "limiter_breaker_opened_total", Counter, Count, None,
        "How often the breaker opened";
}
