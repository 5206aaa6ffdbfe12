//! The sections of a file. What is left out has its default.

use super::time;
use crate::wait::{DEFAULT_INTERVAL, DEFAULT_TARGET};
use crate::{DEFAULT_LONGEST_WAIT, DEFAULT_QUEUE_LENGTH};
use core::time::Duration;
use serde::Deserialize;

/// A file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The limit.
    pub limiter: Limit,
    /// What is around the limit of a dependency.
    pub dependency: Dependence,
}

/// `[limiter]`: the parameters of [`Config`](crate::Config).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limit {
    /// Which law moves the limit.
    pub law: Law,
    /// The limit to start from; changed while running, the limit to go on from.
    pub initial: u32,
    /// The smallest limit.
    pub min: u32,
    /// The largest limit.
    pub max: u32,
    /// How many successes a window needs.
    pub min_samples: u32,
    /// The share of overloads that is normal, per mille.
    pub overload_tolerance: u32,
    /// After so many overloads a share far above that cuts at once.
    pub urgent_overloads: u32,
    /// How long windows are.
    pub windows: Windows,
    /// What each class may use.
    pub shares: SharesOfClasses,
    /// Who may wait.
    pub queue: Queue,
}

impl Default for Limit {
    fn default() -> Self {
        Self {
            law: Law::Knee,
            initial: 10,
            min: 1,
            max: 1_000,
            min_samples: 10,
            overload_tolerance: 20,
            urgent_overloads: 5,
            windows: Windows::default(),
            shares: SharesOfClasses::default(),
            queue: Queue::default(),
        }
    }
}

/// The shipped laws, with the parameters of their authors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// The limit stays.
    Fixed,
    /// Additive increase, multiplicative decrease.
    Aimd,
    /// By an estimate of the queue.
    Vegas,
    /// By the ratio of RTTs.
    Gradient,
    /// By the elasticity of throughput.
    Knee,
}

/// `[limiter.windows]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Windows {
    /// The shortest.
    #[serde(deserialize_with = "time")]
    pub shortest: Duration,
    /// The longest.
    #[serde(deserialize_with = "time")]
    pub longest: Duration,
}

impl Default for Windows {
    fn default() -> Self {
        Self {
            shortest: Duration::from_millis(10),
            longest: Duration::from_secs(1),
        }
    }
}

/// `[limiter.shares]`, per mille of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SharesOfClasses {
    /// Of [`Interactive`](crate::Priority::Interactive).
    pub interactive: u16,
    /// Of [`Batch`](crate::Priority::Batch).
    pub batch: u16,
    /// Of [`BestEffort`](crate::Priority::BestEffort).
    pub best_effort: u16,
}

impl Default for SharesOfClasses {
    fn default() -> Self {
        Self {
            interactive: 900,
            batch: 700,
            best_effort: 500,
        }
    }
}

/// `[limiter.queue]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Queue {
    /// How many may wait.
    pub length: u32,
    /// How long one may wait.
    #[serde(deserialize_with = "time")]
    pub longest_wait: Duration,
    /// The delay that may stand.
    #[serde(deserialize_with = "time")]
    pub target: Duration,
    /// For how long it is watched.
    #[serde(deserialize_with = "time")]
    pub interval: Duration,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            length: DEFAULT_QUEUE_LENGTH,
            longest_wait: DEFAULT_LONGEST_WAIT,
            target: DEFAULT_TARGET,
            interval: DEFAULT_INTERVAL,
        }
    }
}

/// `[dependency]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dependence {
    /// The most attempts of a call.
    pub attempts: u32,
    /// How long a call may take in all.
    #[serde(deserialize_with = "time")]
    pub total: Duration,
    /// For retries, hedges and fallbacks.
    pub budget: Budget,
}

impl Default for Dependence {
    fn default() -> Self {
        Self {
            attempts: 3,
            total: Duration::from_secs(10),
            budget: Budget::default(),
        }
    }
}

/// `[dependency.budget]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// The most that is saved up, in thousandths of a retry.
    pub capacity_milli: u32,
    /// Retries per first attempts, per mille.
    pub ratio: u32,
    /// What time adds in each period, in thousandths of a retry.
    pub floor_milli: u32,
    /// The period.
    #[serde(deserialize_with = "time")]
    pub floor_period: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            capacity_milli: 10_000,
            ratio: 100,
            floor_milli: 1_000,
            floor_period: Duration::from_secs(10),
        }
    }
}
