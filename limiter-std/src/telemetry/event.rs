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
        /// Slots taken; where nobody waits, the most since the open window began.
        inflight: u32,
        /// Slots that are guaranteed to partitions and not in use: nobody else has them.
        idle: u32,
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
        /// Slots that are guaranteed to partitions and not in use.
        idle: u32,
        /// The limit in force.
        limit: u32,
    },
    /// Requests would be refused, by a limiter that [only watches](crate::Config::watch_only), and are let through.
    WouldShed {
        /// For what most of them would be.
        reason: &'static str,
        /// Slots taken.
        inflight: u32,
        /// Slots that are guaranteed to partitions and not in use.
        idle: u32,
        /// The limit in force.
        limit: u32,
    },
    /// None of these holds any more.
    Recovered {
        /// Requests refused since the first of them began.
        refused: usize,
        /// Requests let through since then that would have been refused: while it only watched.
        would_refuse: usize,
        /// How long it took from the first of them.
        lasted: Duration,
    },
    /// The limiter only watches from now on, or did so when it was first looked at: nobody is refused.
    Watching,
    /// It only watched, and refuses from now on.
    Enforcing,
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
    /// Attempts come back refused by a limit of the dependency's own.
    DependencyRefuses,
    /// None has for a while.
    DependencyAccepts,
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
    pub const NAMES: [&'static str; 16] = [
        "queue_building",
        "saturated",
        "shedding",
        "would_shed",
        "recovered",
        "watching",
        "enforcing",
        "limit_moved",
        "closed",
        "dependency_refuses",
        "dependency_accepts",
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
            Self::WouldShed { .. } => 3,
            Self::Recovered { .. } => 4,
            Self::Watching => 5,
            Self::Enforcing => 6,
            Self::LimitMoved { .. } => 7,
            Self::Closed => 8,
            Self::DependencyRefuses => 9,
            Self::DependencyAccepts => 10,
            Self::BreakerOpened => 11,
            Self::BreakerHalfOpen => 12,
            Self::BreakerClosed => 13,
            Self::BudgetEmpty => 14,
            Self::BudgetCovers => 15,
        }]
    }

    /// Whether somebody should look: something got worse.
    pub const fn is_bad(&self) -> bool {
        matches!(
            self,
            Self::QueueBuilding { .. }
                | Self::Saturated { .. }
                | Self::Shedding { .. }
                | Self::DependencyRefuses
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
                idle,
                limit,
            } => {
                match waiting {
                    0 => f.write_str("limit nearly reached: ")?,
                    _ => write!(f, "queue building: {waiting} wait, ")?,
                }
                slots(f, *inflight, *idle, *limit)
            }
            Self::Saturated { utilisation, limit } => write!(
                f,
                "saturated: {}.{} % of the limit of {limit} in use",
                utilisation / 10,
                utilisation % 10
            ),
            Self::Shedding {
                reason,
                inflight,
                idle,
                limit,
            } => {
                write!(f, "refusing: {reason}, ")?;
                slots(f, *inflight, *idle, *limit)
            }
            Self::WouldShed {
                reason,
                inflight,
                idle,
                limit,
            } => {
                write!(f, "would refuse, but only watches: {reason}, ")?;
                slots(f, *inflight, *idle, *limit)
            }
            Self::Recovered {
                refused,
                would_refuse,
                lasted,
            } => match (refused, would_refuse) {
                (0, 0) => write!(f, "recovered: refused nobody in {lasted:.1?}"),
                (_, 0) => write!(
                    f,
                    "recovered: refused {refused} in {lasted:.1?} and stopped"
                ),
                (0, _) => write!(
                    f,
                    "recovered: would have refused {would_refuse} in {lasted:.1?} and stopped"
                ),
                _ => write!(
                    f,
                    "recovered: refused {refused}, and would have refused {would_refuse} while it only watched, in \
                     {lasted:.1?} and stopped"
                ),
            },
            Self::Watching => f.write_str("only watches: refuses nobody"),
            Self::Enforcing => f.write_str("enforces: refuses what it only watched"),
            Self::LimitMoved { from, to, reason } => {
                write!(f, "limit {from} -> {to}: {reason:?}")
            }
            Self::Closed => f.write_str("closed"),
            Self::DependencyRefuses => f.write_str("the dependency refuses by a limit of its own"),
            Self::DependencyAccepts => f.write_str("the dependency refuses no more"),
            Self::BreakerOpened => f.write_str("breaker opened"),
            Self::BreakerHalfOpen => f.write_str("breaker half open"),
            Self::BreakerClosed => f.write_str("breaker closed"),
            Self::BudgetEmpty => f.write_str("retry budget empty"),
            Self::BudgetCovers => f.write_str("retry budget covers retries again"),
        }
    }
}

/// As a refusal tells them.
fn slots(f: &mut fmt::Formatter<'_>, inflight: u32, idle: u32, limit: u32) -> fmt::Result {
    write!(f, "{inflight} in flight, ")?;
    if idle != 0 {
        write!(f, "{idle} idle of what is guaranteed to partitions, ")?;
    }
    write!(f, "limit {limit}")
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
    /// It is of a limiter that [only watches](crate::Config::watch_only).
    pub watches_only: bool,
}

impl Event<'_> {
    /// Whether somebody should look: [something got worse](Edge::is_bad), and not the limit of one that only watches,
    /// which hurts nobody.
    pub const fn is_bad(&self) -> bool {
        let of_the_limit = matches!(
            self.edge,
            Edge::QueueBuilding { .. } | Edge::Saturated { .. }
        );
        self.edge.is_bad() && !(self.watches_only && of_the_limit)
    }
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

    /// A source is not looked at any more: it is gone, was forgotten, or another has taken its name, whose counts begin
    /// anew. Told before what is seen of that one.
    fn gone(&mut self, source: &str) {
        let _ = source;
    }
}

impl<F: FnMut(&Event<'_>) + Send> Observer for F {
    fn edge(&mut self, event: &Event<'_>) {
        self(event);
    }
}
