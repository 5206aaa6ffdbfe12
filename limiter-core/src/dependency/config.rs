//! What a dependency is built from, beside its limiter.

use crate::backoff::Backoff;
use crate::breaker::{BreakerConfig, BreakerSettings};
use crate::budget::{BudgetConfig, Tokens};
use crate::error::ConfigError;
use crate::law::budget::Terms;
use crate::throttle::{ThrottleConfig, ThrottleSettings};
use crate::time::{Pace, TickRate, Ticks};
use core::time::Duration;

/// The configuration of a [`Dependency`](crate::Dependency), beside that of its limiter.
///
/// Defaults: those of [`BudgetConfig`], [`BreakerConfig`], [`ThrottleConfig`] and [`Backoff::standard`]; 3
/// attempts within 10 s, each for at most 2 s, or twice the 99th percentile of the measured latencies
/// (between 1 s and 5 s: a dependency that becomes slow is not down; RFC 6298, 2.4 has the same least time)
/// where there is a histogram; no hedges; every retry costs one token; at most 40
/// calls wait in back-off at a time.
///
/// ```
/// use core::time::Duration;
/// use limiter_core::{BudgetConfig, DependencyConfig, TickRate, Tokens};
///
/// const CONFIG: DependencyConfig = DependencyConfig::new(TickRate::MICROS)
///     .budget(BudgetConfig::new().ratio(200))
///     .attempts(4)
///     .total(Duration::from_secs(5))
///     .timeout_cost(Tokens::whole(2));
/// assert!(CONFIG.check().is_ok());
/// assert!(CONFIG.attempts(0).check().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DependencyConfig {
    pub(super) rate: TickRate,
    pub(super) budget: BudgetConfig,
    pub(super) breaker: BreakerConfig,
    pub(super) throttle: Option<ThrottleConfig>,
    pub(super) backoff: Backoff,
    attempts: u32,
    total: Duration,
    timeout: Duration,
    least_timeout: Duration,
    most_timeout: Duration,
    quantile: u32,
    margin: u32,
    samples: u32,
    hedge_quantile: u32,
    hedge_delay: Option<Duration>,
    retry_cost: Tokens,
    timeout_cost: Tokens,
    pushback_cost: Tokens,
    waiting: u32,
}

impl DependencyConfig {
    /// The defaults, for timestamps at `rate`, which is that of the limiter.
    pub const fn new(rate: TickRate) -> Self {
        Self {
            rate,
            budget: BudgetConfig::new(),
            breaker: BreakerConfig::new(),
            throttle: Some(ThrottleConfig::new()),
            backoff: Backoff::standard(rate),
            attempts: 3,
            total: Duration::from_secs(10),
            timeout: Duration::from_secs(2),
            least_timeout: Duration::from_secs(1),
            most_timeout: Duration::from_secs(5),
            quantile: 990,
            margin: 2_000,
            samples: 50,
            hedge_quantile: 950,
            hedge_delay: None,
            retry_cost: Tokens::ONE,
            timeout_cost: Tokens::ONE,
            pushback_cost: Tokens::ONE,
            waiting: 40,
        }
    }

    /// The budget for retries, hedges and fallbacks.
    #[must_use]
    pub const fn budget(mut self, budget: BudgetConfig) -> Self {
        self.budget = budget;
        self
    }

    /// The circuit breaker.
    #[must_use]
    pub const fn breaker(mut self, breaker: BreakerConfig) -> Self {
        self.breaker = breaker;
        self
    }

    /// The throttle between closed and open; `None` leaves everything to limiter and breaker.
    #[must_use]
    pub const fn throttle(mut self, throttle: Option<ThrottleConfig>) -> Self {
        self.throttle = throttle;
        self
    }

    /// The delays between attempts.
    #[must_use]
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// How many attempts a call makes at most, hedges included; from 1 to 1,000.
    #[must_use]
    pub const fn attempts(mut self, most: u32) -> Self {
        self.attempts = most;
        self
    }

