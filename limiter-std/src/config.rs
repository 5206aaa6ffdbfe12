//! The configuration, in durations instead of ticks.

use crate::callers::DEFAULT_BEYOND_MAY_USE;
use crate::clock::RATE;
use crate::tuned::Tuned;
use crate::wait::{Allowed, DEFAULT_INTERVAL, DEFAULT_TARGET, Settings};
use core::time::Duration;
use limiter_core::law::{Knee, Law};
use limiter_core::{ConfigError, Shares};

/// How many may wait unless configured otherwise: the backlog of Netflix's concurrency-limits, ten round
/// trips at the initial limit.
pub const DEFAULT_QUEUE_LENGTH: u32 = 100;

/// The longest queue: a million waiters have long given up.
pub const MAX_QUEUE_LENGTH: u32 = 1 << 20;

/// How long one may wait unless configured otherwise: a minute, after which nginx's proxies give up as well
/// (`proxy_read_timeout`). Whoever waits longer is not there any more.
pub const DEFAULT_LONGEST_WAIT: Duration = Duration::from_secs(60);

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
/// assert_eq!(refused.unwrap_err().to_string(), "min = 0: allowed are 1 to 1000 (max)");
/// # Ok::<(), limiter_std::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config<L = Knee> {
    pub(crate) core: limiter_core::Config<L>,
    /// `None` where nobody may wait.
    queue_length: Option<u32>,
    /// `None` where one may wait for ever.
    longest_wait: Option<Duration>,
    standing_delay: (Duration, Duration),
    /// Per mille.
    beyond: u16,
    watching: bool,
}

impl<L: Law + Copy> Config<L> {
    /// Defaults around `law`: initial limit 10, bounds 1 to 1,000, windows of 10 ms to 1 s and at least
    /// 10 samples, 2 % of overloads tolerated, a queue of [`DEFAULT_QUEUE_LENGTH`] in which one waits no
    /// longer than [`DEFAULT_LONGEST_WAIT`].
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
            longest_wait: Some(DEFAULT_LONGEST_WAIT),
            standing_delay: (DEFAULT_TARGET, DEFAULT_INTERVAL),
            beyond: DEFAULT_BEYOND_MAY_USE,
            watching: false,
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
    ///
    /// That of the start: [`reconfigure`](crate::Limiter::reconfigure) changes nothing of it.
    #[must_use]
    pub const fn windows(self, shortest: Duration, longest: Duration) -> Self {
        self.with(self.core.windows(shortest, longest))
    }

    /// How many successes a window needs to be judged by, at least 1.
    ///
    /// That of the start: [`reconfigure`](crate::Limiter::reconfigure) changes nothing of it.
    #[must_use]
    pub const fn min_samples(self, samples: u32) -> Self {
        self.with(self.core.min_samples(samples))
    }

    /// The share of overloads, per mille, that is normal; above it the law cuts.
    ///
    /// That of the start: [`reconfigure`](crate::Limiter::reconfigure) changes nothing of it.
    #[must_use]
    pub const fn overload_tolerance(self, per_mille: u32) -> Self {
        self.with(self.core.overload_tolerance(per_mille))
    }

    /// After so many overloads since the window opened a share clearly above the tolerated one, by more than
    /// four times, cuts at once, without waiting for the window's end.
    ///
    /// That of the start: [`reconfigure`](crate::Limiter::reconfigure) changes nothing of it.
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

    /// How long one may wait, at least a tick, whatever time it has of its own.
    ///
    /// A thread gives up then. A future without a timer is told when the queue next moves.
    #[must_use]
    pub const fn longest_wait(mut self, time: Duration) -> Self {
        self.longest_wait = Some(time);
        self
    }

    /// One may wait as long as it likes.
    #[must_use]
    pub const fn without_longest_wait(mut self) -> Self {
        self.longest_wait = None;
        self
    }

    /// Where the wait of everybody served is above `target` for `interval`, those of a class who came last
    /// are served first, until its queue is short again: they have the most of their time left, while those
    /// who came first are about to give up. 5 ms and 100 ms by default, at least a tick each.
    ///
    /// The default is CoDel's for networks (RFC 8289), which Facebook found to suit queues of requests too
    /// ("Fail at Scale", ACM Queue 13(8), 2015). As there, the shortest of queues never stands: one waiter,
    /// or a wait of two gaps between slots. A `target` of [`Duration::MAX`] keeps the order of arrival.
    #[must_use]
    pub const fn standing_delay(mut self, target: Duration, interval: Duration) -> Self {
        self.standing_delay = (target, interval);
        self
    }

