//! The handle.

use crate::clock::{Clock, MonotonicClock, RATE};
use crate::config::Config;
use crate::permit::Permit;
use crate::request::Request;
use crate::shared::{Lane, Shared};
use crate::wait::{self, Acquire, AcquireUntil, Line, QueueSnapshot};
use crate::way::Door;
use core::fmt;
use core::future::Future;
use core::time::Duration;
use limiter_core::law::{Knee, Law};
use limiter_core::{ConfigError, Priority, Rejected, Snapshot, Timestamp};
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

impl<L: Law + Copy> Limiter<L> {
    /// A limiter under `law` with the defaults of [`Config::new`].
    ///
    /// # Panics
    ///
    /// If the law's own [check](Law::check) fails: never that of a law of this crate, whose parameters were checked
    /// when they were given. For a law of your own use [`try_new`](Limiter::try_new).
    pub fn new(law: L) -> Self {
        let config = Config::new(law);
        match limiter_core::Limiter::try_new(config.tuned()) {
            Ok(core) => Self::from_door(Door::Plain(core), &config, MonotonicClock::new()),
            // Of the law's own check alone, for the rest are the defaults.
            Err(error) => error.fail(),
        }
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

impl<L: Law + Copy, C: Clock> Limiter<L, C> {
    /// A limiter from a configuration, on a clock of your own.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Limiter::try_new).
    pub fn with_clock(config: Config<L>, clock: C) -> Result<Self, ConfigError> {
        config.check()?;
        let core = limiter_core::Limiter::try_new(config.tuned())?;
        Ok(Self::from_door(Door::Plain(core), &config, clock))
    }
}

impl<L: Law, C: Clock> Limiter<L, C> {
    pub(crate) fn from_door(door: Door<L>, config: &Config<L>, clock: C) -> Self {
        Self {
            shared: Arc::new(Shared::new(door, config, clock)),
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
    /// None between newcomers. Those who wait already go first, but for those of lower classes: this is of the
    /// highest.
    #[inline]
    pub fn try_acquire(&self) -> Result<Permit<L, C>, Rejected> {
        self.try_now()
            .map_err(|refused| self.shared.refused(refused, &Request::new()))
    }

    /// Takes a slot, blocking the thread until there is one. For futures use
    /// [`acquire_async`](Limiter::acquire_async).
    ///
    /// # Errors
    ///
    /// [`Rejected`]: as many wait as the queue holds, nobody may wait, the limiter was closed, or the
    /// [longest wait](Config::longest_wait) is over, or would be.
    ///
    /// # Fairness
    ///
    /// First come, first served, with all who wait, threads and futures, except where the delay
    /// [stands](Config::standing_delay); before requests of lower classes.
    pub fn acquire(&self) -> Result<Permit<L, C>, Rejected> {
        self.acquire_for(Request::new())
    }

    /// Takes a slot, blocking the thread for at most `timeout`. For futures use
    /// [`acquire_until`](Limiter::acquire_until).
    ///
    /// The timeout is measured on the limiter's clock and rounded up to a tick. One that comes together
    /// with the slot keeps the slot. Zero waits for nothing, and a timeout longer than the
    /// [longest wait](Config::longest_wait) is that one. Refused at once when those ahead will take longer,
    /// as [`WouldExpire`](limiter_core::RejectReason::WouldExpire).
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
        self.acquire_timeout_for(Request::new(), timeout)
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
        self.acquire_async_for(Request::new())
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

    /// As [`try_acquire`](Limiter::try_acquire), for a request that says what it is: its priority, how
    /// many slots it takes, whether it is a retry.
    ///
    /// ```
    /// use limiter_std::{Config, Limiter, Priority, Request, law::Fixed};
    ///
    /// let limiter = Limiter::try_new(Config::new(Fixed).initial(10))?;
    /// let report = Request::new().priority(Priority::Batch).weight(7);
    /// let held = limiter.try_acquire_for(report).expect("seven tenths of the limit are for batch work");
    /// assert!(limiter.try_acquire_for(report).is_err());
    /// assert!(limiter.try_acquire().is_ok());
    /// # drop(held);
    /// # Ok::<(), limiter_std::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Limiter::try_acquire), and
    /// [`ShareTaken`](limiter_core::RejectReason::ShareTaken),
    /// [`TooHeavy`](limiter_core::RejectReason::TooHeavy).
    ///
    /// # Fairness
    ///
    /// None between newcomers. Those who wait in its class or a higher one go first.
    pub fn try_acquire_for(&self, request: Request) -> Result<Permit<L, C>, Rejected> {
        self.try_now_for(request)
            .map_err(|rejected| self.refused(rejected, &request))
    }

    /// As [`acquire`](Limiter::acquire), for a request that says what it is.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Limiter::acquire), and [`TooHeavy`](limiter_core::RejectReason::TooHeavy) at once. In
    /// a full queue a waiter of a lower class is refused instead.
    ///
    /// # Fairness
    ///
    /// Classes in order, and in each as [`acquire`](Limiter::acquire). A heavy request is not passed by
    /// lighter ones of its class or a lower one.
    pub fn acquire_for(&self, request: Request) -> Result<Permit<L, C>, Rejected> {
        self.block(Line::new(Arc::clone(&self.shared), request))
    }

    /// As [`acquire_timeout`](Limiter::acquire_timeout), for a request that says what it is.
    ///
    /// Errors and fairness are those of [`acquire_for`](Limiter::acquire_for).
    pub fn acquire_timeout_for(
        &self,
        request: Request,
        timeout: Duration,
    ) -> Result<Permit<L, C>, Rejected> {
        let deadline = self.now().after(RATE.ticks(timeout));
        self.block(Line::new(Arc::clone(&self.shared), request).by(deadline))
    }

    /// A permit without a slot, for one whom a limiter that only watches let through.
    #[cfg(feature = "http")]
    pub(crate) fn let_through(&self) -> Permit<L, C> {
        Permit::new(Arc::clone(&self.shared), None)
    }

    fn block(&self, line: Line<Shared<L, C>>) -> Result<Permit<L, C>, Rejected> {
        let (shared, slot) = wait::block(line, self.shared.clock())?;
        Ok(Permit::new(shared, slot))
    }

    /// As [`acquire_async`](Limiter::acquire_async), for a request that says what it is. Give it the time it
    /// has by [`Acquire::within`], and a timer by [`Acquire::until`].
    ///
    /// Errors and fairness are those of [`acquire_for`](Limiter::acquire_for).
    ///
    /// # Cancellation
    ///
    /// As [`acquire_async`](Limiter::acquire_async).
    pub fn acquire_async_for(&self, request: Request) -> Acquire<L, C> {
        Acquire::new(Line::new(Arc::clone(&self.shared), request))
    }

    /// Who waits in a class.
    pub fn queue(&self, class: Priority) -> QueueSnapshot {
        let (len, oldest, newest_first) = self.shared.waiters().class(class, self.now());
        QueueSnapshot {
            len,
            oldest: RATE.duration(oldest),
            newest_first,
        }
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

    /// The gauges of this moment. Slots that are guaranteed to a partition and not in use are not in flight.
    pub fn snapshot(&self) -> Snapshot {
        self.shared.snapshot()
    }

    /// Whether it was [closed](Limiter::close).
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.shared.core().is_closed()
    }

    pub(crate) const fn from_shared(shared: Arc<Shared<L, C>>) -> Self {
        Self { shared }
    }

    pub(crate) const fn shared(&self) -> &Arc<Shared<L, C>> {
        &self.shared
    }

    /// Whether there is no other handle, no permit and no waiter. Only whoever keeps others from this handle
    /// may rely on it.
    pub(crate) fn is_only_handle(&self) -> bool {
        Arc::strong_count(&self.shared) == 1
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
