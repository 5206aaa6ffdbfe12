//! The configuration, in durations instead of ticks.

use crate::clock::RATE;
use core::time::Duration;
use limiter_core::ConfigError;
use limiter_core::law::{Knee, Law};

/// How many may wait unless configured otherwise: the backlog of Netflix's concurrency-limits, ten round
/// trips at the initial limit.
pub const DEFAULT_QUEUE_LENGTH: u32 = 100;

/// The longest queue: a million waiters have long given up.
pub const MAX_QUEUE_LENGTH: u32 = 1 << 20;

/// What a limiter is built from. Every value has a default; a bad one is reported by
/// [`Limiter::try_new`](crate::Limiter::try_new).
///
/// ```
/// use limiter_std::{Config, Limiter, law::Aimd};
///
/// let limiter = Limiter::try_new(Config::new(Aimd::new()).initial(8).min(2).max(64))?;
/// assert_eq!(limiter.snapshot().limit, 8);
///
/// let refused = Limiter::try_new(Config::default().min(0));
/// assert_eq!(refused.unwrap_err().to_string(), "min = 0: allowed are 1 to 1000");
/// # Ok::<(), limiter_std::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config<L = Knee> {
    pub(crate) core: limiter_core::Config<L>,
    /// `None` where nobody may wait.
    queue_length: Option<u32>,
}

impl<L: Law> Config<L> {
    /// Defaults around `law`: initial limit 10, bounds 1 to 1,000, windows of 10 ms to 1 s and at least
    /// 10 samples, 2 % of overloads tolerated, a queue of [`DEFAULT_QUEUE_LENGTH`].
    ///
    /// ```
    /// use limiter_std::{Config, Limiter, law::Fixed};
    ///
    /// let snapshot = Limiter::try_new(Config::new(Fixed))?.snapshot();
    /// assert_eq!((snapshot.limit, snapshot.min, snapshot.max), (10, 1, 1_000));
    /// # Ok::<(), limiter_std::ConfigError>(())
    /// ```
    pub const fn new(law: L) -> Self {
        Self {
            core: limiter_core::Config::new(law, RATE),
            queue_length: Some(DEFAULT_QUEUE_LENGTH),
        }
    }

    /// The limit before the first window closes. Not moved into the bounds: bounds that leave out the
    /// default of 10 need an initial limit too.
    #[must_use]
    pub const fn initial(self, limit: u32) -> Self {
        self.with(self.core.initial(limit))
    }

    /// The smallest limit a law may set, at least 1.
    #[must_use]
    pub const fn min(self, limit: u32) -> Self {
        self.with(self.core.min(limit))
    }

    /// The largest limit a law may set, at most [`MAX_LIMIT`](crate::MAX_LIMIT).
    #[must_use]
    pub const fn max(self, limit: u32) -> Self {
        self.with(self.core.max(limit))
    }

    /// The shortest and the longest window, where the law does not ask for its own.
    ///
    /// A window closes when the shortest has passed (or two usual RTTs, if that is longer) with enough
    /// samples; when the longest has passed after that, with whatever there is. Where the limit was reached and
    /// permits last so long that too few can have ended, it goes on until enough could have.
    #[must_use]
    pub const fn windows(self, shortest: Duration, longest: Duration) -> Self {
        self.with(self.core.windows(shortest, longest))
    }

    /// How many successes a window needs to be judged by, at least 1.
    #[must_use]
    pub const fn min_samples(self, samples: u32) -> Self {
        self.with(self.core.min_samples(samples))
    }

    /// The share of overloads, per mille, that is normal; above it the law cuts.
    #[must_use]
    pub const fn overload_tolerance(self, per_mille: u32) -> Self {
        self.with(self.core.overload_tolerance(per_mille))
    }

    /// After so many overloads since the window opened a share clearly above the tolerated one, by more than
    /// four times, cuts at once, without waiting for the window's end.
    #[must_use]
    pub const fn urgent_overloads(self, count: u32) -> Self {
        self.with(self.core.urgent_overloads(count))
    }

    /// How many may wait at once, threads and futures together, from 1 to [`MAX_QUEUE_LENGTH`].
    ///
    /// Memory is taken as the queue grows, and kept.
    #[must_use]
    pub const fn queue_length(mut self, waiters: u32) -> Self {
        self.queue_length = Some(waiters);
        self
    }

    /// Nobody may wait: every acquire behaves like a [`try_acquire`](crate::Limiter::try_acquire).
    #[must_use]
    pub const fn without_queue(mut self) -> Self {
        self.queue_length = None;
        self
    }

    pub(crate) const fn check(&self) -> Result<(), ConfigError> {
        match self.queue_length {
            Some(waiters) => {
                ConfigError::check("queue_length", waiters as u64, 1, MAX_QUEUE_LENGTH as u64)
            }
            None => Ok(()),
        }
    }

    /// How many may wait, 0 where nobody may.
    pub(crate) const fn waiters(&self) -> usize {
        match self.queue_length {
            Some(waiters) => waiters as usize,
            None => 0,
        }
    }

    const fn with(mut self, core: limiter_core::Config<L>) -> Self {
        self.core = core;
        self
    }
}

impl Default for Config<Knee> {
    fn default() -> Self {
        Self::new(Knee::new())
    }
}
