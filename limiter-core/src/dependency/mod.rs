//! One object per dependency: everything that keeps a caller from making it worse.

use crate::breaker::{BreakerSettings, BreakerState};
use crate::budget::{RetryBudget, Tokens};
use crate::call::{Call, CallOptions, Depends};
use crate::cell::backlog::Backlog;
use crate::cell::breaker::Circuit;
use crate::cell::sync::const_unless_loom;
use crate::config::Config;
use crate::error::ConfigError;
use crate::histogram::Latencies;
use crate::law::{Knee, Law};
use crate::limiter::Limiter;
use crate::snapshot::Snapshot;
use crate::throttle::Requests;
use crate::time::{TickRate, Ticks, Timestamp};
use core::borrow::Borrow;

mod attempt;
mod config;

pub use attempt::Events;
pub(crate) use attempt::{Admitted, Denied, Who};
pub use config::{DependencyConfig, Policy};

/// A dependency as its caller sees it: a limit, a budget for everything beyond first attempts, a breaker, a
/// throttle, back-off, and latencies if `H` is [`LatencyHistogram`](crate::LatencyHistogram).
///
/// A logical call is a [`Call`]: a state machine that says what to do next and does no I/O itself.
///
/// `C` is where the policy is: in the dependency, or by `&'static Policy` in flash
/// ([`sharing`](Dependency::sharing)).
///
/// ```
/// use limiter_core::law::Aimd;
/// use limiter_core::{
///     CallOptions, Config, Dependency, DependencyConfig, Ending, Random, Step, TickRate, Timestamp,
/// };
///
/// static STORE: Dependency<Aimd> = Dependency::new(
///     Config::new(Aimd::new(), TickRate::MILLIS),
///     DependencyConfig::new(TickRate::MILLIS),
/// );
/// static RANDOM: Random = Random::new(0x5eed);
///
/// let now = Timestamp::from_ticks(1_000);
/// let mut call = STORE.call(now, CallOptions::new());
/// let Step::Attempt(first) = call.step(now, RANDOM.word()) else { panic!() };
/// // Send it, and stop at `first.deadline`. Here it fails after 20 ms.
/// let failed = Timestamp::from_ticks(1_020);
/// call.finish(first.number, Ending::overload(), failed, RANDOM.word());
/// let Step::Wait(until) = call.step(failed, RANDOM.word()) else { panic!() };
/// // Sleep until then.
/// let Step::Attempt(second) = call.step(until, RANDOM.word()) else { panic!() };
/// call.finish(second.number, Ending::success(), until, RANDOM.word());
/// assert_eq!(call.step(until, RANDOM.word()), Step::Done);
/// ```
#[derive(Debug)]
pub struct Dependency<L: Law = Knee, H: Latencies = (), C: Borrow<Policy> = Policy> {
    limiter: Limiter<L>,
    budget: RetryBudget,
    circuit: Circuit,
    requests: Requests,
    backlog: Backlog,
    latencies: H,
    policy: C,
}

impl<L: Law, H: Latencies> Dependency<L, H> {
    const_unless_loom! {
        /// A dependency from configurations that are known to be right: for `static`s and constants, where
        /// wrong ones fail to compile.
        ///
        /// # Panics
        ///
        /// If a configuration is wrong, or they differ in their tick rate. At run time use
        /// [`try_new`](Dependency::try_new).
        pub fn new(limiter: Config<L>, config: DependencyConfig) -> Self
        where
            L: Copy,
        {
            let policy = Policy::new(config);
            if let Err(error) = same_rate(limiter.rate, &policy) {
                error.fail::<()>();
            }
            let budget = RetryBudget::of(policy.budget, policy.rate);
            Self::assemble(Limiter::new(limiter), budget, policy)
        }
    }

    /// A dependency from configurations that may be wrong.
    ///
    /// # Errors
    ///
    /// The first field that does not work; the two have to agree in their tick rate.
    pub fn try_new(limiter: Config<L>, config: DependencyConfig) -> Result<Self, ConfigError> {
        let policy = Policy::try_new(config)?;
        same_rate(limiter.rate, &policy)?;
        let budget = RetryBudget::of(policy.budget, policy.rate);
        Ok(Self::assemble(Limiter::try_new(limiter)?, budget, policy))
    }
}

impl<L: Law, H: Latencies> Dependency<L, H, &'static Policy> {
    const_unless_loom! {
        /// A dependency that leaves its policy where it is: in flash, on a small device.
        ///
        /// ```
        /// use limiter_core::law::Aimd;
        /// use limiter_core::{Config, Dependency, DependencyConfig, Policy, TickRate};
        ///
        /// static POLICY: Policy = Policy::new(DependencyConfig::new(TickRate::MILLIS));
        /// static RADIO: Dependency<Aimd, (), &'static Policy> =
        ///     Dependency::sharing(Config::new(Aimd::new(), TickRate::MILLIS), &POLICY);
        /// ```
        ///
        /// # Panics
        ///
        /// If the configuration of the limiter is wrong, or its tick rate is not the policy's.
        pub fn sharing(limiter: Config<L>, policy: &'static Policy) -> Self
        where
            L: Copy,
        {
            if let Err(error) = same_rate(limiter.rate, policy) {
                error.fail::<()>();
            }
            let budget = RetryBudget::of(policy.budget, policy.rate);
            Self::assemble(Limiter::new(limiter), budget, policy)
        }
    }
}

