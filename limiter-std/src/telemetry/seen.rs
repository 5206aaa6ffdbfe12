//! What a source looked like at a look.

use super::{LimiterCounts, Overload};
use crate::{DependencyCounts, PartitionSnapshot, Watched};
use core::time::Duration;
use limiter_core::{BreakerState, Snapshot, Tokens};

/// What a source looked like at a look; what it does not have is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen {
    /// Of a limiter or a dependency.
    pub limiter: Option<LimiterSeen>,
    /// What a limiter counted.
    pub requests: Option<LimiterCounts>,
    /// The partitions of a limiter that has any.
    pub partitions: Vec<PartitionSnapshot>,
    /// A limiter [only watches](crate::Config::watch_only).
    pub watches_only: bool,
    /// What a limiter let through and would have refused, while it only watched.
    pub watched: Option<Watched>,
    /// Of a dependency.
    pub dependency: Option<DependencySeen>,
    /// Of a dependency or a breaker alone.
    pub breaker: Option<BreakerState>,
    /// Of a dependency or a budget alone.
    pub budget: Option<BudgetSeen>,
    /// Which edges began and are not over.
    pub overload: Overload,
}

/// The gauges of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimiterSeen {
    /// Of this moment.
    pub snapshot: Snapshot,
    /// Mean [utilisation](Snapshot::utilisation) over the last ten seconds, per mille, at most 1,000: the gauge that
    /// saturates first, fit for an autoscaler.
    pub utilisation: u32,
    /// The largest number in flight since the open window began; what is in flight while nothing is admitted.
    pub peak: u32,
    /// How many wait.
    pub waiting: usize,
    /// How long the first of them has waited.
    pub oldest: Duration,
    /// Mean RTT of the last window with enough samples, 0 before.
    pub rtt: Duration,
    /// How often the limit was cut for overloads since it was first looked at.
    pub cuts: usize,
}

/// The gauges and counts of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DependencySeen {
    /// What it counted.
    pub counts: DependencyCounts,
    /// The share of requests that the throttle refuses, per mille.
    pub throttled: u32,
    /// Calls that wait to try again.
    pub backing_off: u32,
    /// How long the next attempt may last.
    pub timeout: Duration,
}

/// The gauges of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetSeen {
    /// What is left.
    pub balance: Tokens,
    /// The most that is saved up.
    pub capacity: Tokens,
}