    /// How long a call lasts at most, waits included, unless its options say otherwise.
    #[must_use]
    pub const fn total(mut self, longest: Duration) -> Self {
        self.total = longest;
        self
    }

    /// How long an attempt lasts at most while too few latencies were measured, or where none are.
    #[must_use]
    pub const fn timeout(mut self, longest: Duration) -> Self {
        self.timeout = longest;
        self
    }

    /// Bounds of the timeout that is taken from measured latencies.
    #[must_use]
    pub const fn timeout_bounds(mut self, least: Duration, most: Duration) -> Self {
        self.least_timeout = least;
        self.most_timeout = most;
        self
    }

    /// The measured timeout: which quantile, per mille from 1 to 1,000, times which margin, per mille from
    /// 1,000 to 100,000, of how many samples at least.
    #[must_use]
    pub const fn timeout_quantile(mut self, per_mille: u32, margin: u32, samples: u32) -> Self {
        self.quantile = per_mille;
        self.margin = margin;
        self.samples = samples;
        self
    }

    /// Calls that ask for it send a second attempt beside a first one that takes long: longer than the
    /// quantile of the measured latencies, per mille from 500 to 1,000, or `delay` while too few were
    /// measured and where none are.
    #[must_use]
    pub const fn hedge(mut self, per_mille: u32, delay: Duration) -> Self {
        self.hedge_quantile = per_mille;
        self.hedge_delay = Some(delay);
        self
    }

    /// What a retry or a hedge costs, up to the capacity of the budget.
    #[must_use]
    pub const fn retry_cost(mut self, cost: Tokens) -> Self {
        self.retry_cost = cost;
        self
    }

    /// What the retry of a timeout costs: the dependency may still be at work on it, so it may cost more.
    #[must_use]
    pub const fn timeout_cost(mut self, cost: Tokens) -> Self {
        self.timeout_cost = cost;
        self
    }

    /// What the retry costs of an answer that said when to come back: it may cost less.
    #[must_use]
    pub const fn pushback_cost(mut self, cost: Tokens) -> Self {
        self.pushback_cost = cost;
        self
    }

    /// How many calls wait in back-off at a time, from 1 to 65,535; others give up instead. What they wait for is
    /// withdrawn when they leave: more than a full budget and what comes in meanwhile pay for wait in vain. So raise
    /// it where there are many more than 200 calls a second.
    #[must_use]
    pub const fn waiting(mut self, calls: u32) -> Self {
        self.waiting = calls;
        self
    }

    /// What its budget goes by; for adapters.
    pub const fn budget_config(&self) -> BudgetConfig {
        self.budget
    }

    /// Checks every value.
    ///
    /// # Errors
    ///
    /// The first field that does not work.
    pub const fn check(&self) -> Result<(), ConfigError> {
        if let Err(error) = self.budget.check() {
            return Err(error);
        }
        if let Err(error) = self.breaker.check() {
            return Err(error);
        }
        if let Some(throttle) = self.throttle {
            if let Err(error) = throttle.check() {
                return Err(error);
            }
        }
        let capacity = self.budget.terms(self.rate).capacity as u64;
        let hedge = match self.hedge_delay {
            Some(delay) => delay,
            None => self.timeout,
        };
        ConfigError::check_all(&[
            ("attempts", self.attempts as u64, 1, 1_000),
            ("total in ms", millis(self.total), 1, MOST),
            ("timeout in ms", millis(self.timeout), 1, MOST),
            (
                "timeout_bounds.most in ms",
                millis(self.most_timeout),
                1,
                MOST,
            ),
            (
                "timeout_bounds.least in ms",
                millis(self.least_timeout),
                1,
                millis(self.most_timeout),
            ),
            ("timeout_quantile", self.quantile as u64, 1, 1_000),
            (
                "timeout_quantile.margin",
                self.margin as u64,
                1_000,
                100_000,
            ),
            ("timeout_quantile.samples", self.samples as u64, 1, 1_000),
            ("hedge", self.hedge_quantile as u64, 500, 1_000),
            ("hedge.delay in ms", millis(hedge), 1, MOST),
            (
                "retry_cost in thousandths",
                self.retry_cost.get() as u64,
                1,
                capacity,
            ),
            (
                "timeout_cost in thousandths",
                self.timeout_cost.get() as u64,
                1,
                capacity,
            ),
            (
                "pushback_cost in thousandths",
                self.pushback_cost.get() as u64,
                1,
                capacity,
            ),
            ("waiting", self.waiting as u64, 1, u16::MAX as u64),
        ])
    }