const fn same_rate(rate: TickRate, policy: &Policy) -> Result<(), ConfigError> {
    let rate = rate.get() as u64;
    ConfigError::check(
        "tick rate of the policy",
        policy.rate.get() as u64,
        rate,
        rate,
    )
}

impl<L: Law, H: Latencies, C: Borrow<Policy>> Dependency<L, H, C> {
    const_unless_loom! {
        fn assemble(limiter: Limiter<L>, budget: RetryBudget, policy: C) -> Self {
            Self {
                limiter,
                budget,
                circuit: Circuit::new(),
                requests: Requests::new(),
                backlog: Backlog::new(),
                #[cfg(not(limiter_loom))]
                latencies: H::EMPTY,
                #[cfg(limiter_loom)]
                latencies: H::empty(),
                policy,
            }
        }
    }

    /// Begins a logical call. Nothing is counted yet: see [`Call::step`].
    pub fn call(&self, now: Timestamp, options: CallOptions) -> Call<&Self> {
        Call::begin(self, now, options)
    }

    /// Begins a logical call that owns its handle (`&'static Dependency`, `Arc<Dependency>`), so that it can
    /// move into a spawned task.
    pub fn call_owned<D>(handle: D, now: Timestamp, options: CallOptions) -> Call<D>
    where
        D: Depends<Law = L, Latencies = H, Policy = C>,
    {
        Call::begin(handle, now, options)
    }

    /// The limiter: to move its bounds, to wait for a slot, to look at it.
    pub const fn limiter(&self) -> &Limiter<L> {
        &self.limiter
    }

    /// The budget: to reconfigure it, to charge what is done outside of calls, to look at it.
    pub const fn budget(&self) -> &RetryBudget {
        &self.budget
    }

    /// The measured latencies; `()` without a histogram.
    pub const fn latencies(&self) -> &H {
        &self.latencies
    }

    /// The length of a tick.
    pub fn rate(&self) -> TickRate {
        self.policy().rate
    }

    /// How the breaker stands. Reading it has no side effect.
    pub fn breaker(&self, now: Timestamp) -> BreakerState {
        let policy = self.policy();
        let (_, kind, left) = self
            .circuit
            .state(&self.breaker_settings().circuitry, policy.pace.stamp(now));
        BreakerState::of(kind, left, policy.pace)
    }

    /// How long the next attempt may last: measured, or configured while there is too little to measure by.
    pub fn timeout(&self) -> Ticks {
        let policy = self.policy();
        match self.quantile(policy.quantile) {
            Some(usual) => {
                // 1,049 / 2²⁰ is 1 / 1,000, within 0.04 %.
                let margin = (u64::from(policy.margin) * 1_049) >> 10;
                let timeout = usual.get().saturating_mul(margin) >> 10;
                Ticks::new(timeout)
                    .max(policy.least_timeout)
                    .min(policy.most_timeout)
            }
            None => policy.timeout,
        }
    }

    /// The gauges of this moment. Taking them has no side effect; they are read one after the other.
    pub fn snapshot(&self, now: Timestamp) -> DependencySnapshot {
        let policy = self.policy();
        let throttled = policy.throttle.as_ref().map_or(0, |settings| {
            self.requests
                .share_per_mille(settings, policy.pace.stamp(now))
        });
        DependencySnapshot {
            limiter: self.limiter.snapshot(),
            breaker: self.breaker(now),
            balance: self.budget.balance(now),
            capacity: self.budget.capacity(),
            throttled,
            backing_off: self.backlog.waiting(),
            timeout: self.timeout(),
        }
    }

    pub(crate) fn policy(&self) -> &Policy {
        self.policy.borrow()
    }

    fn breaker_settings(&self) -> &BreakerSettings {
        &self.policy().breaker
    }

    fn quantile(&self, per_mille: u16) -> Option<Ticks> {
        let policy = self.policy();
        self.latencies
            .at(per_mille.into(), policy.samples.into(), policy.rate)
    }
}

/// A dependency's gauges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct DependencySnapshot {
    /// The limiter's.
    pub limiter: Snapshot,
    /// How the breaker stands.
    pub breaker: BreakerState,
    /// What is left for retries, hedges and fallbacks.
    pub balance: Tokens,
    /// The most that is saved up.
    pub capacity: Tokens,
    /// The share of requests that the throttle refuses, per mille.
    pub throttled: u32,
    /// Calls that wait to try again.
    pub backing_off: u32,
    /// How long the next attempt may last.
    pub timeout: Ticks,
}
