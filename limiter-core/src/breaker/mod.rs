//! The circuit breaker: a dependency that fails is left alone for a while.

use crate::cell::breaker::{Circuit, Flip};
use crate::cell::sync::const_unless_loom;
use crate::error::ConfigError;
use crate::law::breaker::{Kind, Lease, Verdict};
use crate::outcome::Outcome;
use crate::time::{Pace, TickRate, Ticks, Timestamp};
use core::fmt;
use core::ops::Deref;

mod config;

pub use config::BreakerConfig;
pub(crate) use config::BreakerSettings;

/// How a breaker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum BreakerState {
    /// Calls pass, and are counted.
    Closed,
    /// Calls are refused.
    Open {
        /// After this time probes are let through.
        left: Ticks,
    },
    /// A few probes are let through.
    HalfOpen,
}

impl BreakerState {
    pub(crate) fn of(kind: Kind, left: u32, pace: Pace) -> Self {
        match kind {
            Kind::Closed => Self::Closed,
            Kind::Open => Self::Open {
                left: pace.ticks(left),
            },
            Kind::HalfOpen => Self::HalfOpen,
        }
    }
}

/// A change of a breaker's state that a call made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum BreakerChange {
    /// It opened, from closed or from half open.
    Opened,
    /// It closed. Start slowly: a limit that was right for a dependency in full swing is too large for one
    /// that was just restarted. [`Dependency`](crate::Dependency) does so by itself.
    Closed,
}

impl From<Flip> for BreakerChange {
    fn from(flip: Flip) -> Self {
        match flip {
            Flip::Opened => Self::Opened,
            Flip::Closed => Self::Closed,
        }
    }
}

/// A circuit breaker.
///
/// It opens when calls fail in a row, or when too large a share of enough calls fails or is slow; both
/// [`Outcome::Failure`] and [`Outcome::Overload`] are failures to it. Open becomes half open by time alone,
/// without a timer. Half open it hands out a few leases: a lease that is dropped, or ignored, or not heard
/// of for too long, comes back, so that it cannot stay half open for ever; a single failure opens it again,
/// for twice as long. Every change of state starts a generation, and results of calls that began in an older
/// one count for nothing.
///
/// Calls may be lost from the counts, one for each thread, at the instant when a bucket of the window is
/// replaced. Reading the state has no side effect. A clock that was set back by more than the open time ends
/// the open time.
///
/// ```
/// use limiter_core::{Breaker, BreakerConfig, BreakerState, Outcome, TickRate, Timestamp};
///
/// static BREAKER: Breaker =
///     Breaker::new(BreakerConfig::new().consecutive(Some(2)).probes(1), TickRate::MILLIS);
///
/// let now = Timestamp::from_ticks(0);
/// for _ in 0..2 {
///     let pass = BREAKER.try_pass(now).expect("closed");
///     pass.finish(Outcome::Failure, now, 0x1234_5678);
/// }
/// assert!(BREAKER.try_pass(now).is_err());
///
/// let later = Timestamp::from_ticks(5_001);
/// assert_eq!(BREAKER.state(later), BreakerState::HalfOpen);
/// let probe = BREAKER.try_pass(later).expect("the open time is over");
/// assert!(BREAKER.try_pass(later).is_err(), "one probe at a time");
/// probe.finish(Outcome::Success, later, 0x9abc_def0);
/// assert_eq!(BREAKER.state(later), BreakerState::Closed);
/// ```
#[derive(Debug)]
pub struct Breaker {
    circuit: Circuit,
    settings: BreakerSettings,
    pace: Pace,
}

impl Breaker {
    const_unless_loom! {
        /// A closed breaker from a configuration that is known to be right: for `static`s and constants,
        /// where a wrong one fails to compile.
        ///
        /// # Panics
        ///
        /// If the configuration is wrong. At run time use [`try_new`](Breaker::try_new).
        pub fn new(config: BreakerConfig, rate: TickRate) -> Self {
            if let Err(error) = config.check() {
                error.fail::<()>();
            }
            Self {
                circuit: Circuit::new(),
                settings: config.settings(rate),
                pace: rate.pace(),
            }
        }
    }

