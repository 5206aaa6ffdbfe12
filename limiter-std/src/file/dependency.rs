//! The sections of a dependency. What is left out has its default.

use super::values::{number_or_none, time, time_or_none};
use crate::{
    BreakerConfig, BudgetConfig, Config, DependencyConfig, Jitter, ThrottleConfig, Tokens,
};
use core::time::Duration;
use limiter_core::law::AnyLaw;
use serde::Deserialize;

/// `[dependency]`: the parameters of [`DependencyConfig`](crate::DependencyConfig).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct Dependence {
    /// The most attempts of a call.
    pub attempts: u32,
    /// How long a call may take in all.
    #[serde(deserialize_with = "time")]
    pub total: Duration,
    /// How long an attempt may take while too few latencies were measured.
    #[serde(deserialize_with = "time")]
    pub timeout: Duration,
    /// Bounds of the measured timeout.
    pub timeout_bounds: TimeoutBounds,
    /// What the measured timeout is of.
    pub timeout_quantile: TimeoutQuantile,
    /// When calls that ask for it send a second attempt beside a slow one; without it they do not.
    pub hedge: Option<Hedge>,
    /// What a retry or a hedge costs, in thousandths of a token.
    pub retry_cost_milli: u32,
    /// What the retry of a timeout costs.
    pub timeout_cost_milli: u32,
    /// What the retry costs of an answer that said when to come back.
    pub pushback_cost_milli: u32,
    /// How many calls may be in back-off at a time.
    pub waiting: u32,
    /// The delays between attempts.
    pub backoff: BackoffTimes,
    /// The circuit breaker.
    pub breaker: Breaker,
    /// The throttle between closed and open.
    pub throttle: Throttle,
    /// For retries, hedges and fallbacks.
    pub budget: Budget,
}

impl Default for Dependence {
    fn default() -> Self {
        Self {
            attempts: 3,
            total: Duration::from_secs(10),
            timeout: Duration::from_secs(2),
            timeout_bounds: TimeoutBounds::default(),
            timeout_quantile: TimeoutQuantile::default(),
            hedge: None,
            retry_cost_milli: 1_000,
            timeout_cost_milli: 1_000,
            pushback_cost_milli: 1_000,
            waiting: 40,
            backoff: BackoffTimes::default(),
            breaker: Breaker::default(),
            throttle: Throttle::default(),
            budget: Budget::default(),
        }
    }
}

impl Dependence {
    pub(super) fn config(&self, limiter: Config<AnyLaw>) -> DependencyConfig<AnyLaw> {
        let (bounds, quantile) = (self.timeout_bounds, self.timeout_quantile);
        let config = DependencyConfig::new(limiter)
            .attempts(self.attempts)
            .total(self.total)
            .timeout(self.timeout)
            .timeout_bounds(bounds.least, bounds.most)
            .timeout_quantile(quantile.per_mille, quantile.margin, quantile.samples)
            .retry_cost(Tokens::milli(self.retry_cost_milli))
            .timeout_cost(Tokens::milli(self.timeout_cost_milli))
            .pushback_cost(Tokens::milli(self.pushback_cost_milli))
            .waiting(self.waiting)
            .breaker(self.breaker.into())
            .throttle(self.throttle.on.then_some(self.throttle.into()))
            .budget(self.budget.into());
        let config = match self.backoff {
            // As where nothing is said.
            backoff if backoff == BackoffTimes::default() => config,
            BackoffTimes {
                jitter,
                base,
                cap,
                most_hinted,
            } => config
                .backoff(jitter.into(), base, cap)
                .most_hinted(most_hinted),
        };
        match self.hedge {
            Some(hedge) => config.hedge(hedge.per_mille, hedge.delay),
            None => config,
        }
    }
}

/// `[dependency.timeout_bounds]`. Equal ones fix the timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct TimeoutBounds {
    /// The shortest.
    #[serde(deserialize_with = "time")]
    pub least: Duration,
    /// The longest.
    #[serde(deserialize_with = "time")]
    pub most: Duration,
}

impl Default for TimeoutBounds {
    fn default() -> Self {
        Self {
            least: Duration::from_secs(1),
            most: Duration::from_secs(5),
        }
    }
}

/// `[dependency.timeout_quantile]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct TimeoutQuantile {
    /// Which quantile of the latencies, per mille.
    pub per_mille: u32,
    /// Times what, per mille.
    pub margin: u32,
    /// Of how many latencies at least.
    pub samples: u32,
}

impl Default for TimeoutQuantile {
    fn default() -> Self {
        Self {
            per_mille: 990,
            margin: 2_000,
            samples: 50,
        }
    }
}

/// `[dependency.hedge]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct Hedge {
    /// Beside an attempt that takes longer than this quantile of the latencies, per mille.
    pub per_mille: u32,
    /// Or than this while too few were measured.
    #[serde(deserialize_with = "time")]
    pub delay: Duration,
}

impl Default for Hedge {
    fn default() -> Self {
        Self {
            per_mille: 950,
            delay: Duration::from_millis(100),
        }
    }
}

/// How delays are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// As [`Jitter::Full`].
    Full,
    /// As [`Jitter::Decorrelated`].
    Decorrelated,
}

