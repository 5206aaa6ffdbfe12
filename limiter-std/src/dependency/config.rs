//! The configuration, in durations instead of ticks.

use crate::clock::RATE;
use crate::config::Config;
use core::time::Duration;
use limiter_core::law::{Knee, Law};
use limiter_core::{
    Backoff, BreakerConfig, BudgetConfig, ConfigError, Jitter, ThrottleConfig, Tokens,
};

/// What a dependency is built from: its limiter, and everything around it. Every value has a default; a bad
/// one is reported by [`Dependency::try_new`](crate::Dependency::try_new).
///
/// Defaults: the limiter's are those of [`Config`]; 3 attempts within 10 s, each for at most 2 s or twice
/// the 99th percentile of the measured latencies (between 1 s and 5 s); no hedges; the budget of
/// [`BudgetConfig`], the breaker of [`BreakerConfig`], the throttle of [`ThrottleConfig`]; decorrelated
/// back-off from 1 s to 4 s; at most 40 calls wait in back-off at a time.
///
/// ```
/// use core::time::Duration;
/// use limiter_std::{Dependency, DependencyConfig};
///
/// let store = Dependency::try_new(
///     DependencyConfig::default()
///         .attempts(4)
///         .total(Duration::from_secs(5))
///         .hedge(950, Duration::from_millis(100)),
/// )?;
/// assert_eq!(store.snapshot().backing_off, 0);
///
/// let refused = Dependency::try_new(DependencyConfig::default().attempts(0));
/// assert_eq!(refused.unwrap_err().to_string(), "attempts = 0: allowed are 1 to 1000");
/// # Ok::<(), limiter_std::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DependencyConfig<L = Knee> {
    pub(crate) limiter: Config<L>,
    pub(crate) core: limiter_core::DependencyConfig,
    backoff: Option<(Jitter, Duration, Duration)>,
    most_hinted: Option<Duration>,
}

impl<L: Law + Copy> DependencyConfig<L> {
    /// Defaults around a law.
    ///
    /// ```
    /// use limiter_std::{Dependency, DependencyConfig, law::Aimd};
    ///
    /// let store = Dependency::try_new(DependencyConfig::of(Aimd::new()).attempts(2))?;
    /// # drop(store);
    /// # Ok::<(), limiter_std::ConfigError>(())
    /// ```
    pub const fn of(law: L) -> Self {
        Self::new(Config::new(law))
    }

    /// Defaults around the configuration of a limiter, with its bounds and its queue; [`of`](Self::of) is around a
    /// law alone.
    pub const fn new(limiter: Config<L>) -> Self {
        Self {
            limiter,
            core: limiter_core::DependencyConfig::new(RATE),
            backoff: None,
            most_hinted: None,
        }
    }

    /// The budget for retries, hedges and fallbacks.
    #[must_use]
    pub const fn budget(self, budget: BudgetConfig) -> Self {
        self.with(self.core.budget(budget))
    }

    /// The circuit breaker.
    #[must_use]
    pub const fn breaker(self, breaker: BreakerConfig) -> Self {
        self.with(self.core.breaker(breaker))
    }

    /// The throttle between closed and open; `None` leaves everything to limiter and breaker.
    #[must_use]
    pub const fn throttle(self, throttle: Option<ThrottleConfig>) -> Self {
        self.with(self.core.throttle(throttle))
    }

    /// The delays between attempts, from `base` to `cap`, which is at most four hours.
    #[must_use]
    pub const fn backoff(mut self, jitter: Jitter, base: Duration, cap: Duration) -> Self {
        self.backoff = Some((jitter, base, cap));
        self
    }

    /// How much longer than its own delay a call waits at most because the dependency said so (5 s).
    #[must_use]
    pub const fn most_hinted(mut self, extra: Duration) -> Self {
        self.most_hinted = Some(extra);
        self
    }

    /// How many attempts a call makes at most, hedges included; from 1 to 1,000.
    #[must_use]
    pub const fn attempts(self, most: u32) -> Self {
        self.with(self.core.attempts(most))
    }

    /// How long a call lasts at most, waits included, unless its options say otherwise.
    #[must_use]
    pub const fn total(self, longest: Duration) -> Self {
        self.with(self.core.total(longest))
    }

    /// How long an attempt lasts at most while too few latencies were measured.
    #[must_use]
    pub const fn timeout(self, longest: Duration) -> Self {
        self.with(self.core.timeout(longest))
    }

    /// Bounds of the timeout that is taken from measured latencies. Equal ones fix it.
    #[must_use]
    pub const fn timeout_bounds(self, least: Duration, most: Duration) -> Self {
        self.with(self.core.timeout_bounds(least, most))
    }

    /// The measured timeout: which quantile, per mille from 1 to 1,000, times which margin, per mille from
    /// 1,000 to 100,000, of how many samples at least.
    #[must_use]
    pub const fn timeout_quantile(self, per_mille: u32, margin: u32, samples: u32) -> Self {
        self.with(self.core.timeout_quantile(per_mille, margin, samples))
    }

    /// Calls that ask for it send a second attempt beside a first one that takes longer than the quantile
    /// of the measured latencies, per mille from 500 to 1,000, or than `delay` while too few were measured.
    #[must_use]
    pub const fn hedge(self, per_mille: u32, delay: Duration) -> Self {
        self.with(self.core.hedge(per_mille, delay))
    }

    /// What a retry or a hedge costs, up to the capacity of the budget.
    #[must_use]
    pub const fn retry_cost(self, cost: Tokens) -> Self {
        self.with(self.core.retry_cost(cost))
    }

    /// What the retry of a timeout costs: the dependency may still be at work on it, so it may cost more.
    #[must_use]
    pub const fn timeout_cost(self, cost: Tokens) -> Self {
        self.with(self.core.timeout_cost(cost))
    }

    /// What the retry costs of an answer that said when to come back: it may cost less.
    #[must_use]
    pub const fn pushback_cost(self, cost: Tokens) -> Self {
        self.with(self.core.pushback_cost(cost))
    }

    /// How many calls wait in back-off at a time, from 1 to 65,535; others give up instead.
    #[must_use]
    pub const fn waiting(self, calls: u32) -> Self {
        self.with(self.core.waiting(calls))
    }

    /// Checks every value, and returns those of the core.
    pub(crate) fn checked(&self) -> Result<limiter_core::DependencyConfig, ConfigError> {
        self.limiter.check()?;
        // Its breaker and its budget would go on refusing.
        ConfigError::check("watch_only", self.limiter.is_watching().into(), 0, 0)?;
        let mut backoff = Backoff::standard(RATE);
        if let Some((jitter, base, cap)) = self.backoff {
            backoff = Backoff::try_new(jitter, base, cap, RATE)?;
        }
        if let Some(extra) = self.most_hinted {
            backoff = backoff.most_hinted(extra, RATE);
        }
        Ok(self.core.backoff(backoff))
    }

    /// For a dependency that has started.
    pub(crate) const fn started(mut self) -> Self {
        self.limiter = self.limiter.started();
        self
    }

    const fn with(mut self, core: limiter_core::DependencyConfig) -> Self {
        self.core = core;
        self
    }
}

impl Default for DependencyConfig<Knee> {
    fn default() -> Self {
        Self::new(Config::default())
    }
}
