//! The sections of a limiter. What is left out has its default.

use super::Dependence;
use super::laws::{AimdTerms, FixedTerms, GradientTerms, KneeTerms, Law, Terms, VegasTerms};
use super::values::{number_or_none, time, time_or_none};
use crate::wait::{DEFAULT_INTERVAL, DEFAULT_TARGET};
use crate::{Config, DEFAULT_BEYOND_MAY_USE, DEFAULT_LONGEST_WAIT, DEFAULT_QUEUE_LENGTH};
use core::time::Duration;
use limiter_core::law::AnyLaw;
use limiter_core::{ConfigError, Guarantee, Shares};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct Settings {
    /// The limit.
    pub limiter: Limit,
    /// What is around the limit of a dependency.
    pub dependency: Dependence,
}

/// `[limiter]`: the parameters of [`Config`](crate::Config).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct Limit {
    /// Which law moves the limit.
    pub law: Law,
    /// The limit to start from; changed while running, the limit to go on from. 10, moved into the bounds, where
    /// it is left out.
    pub initial: Option<u32>,
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
    /// What callers beyond their share may use, per mille.
    pub beyond_may_use: u16,
    /// Refuses nobody, and counts what would have been refused.
    pub watch_only: bool,
    /// How long windows are.
    pub windows: Windows,
    /// What each class may use.
    pub shares: SharesOfClasses,
    /// Who may wait.
    pub queue: Queue,
    /// What is guaranteed to whom, by name.
    pub partitions: BTreeMap<String, Share>,
    /// Parameters of the law of this name.
    pub fixed: Option<FixedTerms>,
    /// Parameters of the law of this name.
    pub knee: Option<KneeTerms>,
    /// Parameters of the law of this name.
    pub aimd: Option<AimdTerms>,
    /// Parameters of the law of this name.
    pub vegas: Option<VegasTerms>,
    /// Parameters of the law of this name.
    pub gradient: Option<GradientTerms>,
}

impl Default for Limit {
    fn default() -> Self {
        Self {
            law: Law::Knee,
            initial: None,
            min: 1,
            max: 1_000,
            min_samples: 10,
            overload_tolerance: 20,
            urgent_overloads: 5,
            beyond_may_use: DEFAULT_BEYOND_MAY_USE,
            watch_only: false,
            windows: Windows::default(),
            shares: SharesOfClasses::default(),
            queue: Queue::default(),
            partitions: BTreeMap::new(),
            fixed: None,
            knee: None,
            aimd: None,
            vegas: None,
            gradient: None,
        }
    }
}

/// Where a limit starts that was not told.
const INITIAL: u32 = 10;

impl Limit {
    pub(super) const fn terms(&self) -> Terms {
        Terms {
            law: self.law,
            fixed: self.fixed,
            knee: self.knee,
            aimd: self.aimd,
            vegas: self.vegas,
            gradient: self.gradient,
        }
    }

    pub(super) fn config(&self) -> Result<Config<AnyLaw>, ConfigError> {
        let initial = self
            .initial
            .unwrap_or_else(|| INITIAL.min(self.max).max(self.min));
        let config = Config::new(self.terms().law()?)
            .initial(initial)
            .min(self.min)
            .max(self.max)
            .windows(self.windows.shortest, self.windows.longest)
            .min_samples(self.min_samples)
            .overload_tolerance(self.overload_tolerance)
            .urgent_overloads(self.urgent_overloads)
            .beyond_may_use(self.beyond_may_use)
            .watch_only(self.watch_only)
            .shares(self.shares.into())
            .standing_delay(self.queue.target, self.queue.interval);
        let config = match self.queue.length {
            Some(length) => config.queue_length(length),
            None => config.without_queue(),
        };
        Ok(match self.queue.longest_wait {
            Some(longest) => config.longest_wait(longest),
            None => config.without_longest_wait(),
        })
    }
}

/// `[limiter.windows]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
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
#[serde(deny_unknown_fields, default, expecting = "a section")]
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

impl From<SharesOfClasses> for Shares {
    fn from(shares: SharesOfClasses) -> Self {
        Self::new()
            .interactive(shares.interactive)
            .batch(shares.batch)
            .best_effort(shares.best_effort)
    }
}

/// `[limiter.queue]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct Queue {
    /// How many may wait; `"none"` where nobody may.
    #[serde(deserialize_with = "number_or_none")]
    pub length: Option<u32>,
    /// How long one may wait; `"none"` for ever.
    #[serde(deserialize_with = "time_or_none")]
    pub longest_wait: Option<Duration>,
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
            length: Some(DEFAULT_QUEUE_LENGTH),
            longest_wait: Some(DEFAULT_LONGEST_WAIT),
            target: DEFAULT_TARGET,
            interval: DEFAULT_INTERVAL,
        }
    }
}

/// `[limiter.partitions.NAME]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct Share {
    /// The share of the limit that is guaranteed, per mille.
    pub guarantee: u16,
    /// After how long without use it is lent; `"none"` for never.
    #[serde(deserialize_with = "time_or_none")]
    pub lend_after: Option<Duration>,
}

impl From<Share> for Guarantee {
    fn from(share: Share) -> Self {
        let guarantee = Self::of(share.guarantee);
        match share.lend_after {
            Some(idle) => guarantee.lend_after(idle),
            None => guarantee,
        }
    }
}
