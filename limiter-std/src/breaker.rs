//! A breaker with a clock.

use crate::clock::{Clock, MonotonicClock, RATE};
use crate::dependency::entropy;
use core::fmt;
use core::ops::Deref;
use limiter_core::{
    BreakerConfig, BreakerOpen, BreakerState, ConfigError, Outcome, Random, Timestamp,
};
use std::sync::Arc;

/// A handle to a circuit breaker for use alone; clones lead to the same one. In a
/// [`Dependency`](crate::Dependency) there is one already.
///
/// See [`limiter_core::Breaker`] for when it opens and closes.
///
/// ```
/// use limiter_std::{Breaker, BreakerConfig, Outcome};
///
/// let breaker = Breaker::try_new(BreakerConfig::new().consecutive(Some(1)))?;
/// breaker.try_pass().expect("closed").finish(Outcome::Failure);
/// assert!(breaker.try_pass().is_err());
/// # Ok::<(), limiter_std::ConfigError>(())
/// ```
pub struct Breaker<C: Clock = MonotonicClock> {
    shared: Arc<Shared<C>>,
}

#[derive(Debug)]
struct Shared<C> {
    core: limiter_core::Breaker,
    clock: C,
    random: Random,
}

impl Breaker {
    /// A closed breaker from a configuration. Its random open times start from a seed of the operating
    /// system's.
    ///
    /// # Errors
    ///
    /// The first field that does not work.
    pub fn try_new(config: BreakerConfig) -> Result<Self, ConfigError> {
        Self::with_clock(config, MonotonicClock::new(), entropy())
    }
}

impl<C: Clock> Breaker<C> {
    /// A closed breaker on a clock of your own, with a seed of your own.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Breaker::try_new).
    pub fn with_clock(config: BreakerConfig, clock: C, seed: u32) -> Result<Self, ConfigError> {
        Ok(Self {
            shared: Arc::new(Shared {
                core: limiter_core::Breaker::try_new(config, RATE)?,
                clock,
                random: Random::new(seed),
            }),
        })
    }

    /// Lets a call through, or refuses it.
    ///
    /// # Errors
    ///
    /// [`BreakerOpen`] with the time after which it is worth to try again, as a
    /// [`duration`](crate::duration).
    pub fn try_pass(&self) -> Result<Pass<C>, BreakerOpen> {
        let handle = Handle(Arc::clone(&self.shared));
        let pass = limiter_core::Breaker::try_pass_owned(handle, self.shared.clock.now())?;
        Ok(Pass {
            pass,
            shared: Arc::clone(&self.shared),
        })
    }

    /// How it stands. Reading it has no side effect: open becomes half open by time alone.
    pub fn state(&self) -> BreakerState {
        self.shared.core.state(self.now())
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }
}

#[derive(Debug)]
struct Handle<C>(Arc<Shared<C>>);

impl<C> Deref for Handle<C> {
    type Target = limiter_core::Breaker;

    fn deref(&self) -> &limiter_core::Breaker {
        &self.0.core
    }
}

/// A call that a [`Breaker`] let through; it may move to another thread.
///
/// # Cancellation
///
/// Dropping it says nothing about the call, and gives the lease of a half-open breaker back.
#[derive(Debug)]
#[must_use = "dropping a pass gives it back, and says nothing about the call"]
pub struct Pass<C: Clock = MonotonicClock> {
    pass: limiter_core::Pass<Handle<C>>,
    shared: Arc<Shared<C>>,
}

impl<C: Clock> Pass<C> {
    /// Records how the call ended.
    pub fn finish(self, outcome: Outcome) {
        let (now, word) = (self.shared.clock.now(), self.shared.random.word());
        // The change of state can be read off the breaker.
        let _ = self.pass.finish(outcome, now, word);
    }

    /// Whether the call is one of the few that a half-open breaker lets through.
    pub fn is_probe(&self) -> bool {
        self.pass.is_probe()
    }
}

impl<C: Clock> Clone for Breaker<C> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<C: Clock> fmt::Debug for Breaker<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker")
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
