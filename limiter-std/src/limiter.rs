//! The handle.

use crate::clock::{Clock, MonotonicClock, RATE};
use crate::config::Config;
use crate::permit::Permit;
use crate::shared::{Lane, Shared};
use crate::wait::{self, Acquire, AcquireUntil, Line};
use core::fmt;
use core::future::Future;
use core::time::Duration;
use limiter_core::law::{Knee, Law};
use limiter_core::{ConfigError, Rejected, Snapshot, Timestamp};
use std::sync::Arc;

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
        let config = Config::new(law);
        let core = limiter_core::Limiter::new(config.core);
        Self::from_core(core, config.waiters(), MonotonicClock::new())
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
        config.check()?;
        let core = limiter_core::Limiter::try_new(config.core)?;
        Ok(Self::from_core(core, config.waiters(), clock))
    }

    fn from_core(core: limiter_core::Limiter<L>, waiters: usize, clock: C) -> Self {
        Self {
            shared: Arc::new(Shared::new(core, waiters, clock)),
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

    /// Takes a slot, blocking the thread until there is one. For futures use
    /// [`acquire_async`](Limiter::acquire_async).
    ///
    /// # Errors
    ///
    /// [`Rejected`]: as many wait as the queue holds, nobody may wait, or the limiter was closed.
    ///
    /// # Fairness
    ///
    /// First come, first served, with all who wait, threads and futures.
    pub fn acquire(&self) -> Result<Permit<L, C>, Rejected> {
        let (shared, slot) = wait::block(Line::new(Arc::clone(&self.shared)))?;
        Ok(Permit::new(shared, slot))
    }

    /// Takes a slot, blocking the thread for at most `timeout`. For futures use
    /// [`acquire_until`](Limiter::acquire_until).
    ///
    /// The timeout is measured on the limiter's clock and rounded up to a tick. One that comes together
    /// with the slot keeps the slot. Zero waits for nothing, and a timeout too long for the clock waits for
    /// ever.
    ///
    /// ```
    /// use core::time::Duration;
    /// use limiter_std::{Config, Limiter, RejectReason, law::Fixed};
    ///
    /// let limiter = Limiter::try_new(Config::new(Fixed).initial(1))?;
    /// let first = limiter.acquire().expect("nothing is in flight");
    /// let refused = limiter.acquire_timeout(Duration::from_millis(5)).unwrap_err();
    /// assert_eq!(refused.reason, RejectReason::TimedOut);
    /// # drop(first);
    /// # Ok::<(), limiter_std::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`acquire`](Limiter::acquire), and [`TimedOut`](limiter_core::RejectReason::TimedOut).
    ///
    /// # Fairness
    ///
    /// As [`acquire`](Limiter::acquire).
    pub fn acquire_timeout(&self, timeout: Duration) -> Result<Permit<L, C>, Rejected> {
        let deadline = self.now().after(RATE.ticks(timeout));
        let line = Line::new(Arc::clone(&self.shared));
        let (shared, slot) = wait::block_until(line, self.shared.clock(), deadline)?;
        Ok(Permit::new(shared, slot))
    }

    /// Takes a slot, as a future that waits until there is one, on any runtime.
    ///
    /// Errors and fairness are those of [`acquire`](Limiter::acquire).
    ///
    /// ```
    /// # fn main() -> Result<(), limiter_std::Rejected> { pollster::block_on(async {
    /// use limiter_std::{Limiter, Outcome};
    ///
    /// let limiter = Limiter::default();
    /// let permit = limiter.acquire_async().await?;
    /// permit.finish(Outcome::Success);
    /// # Ok(()) }) }
    /// ```
    ///
    /// # Cancellation
    ///
    /// Drop the future at any time: it leaves the queue, and a slot that it was granted but had not taken
    /// yet goes to the next waiter.
    pub fn acquire_async(&self) -> Acquire<L, C> {
        Acquire::new(Arc::clone(&self.shared))
    }

    /// Takes a slot, as a future that waits until there is one or `timer` is done.
    ///
    /// `timer` is any future, usually the runtime's sleep. One that comes together with the slot keeps
    /// the slot.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use core::time::Duration;
    /// use limiter_std::{Config, Limiter, RejectReason, law::Fixed};
    ///
    /// let limiter = Limiter::try_new(Config::new(Fixed).initial(1))?;
    /// let first = limiter.acquire_async().await?;
    /// let timer = tokio::time::sleep(Duration::from_millis(5));
    /// let refused = limiter.acquire_until(timer).await.unwrap_err();
    /// assert_eq!(refused.reason, RejectReason::TimedOut);
    /// # drop(first);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`acquire`](Limiter::acquire), and [`TimedOut`](limiter_core::RejectReason::TimedOut).
    ///
    /// # Cancellation
    ///
    /// As [`acquire_async`](Limiter::acquire_async).
    ///
    /// # Fairness
    ///
    /// As [`acquire`](Limiter::acquire).
    pub fn acquire_until<T: Future<Output = ()>>(&self, timer: T) -> AcquireUntil<T, L, C> {
        self.acquire_async().until(timer)
    }

    /// How many threads and futures wait for a slot.
    pub fn queued(&self) -> usize {
        self.shared.waiters().len()
    }

    /// The present on the limiter's clock.
    pub fn now(&self) -> Timestamp {
        self.shared.clock().now()
    }

    /// The time from `earlier` to `later` on the limiter's clock, 0 when it stepped back in between.
    pub fn between(&self, earlier: Timestamp, later: Timestamp) -> Duration {
        RATE.duration(later.since(earlier).unwrap_or_default())
    }

    /// The gauges of this moment.
    pub fn snapshot(&self) -> Snapshot {
        self.shared.core().snapshot()
    }

    /// Sets the limit; an adaptive law goes on from there. Shrinking below what is in flight admits
    /// nothing until enough have left.
    ///
    /// # Errors
    ///
    /// When `limit` is outside the bounds: move those first.
    pub fn set_limit(&self, limit: u32) -> Result<(), ConfigError> {
        self.shared.set_limit(limit)
    }

    /// Moves the bounds, and the limit into them; what was learned is kept.
    ///
    /// # Errors
    ///
    /// When `min` is 0 or above `max`, or `max` above [`MAX_LIMIT`](crate::MAX_LIMIT); nothing changes.
    pub fn set_bounds(&self, min: u32, max: u32) -> Result<(), ConfigError> {
        self.shared.set_bounds(min, max)
    }

    /// Refuses everybody from now on, also those who wait; those in flight may finish. There is no way
    /// back.
    pub fn close(&self) {
        self.shared.close();
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