impl From<Draw> for Jitter {
    fn from(draw: Draw) -> Self {
        match draw {
            Draw::Full => Self::Full,
            Draw::Decorrelated => Self::Decorrelated,
        }
    }
}

/// `[dependency.backoff]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct BackoffTimes {
    /// How a delay is drawn.
    pub jitter: Draw,
    /// The shortest.
    #[serde(deserialize_with = "time")]
    pub base: Duration,
    /// The longest.
    #[serde(deserialize_with = "time")]
    pub cap: Duration,
    /// How much longer than that a call waits because it was told so.
    #[serde(deserialize_with = "time")]
    pub most_hinted: Duration,
}

impl Default for BackoffTimes {
    fn default() -> Self {
        Self {
            jitter: Draw::Decorrelated,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(4),
            most_hinted: Duration::from_secs(5),
        }
    }
}

/// `[dependency.breaker]`: the parameters of [`BreakerConfig`](crate::BreakerConfig).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct Breaker {
    /// Opens on so many failures in a row; `"none"` leaves that to the shares.
    #[serde(deserialize_with = "number_or_none")]
    pub consecutive: Option<u32>,
    /// Opens on this share of failures, per mille; `"none"` counts rows only.
    #[serde(deserialize_with = "number_or_none")]
    pub failure_share: Option<u32>,
    /// Opens on a share of slow calls too.
    pub slow_share: Option<SlowShare>,
    /// Judges no share by fewer calls.
    pub volume: u32,
    /// Which calls the shares are of.
    #[serde(deserialize_with = "time")]
    pub window: Duration,
    /// How long it stays open.
    pub open: OpenTimes,
    /// How many calls are let through while half open.
    pub probes: u32,
    /// After this time without an answer those are lost.
    #[serde(deserialize_with = "time")]
    pub probe_time: Duration,
}

impl Default for Breaker {
    fn default() -> Self {
        Self {
            consecutive: Some(30),
            failure_share: Some(667),
            slow_share: None,
            volume: 20,
            window: Duration::from_secs(10),
            open: OpenTimes::default(),
            probes: 3,
            probe_time: Duration::from_secs(10),
        }
    }
}

impl From<Breaker> for BreakerConfig {
    fn from(breaker: Breaker) -> Self {
        let config = Self::new()
            .consecutive(breaker.consecutive)
            .failure_share(breaker.failure_share)
            .volume(breaker.volume)
            .window(breaker.window)
            .open(breaker.open.first, breaker.open.most)
            .probes(breaker.probes)
            .probe_time(breaker.probe_time);
        match breaker.slow_share {
            Some(slow) => config.slow_share(slow.per_mille, slow.longest),
            None => config,
        }
    }
}

/// `[dependency.breaker.slow_share]`: both are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a section")]
pub struct SlowShare {
    /// The share, per mille.
    pub per_mille: u32,
    /// What takes longer is slow.
    #[serde(deserialize_with = "time")]
    pub longest: Duration,
}

/// `[dependency.breaker.open]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct OpenTimes {
    /// The first time.
    #[serde(deserialize_with = "time")]
    pub first: Duration,
    /// At most.
    #[serde(deserialize_with = "time")]
    pub most: Duration,
}

impl Default for OpenTimes {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(5),
            most: Duration::from_secs(20),
        }
    }
}

/// `[dependency.throttle]`: the parameters of [`ThrottleConfig`](crate::ThrottleConfig).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct Throttle {
    /// Whether there is one.
    pub on: bool,
    /// What is remembered.
    #[serde(deserialize_with = "time")]
    pub window: Duration,
    /// How many requests for each accept are normal, times 256.
    pub slack_q8: u32,
    /// Refuses nothing while there were fewer requests.
    pub protect: u32,
    /// The largest share that is refused, per mille.
    pub most: u32,
}

impl Default for Throttle {
    fn default() -> Self {
        Self {
            on: true,
            window: Duration::from_secs(10),
            slack_q8: 512,
            protect: 20,
            most: 900,
        }
    }
}

impl From<Throttle> for ThrottleConfig {
    fn from(throttle: Throttle) -> Self {
        Self::new()
            .window(throttle.window)
            .slack_q8(throttle.slack_q8)
            .protect(throttle.protect)
            .most(throttle.most)
    }
}

/// `[dependency.budget]`: the parameters of [`BudgetConfig`](crate::BudgetConfig).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct Budget {
    /// The most that is saved up, in thousandths of a retry.
    pub capacity_milli: u32,
    /// Retries per first attempts, per mille.
    pub ratio: u32,
    /// What time adds in each period, in thousandths of a retry.
    pub floor_milli: u32,
    /// The period; `"none"` where time adds nothing.
    #[serde(deserialize_with = "time_or_none")]
    pub floor_period: Option<Duration>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            capacity_milli: 10_000,
            ratio: 100,
            floor_milli: 1_000,
            floor_period: Some(Duration::from_secs(10)),
        }
    }
}

impl From<Budget> for BudgetConfig {
    fn from(budget: Budget) -> Self {
        let config = Self::new()
            .capacity(Tokens::milli(budget.capacity_milli))
            .ratio(budget.ratio);
        match budget.floor_period {
            Some(period) => config.floor(Tokens::milli(budget.floor_milli), period),
            None => config.without_floor(),
        }
    }
}