    /// A closed breaker from a configuration that may be wrong.
    ///
    /// # Errors
    ///
    /// The first field that does not work.
    pub fn try_new(config: BreakerConfig, rate: TickRate) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            circuit: Circuit::new(),
            settings: config.settings(rate),
            pace: rate.pace(),
        })
    }

    /// Lets a call through, or refuses it.
    ///
    /// # Errors
    ///
    /// [`BreakerOpen`] with the time after which it is worth to try again.
    ///
    /// # Cancellation
    ///
    /// Dropping the pass gives a lease back.
    #[inline]
    pub fn try_pass(&self, now: Timestamp) -> Result<Pass<&Self>, BreakerOpen> {
        Self::try_pass_owned(self, now)
    }

    /// Lets a call through with a pass that owns its handle (`&'static Breaker`, `Arc<Breaker>`), so that it
    /// can move into a spawned task.
    ///
    /// # Errors
    ///
    /// As [`try_pass`](Breaker::try_pass).
    #[inline]
    pub fn try_pass_owned<B>(handle: B, now: Timestamp) -> Result<Pass<B>, BreakerOpen>
    where
        B: Deref<Target = Self>,
    {
        let lease = match handle.circuit.enter() {
            Some(lease) => lease,
            None => handle.probe(now)?,
        };
        Ok(Pass {
            breaker: handle,
            started: now,
            lease: Some(lease),
        })
    }

    #[cold]
    fn probe(&self, now: Timestamp) -> Result<Lease, BreakerOpen> {
        let probed = self
            .circuit
            .probe(&self.settings.circuitry, self.pace.stamp(now));
        probed.map_err(|left| BreakerOpen {
            left: self.pace.ticks(left),
        })
    }

    /// How it stands.
    pub fn state(&self, now: Timestamp) -> BreakerState {
        let now = self.pace.stamp(now);
        let (_, kind, left) = self.circuit.state(&self.settings.circuitry, now);
        BreakerState::of(kind, left, self.pace)
    }
}

/// A call that a [`Breaker`] let through.
#[derive(Debug)]
#[must_use = "dropping a pass gives it back, and says nothing about the call"]
pub struct Pass<B: Deref<Target = Breaker>> {
    breaker: B,
    started: Timestamp,
    lease: Option<Lease>,
}

impl<B: Deref<Target = Breaker>> Pass<B> {
    /// Whether the call is one of the few that a half-open breaker lets through.
    pub fn is_probe(&self) -> bool {
        self.lease.is_some_and(Lease::is_probe)
    }

    /// Records how the call ended, and returns the change of state that this made. The random word spreads
    /// the open time.
    #[inline]
    pub fn finish(
        mut self,
        outcome: Outcome,
        now: Timestamp,
        random: u32,
    ) -> Option<BreakerChange> {
        let lease = self.lease.take()?;
        let breaker = &*self.breaker;
        let flip = breaker.circuit.settle(
            &breaker.settings.circuitry,
            lease,
            verdict(outcome),
            random,
            1,
            || {
                let took = now.since(self.started).unwrap_or_default();
                (took, breaker.pace.stamp(now))
            },
        );
        flip.map(BreakerChange::from)
    }
}

impl<B: Deref<Target = Breaker>> Drop for Pass<B> {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            self.breaker
                .circuit
                .give_back(&self.breaker.settings.circuitry, lease);
        }
    }
}

/// What an outcome is to a breaker.
pub(crate) const fn verdict(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Success => Verdict::Good,
        Outcome::Overload | Outcome::Failure => Verdict::Bad,
        Outcome::Ignored | Outcome::Cancelled => Verdict::Ignored,
    }
}

/// A breaker refused a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct BreakerOpen {
    /// The time after which probes are let through; 0 while they are out.
    pub left: Ticks,
}

impl fmt::Display for BreakerOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the breaker is open for another {} ticks; use a fallback or refuse the caller, do not retry here",
            self.left.get()
        )
    }
}

impl core::error::Error for BreakerOpen {}