    pub(super) const fn policy(&self) -> Policy {
        let rate = self.rate;
        Policy {
            rate,
            pace: rate.pace(),
            budget: self.budget.terms(rate),
            breaker: self.breaker.settings(rate),
            throttle: match self.throttle {
                Some(throttle) => Some(throttle.settings(rate)),
                None => None,
            },
            backoff: self.backoff,
            attempts: self.attempts,
            total: rate.ticks(self.total),
            timeout: rate.ticks(self.timeout),
            least_timeout: rate.ticks(self.least_timeout),
            most_timeout: rate.ticks(self.most_timeout),
            hedge_delay: match self.hedge_delay {
                Some(delay) => Some(rate.ticks(delay)),
                None => None,
            },
            margin: self.margin,
            quantile: self.quantile as u16,
            samples: self.samples as u16,
            hedge_quantile: self.hedge_quantile as u16,
            waiting: self.waiting as u16,
            retry_cost: self.retry_cost,
            timeout_cost: self.timeout_cost,
            pushback_cost: self.pushback_cost,
        }
    }
}

/// A year, rounded up: longer than any call, and far from the end of any range.
const MOST: u64 = 366 * 86_400_000;

/// A started millisecond is one: a time of microseconds is not 0.
const fn millis(duration: Duration) -> u64 {
    let part = duration.subsec_nanos().div_ceil(1_000_000);
    duration
        .as_secs()
        .saturating_mul(1_000)
        .saturating_add(part as u64)
}

/// A checked [`DependencyConfig`] in ticks: what a [`Dependency`](crate::Dependency) works by.
///
/// Held by the dependency, or shared by reference where it may stay in flash.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    pub(crate) rate: TickRate,
    pub(crate) pace: Pace,
    pub(crate) budget: Terms,
    pub(crate) breaker: BreakerSettings,
    pub(crate) throttle: Option<ThrottleSettings>,
    pub(crate) backoff: Backoff,
    pub(crate) attempts: u32,
    pub(crate) total: Ticks,
    pub(crate) timeout: Ticks,
    pub(crate) least_timeout: Ticks,
    pub(crate) most_timeout: Ticks,
    pub(crate) hedge_delay: Option<Ticks>,
    pub(crate) margin: u32,
    pub(crate) quantile: u16,
    pub(crate) samples: u16,
    pub(crate) hedge_quantile: u16,
    pub(crate) waiting: u16,
    pub(crate) retry_cost: Tokens,
    pub(crate) timeout_cost: Tokens,
    pub(crate) pushback_cost: Tokens,
}

impl Policy {
    /// The policy of a configuration that is known to be right: for `static`s and constants, where a wrong
    /// one fails to compile.
    ///
    /// # Panics
    ///
    /// If the configuration is wrong. At run time use [`try_new`](Policy::try_new).
    pub const fn new(config: DependencyConfig) -> Self {
        match Self::try_new(config) {
            Ok(policy) => policy,
            Err(error) => error.fail(),
        }
    }

    /// The policy of a configuration that may be wrong.
    ///
    /// # Errors
    ///
    /// The first field that does not work.
    pub const fn try_new(config: DependencyConfig) -> Result<Self, ConfigError> {
        match config.check() {
            Ok(()) => Ok(config.policy()),
            Err(error) => Err(error),
        }
    }
}
