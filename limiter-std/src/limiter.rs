//! The handle.

use crate::clock::{Clock, MonotonicClock, RATE};
use crate::config::Config;
use crate::permit::Permit;
use crate::shared::Shared;
use crate::sync::Arc;
use core::fmt;
use core::time::Duration;
use limiter_core::law::{Knee, Law};
use limiter_core::{ConfigError, Rejected, Settled, Snapshot, Timestamp};

/// A handle to an adaptive concurrency limit. Clones lead to the same limit.
///
/// ```
/// use limiter_std::{Limiter, Outcome};
///
/// let limiter = Limiter::default();
/// match limiter.try_acquire() {
///     Ok(permit) => {
///         // The work, whose time and result steer the limit.
///         permit.finish(Outcome::Success);
///     }
///     Err(refused) => println!("busy: {refused}"),
/// }
/// ```
pub struct Limiter<L: Law = Knee, C: Clock = MonotonicClock> {
    shared: Arc<Shared<L, C>>,
}

impl<L: Law> Limiter<L> {
    /// A limiter under `law` with the defaults of [`Config::new`].
    ///
    /// The parameters of the shipped laws are checked when they are given; those of a law of your own
    /// are checked by [`try_new`](Limiter::try_new).
    pub fn new(law: L) -> Self {
        let core = limiter_core::Limiter::new(Config::new(law).core);
        Self::from_core(core, MonotonicClock::new())
    }

    /// A limiter from a configuration.
    ///
    /// # Errors
    ///
    /// The first field that does not work: its name, its value and what is allowed.
    pub fn try_new(config: Config<L>) -> Result<Self, ConfigError> {
        Self::with_clock(config, MonotonicClock::new())
    }
}

impl<L: Law, C: Clock> Limiter<L, C> {
    /// A limiter from a configuration, on a clock of your own.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Limiter::try_new).
    pub fn with_clock(config: Config<L>, clock: C) -> Result<Self, ConfigError> {
        let core = limiter_core::Limiter::try_new(config.core)?;
        Ok(Self::from_core(core, clock))
    }

    fn from_core(core: limiter_core::Limiter<L>, clock: C) -> Self {
        Self {
            shared: Arc::new(Shared::new(core, clock)),
        }
    }

    /// Takes a slot, or says at once why there is none. Never blocks.
    ///
    /// # Errors
    ///
    /// [`Rejected`] with the reason and the numbers.
    ///
    /// # Fairness
    ///
    /// None between newcomers. Those who wait already go first.
    #[inline]
    pub fn try_acquire(&self) -> Result<Permit<L, C>, Rejected> {
        let slot = self.shared.admit()?;
        Ok(Permit::new(Arc::clone(&self.shared), slot))
    }

    /// The present on the limiter's clock.
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// The time from `earlier` to `later` on the limiter's clock, 0 when it stepped back in between.
    pub fn between(&self, earlier: Timestamp, later: Timestamp) -> Duration {
        RATE.duration(later.since(earlier).unwrap_or_default())
    }

    /// The gauges of this moment.
    pub fn snapshot(&self) -> Snapshot {
        self.shared.core.snapshot()
    }

    /// Sets the limit; an adaptive law goes on from there. Shrinking below what is in flight admits
    /// nothing until enough have left.
    ///
    /// # Errors
    ///
    /// When `limit` is outside the bounds: move those first.
    pub fn set_limit(&self, limit: u32) -> Result<(), ConfigError> {
        let settled = self.shared.core.set_limit(limit, self.now())?;
        self.settled(settled);
        Ok(())
    }

    /// Moves the bounds, and the limit into them; what was learned is kept.
    ///
    /// # Errors
    ///
    /// When `min` is 0 or above `max`, or `max` above [`MAX_LIMIT`](crate::MAX_LIMIT); nothing changes.
    pub fn set_bounds(&self, min: u32, max: u32) -> Result<(), ConfigError> {
        let settled = self.shared.core.set_bounds(min, max, self.now())?;
        self.settled(settled);
        Ok(())
    }

    /// Refuses everybody from now on; those in flight may finish. There is no way back.
    pub fn close(&self) {
        self.settled(self.shared.core.close());
    }

    fn settled(&self, settled: Settled) {
        if let Some(change) = settled.change() {
            self.shared.changed(change);
        }
    }
}

impl Default for Limiter {
    /// A limiter under the default law.
    fn default() -> Self {
        Self::new(Knee::new())
    }
}

impl<L: Law, C: Clock> Clone for Limiter<L, C> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<L: Law, C: Clock> fmt::Debug for Limiter<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter")
            .field("snapshot", &self.snapshot())
            .finish_non_exhaustive()
    }
}
