//! What a monitor reports: edges, and whom it reports them to.

use super::Seen;
use core::fmt;
use core::time::Duration;
use limiter_core::law::Reason;
use std::time::SystemTime;

/// Something began, or is over. Never one for each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Edge {
    /// Somebody waits for a slot, or less than an eighth of the limit is left: the next requests wait longer, or
    /// are refused.
    QueueBuilding {
        /// How many wait.
        waiting: usize,
        /// Slots taken.
        inflight: u32,
        /// The limit in force.
        limit: u32,
    },
    /// Nearly all of the limit has been in use for a second: more of the service is needed.
    Saturated {
        /// Mean share of the limit in use, per mille.
        utilisation: u32,
        /// The limit in force.
        limit: u32,
    },
    /// Requests are refused.
    Shedding {
        /// For what most of them were.
        reason: &'static str,
        /// Slots taken.
        inflight: u32,
        /// The limit in force.
        limit: u32,
        /// The limiter [only watches](crate::Config::watch_only): they would be, and are let through.
        watches_only: bool,
    },
    /// None of these holds any more.
    Recovered {
        /// Requests refused since the first of them began.
        refused: usize,
        /// How long it took from the first of them.
        lasted: Duration,
        /// The limiter only watches: they would have been, and were let through.
        watches_only: bool,
    },
    /// The limit moved by a quarter or more, measured over seconds: not the steps by which a law measures.
    LimitMoved {
        /// The limit last reported.
        from: u32,
        /// The limit now.
        to: u32,
        /// The decision that moved it last.
        reason: Reason,
    },
    /// The limiter was closed.
    Closed,
    /// The breaker opened.
    BreakerOpened,
    /// The breaker lets a few probes through.
    BreakerHalfOpen,
    /// The breaker closed.
    BreakerClosed,
    /// The budget covers no retry any more.
    BudgetEmpty,
    /// The budget covers retries again.
    BudgetCovers,
}

impl Edge {
    /// All names, as [`name`](Edge::name) gives them.
    pub const NAMES: [&'static str; 11] = [
        "queue_building",
        "saturated",
        "shedding",
        "recovered",
        "limit_moved",
        "closed",
        "breaker_opened",
        "breaker_half_open",
        "breaker_closed",
        "budget_empty",
        "budget_covers",
    ];

    /// A short name, for labels.
    pub const fn name(&self) -> &'static str {
        Self::NAMES[match self {
            Self::QueueBuilding { .. } => 0,
            Self::Saturated { .. } => 1,
            Self::Shedding { .. } => 2,
            Self::Recovered { .. } => 3,
            Self::LimitMoved { .. } => 4,
            Self::Closed => 5,
            Self::BreakerOpened => 6,
            Self::BreakerHalfOpen => 7,
            Self::BreakerClosed => 8,
            Self::BudgetEmpty => 9,
            Self::BudgetCovers => 10,
        }]
    }

    /// Whether somebody should look: something got worse.
    pub const fn is_bad(&self) -> bool {
        matches!(
            self,
            Self::QueueBuilding { .. }
                | Self::Saturated { .. }
                | Self::Shedding { .. }
                | Self::BreakerOpened
                | Self::BudgetEmpty
        )
    }
}

/// One line for a log, in the words of `limiter-embassy`.
impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QueueBuilding {
                waiting,
                inflight,
                limit,
            } => write!(
                f,
                "queue building: {waiting} wait, {inflight} in flight, limit {limit}"
            ),
            Self::Saturated { utilisation, limit } => write!(
                f,
                "saturated: {}.{} % of the limit of {limit} in use",
                utilisation / 10,
                utilisation % 10
            ),
            Self::Shedding {
                reason,
                inflight,
                limit,
                watches_only,
            } => {
                let refuses = if *watches_only {
                    "would refuse, but only watches"
                } else {
                    "refusing"
                };
                write!(
                    f,
                    "{refuses}: {reason}, {inflight} in flight, limit {limit}"
                )
            }
            Self::Recovered {
                refused,
                lasted,
                watches_only,
            } => {
                let would = if *watches_only { "would have " } else { "" };
                match refused {
                    0 => write!(f, "recovered: {would}refused nobody in {lasted:.1?}"),
                    _ => write!(
                        f,
                        "recovered: {would}refused {refused} in {lasted:.1?} and stopped"
                    ),
                }
            }
            Self::LimitMoved { from, to, reason } => {
                write!(f, "limit {from} -> {to}: {reason:?}")
            }
            Self::Closed => f.write_str("closed"),
            Self::BreakerOpened => f.write_str("breaker opened"),
            Self::BreakerHalfOpen => f.write_str("breaker half open"),
            Self::BreakerClosed => f.write_str("breaker closed"),
            Self::BudgetEmpty => f.write_str("retry budget empty"),
            Self::BudgetCovers => f.write_str("retry budget covers retries again"),
        }
    }
}

/// An edge, where and when.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Event<'a> {
    /// The name that the source was registered by.
    pub source: &'a str,
    /// When it was seen.
    pub at: SystemTime,
    /// What began, or is over.
    pub edge: Edge,
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.edge)
    }
}

/// Is told what a [`Monitor`](super::Monitor) sees. Closures of an [`Event`] are observers.
///
/// It is called by whoever looks, the monitor's thread, and never by a request, under none of the library's locks:
/// it may log, allocate and block, which delays the next look and nobody else. One that panics is not called again.
///
/// ```
/// use limiter_std::telemetry::{Event, Monitor, Observer, Seen};
///
/// /// Counts what is refused, its own way.
/// struct Mine;
///
/// impl Observer for Mine {
///     fn edge(&mut self, event: &Event<'_>) {
///         println!("{event}");
///     }
///
///     fn seen(&mut self, source: &str, seen: &Seen) {
///         if let Some(counts) = seen.requests {
///             println!("{source}: {} refused so far", counts.refused.total());
///         }
///     }
/// }
///
/// let monitor = Monitor::new();
/// monitor.observe(Mine);
/// monitor.observe(|event: &Event<'_>| eprintln!("{event}"));
/// ```
pub trait Observer: Send {
    /// Something began, or is over.
    fn edge(&mut self, event: &Event<'_>);

    /// What a source looks like; at each look, ten times a second.
    fn seen(&mut self, source: &str, seen: &Seen) {
        let _ = (source, seen);
    }
}

impl<F: FnMut(&Event<'_>) + Send> Observer for F {
    fn edge(&mut self, event: &Event<'_>) {
        self(event);
    }
}