    /// What each class of requests may use of the limit.
    #[must_use]
    pub const fn shares(self, shares: Shares) -> Self {
        self.with(self.core.shares(shares))
    }

    /// What callers that have had more than their share may use of the limit, per mille from 1 to 1,000,
    /// whatever their class; [`DEFAULT_BEYOND_MAY_USE`] by default. The rest is kept free for others. For
    /// requests that [name their caller](crate::Request::caller).
    #[must_use]
    pub const fn beyond_may_use(mut self, per_mille: u16) -> Self {
        self.beyond = per_mille;
        self
    }

    /// Refuses nobody, and lets nobody wait: counts what would have been refused, in
    /// [`Limiter::watched`](crate::Limiter::watched), and lets it through. For a while before the limiter is
    /// trusted; [`Watched`](crate::Watched) says what the numbers mean. A closed limiter refuses all the same.
    ///
    /// ```
    /// use limiter_std::{Config, Limiter, law::Fixed};
    ///
    /// let limiter = Limiter::try_new(Config::new(Fixed).initial(1).watch_only(true))?;
    /// let first = limiter.try_acquire()?;
    /// let second = limiter.try_acquire()?;
    /// assert!(first.has_slot() && !second.has_slot());
    /// assert_eq!(limiter.watched().at_limit, 1);
    ///
    /// limiter.set_watch_only(false);
    /// assert!(limiter.try_acquire().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn watch_only(mut self, on: bool) -> Self {
        self.watching = on;
        self
    }

    /// For a limiter that has started, where the initial limit says nothing any more.
    pub(crate) const fn started(self) -> Self {
        let (min, _) = self.core.bounds();
        self.initial(min)
    }

    const fn with(mut self, core: limiter_core::Config<L>) -> Self {
        self.core = core;
        self
    }

    /// What the core's limiter is built from.
    pub(crate) fn tuned(&self) -> limiter_core::Config<Tuned<L>> {
        self.core.with_law(Tuned::new(*self.core.law()))
    }
}

impl<L: Law> Config<L> {
    pub(crate) const fn beyond_share(&self) -> u16 {
        self.beyond
    }

    pub(crate) const fn is_watching(&self) -> bool {
        self.watching
    }

    /// Checks everything.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        self.check_waiting()?;
        self.core.check()?;
        self.core.law().check()
    }

    const fn check_waiting(&self) -> Result<(), ConfigError> {
        if let Err(error) = ConfigError::check("beyond_may_use", self.beyond as u64, 1, 1_000) {
            return Err(error);
        }
        if let Some(waiters) = self.queue_length {
            let most = MAX_QUEUE_LENGTH as u64;
            if let Err(error) = ConfigError::check("queue_length", waiters as u64, 1, most) {
                return Err(error);
            }
        }
        if let Some(longest) = self.longest_wait {
            if let Err(error) = at_least_a_tick("longest_wait in ns", longest) {
                return Err(error);
            }
        }
        let (target, interval) = self.standing_delay;
        match at_least_a_tick("standing_delay.target in ns", target) {
            Ok(()) => at_least_a_tick("standing_delay.interval in ns", interval),
            error => error,
        }
    }

    /// What the queue goes by.
    pub(crate) const fn waiting(&self) -> Settings {
        let (target, interval) = self.standing_delay;
        Settings {
            length: match self.queue_length {
                Some(waiters) => waiters,
                None => 0,
            },
            longest: match self.longest_wait {
                Some(longest) => Some(RATE.ticks(longest)),
                None => None,
            },
            allowed: Allowed::new(target, interval),
        }
    }
}

/// Zero would be read as "no limit" by some and as "never" by others. Anything longer is a tick at least.
const fn at_least_a_tick(field: &'static str, time: Duration) -> Result<(), ConfigError> {
    let nanos = if time.as_secs() == 0 {
        time.subsec_nanos() as u64
    } else {
        u64::MAX
    };
    ConfigError::check(field, nanos, 1, u64::MAX)
}

impl Default for Config<Knee> {
    fn default() -> Self {
        Self::new(Knee::new())
    }
}
