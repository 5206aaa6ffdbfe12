//! One object for what a process depends on.

use crate::budget::{Budget, Source};
use crate::changing::reconfigure;
use crate::clock::{Clock, MonotonicClock};
use crate::shared::Lane;
use core::fmt;
use core::future::Future;
use limiter_core::law::{Knee, Law};
use limiter_core::{ConfigError, DependencySnapshot, RetryBudget, Timestamp};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

mod config;
mod counters;
mod fallback;
pub(crate) mod future;
mod options;
mod restart;
mod shared;
mod sleep;
mod thread;

pub use config::DependencyConfig;
pub use counters::DependencyCounts;
pub use fallback::Fallbacks;
#[cfg(feature = "tower")]
pub(crate) use options::say;
pub use options::{Attempt, CallOptions, Ending, GaveUp, Judge};
pub use restart::RECORD_SIZE;
pub(crate) use shared::Shared;
use shared::{Core, Guard};
pub use sleep::Sleep;
#[cfg(feature = "tokio")]
pub use sleep::Tokio;

/// A dependency as its caller sees it: a limit with a line of waiters, one budget for retries, hedges and
/// fallbacks, a breaker, a throttle, back-off, and timeouts that follow the measured latencies. Clones lead
/// to the same one.
///
/// Make one for each thing that can be overloaded by itself, and share it by all who call that thing in this
/// process: one for two would let one's bad day spend the other's retries.
///
/// ```
/// use limiter_std::{CallOptions, Dependency, Ending};
/// use std::io::{Error, ErrorKind};
///
/// let store = Dependency::default();
/// let answer = store.call(
///     CallOptions::new(),
///     |result| match result {
///         Ok(_) => Ending::success(),
///         Err(error) => match Error::kind(error) {
///             ErrorKind::TimedOut => Ending::timeout(),
///             ErrorKind::NotFound => Ending::ignored(),
///             _ => Ending::failure(),
///         },
///     },
///     |attempt| {
///         // Send it, with `attempt.timeout` as the timeout of the socket.
///         if attempt.number == 1 { Ok("rows") } else { Err(Error::other("gone")) }
///     },
/// );
/// assert_eq!(answer.expect("the first attempt answers"), "rows");
/// assert_eq!(store.counts().attempts, 1);
/// ```
pub struct Dependency<L: Law = Knee, C: Clock = MonotonicClock> {
    shared: Arc<Shared<L, C>>,
}

impl<L: Law + Copy> Dependency<L> {
    /// A dependency from a configuration. Its random delays start from a seed of the operating system's.
    ///
    /// # Errors
    ///
    /// The first field that does not work: its name, its value and what is allowed.
    pub fn try_new(config: DependencyConfig<L>) -> Result<Self, ConfigError> {
        Self::with_clock(config, MonotonicClock::new(), entropy())
    }
}

impl<L: Law + Copy, C: Clock> Dependency<L, C> {
    /// A dependency from a configuration, on a clock of your own, with a seed of your own: callers with the
    /// same one back off in step.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Dependency::try_new).
    pub fn with_clock(
        config: DependencyConfig<L>,
        clock: C,
        seed: u32,
    ) -> Result<Self, ConfigError> {
        let core = Core::try_new(config.limiter.tuned(), config.checked()?)?;
        let waiting = config.limiter.waiting();
        Ok(Self {
            shared: Arc::new(Shared::new(core, waiting, clock, seed)),
        })
    }
}

impl<L: Law, C: Clock> Dependency<L, C> {
    /// Makes a logical call in this thread: `attempt` is started as often as the policy, the budget and the
    /// breaker allow, with back-off between, all within the call's time. Attempts are made one after the
    /// other, without hedges.
    ///
    /// `judge` says what a result means. An attempt has to end by itself at its timeout; what its error says
    /// then is [`Ending::timeout`]. At the limit the call waits in line, for as long as it may last.
    ///
    /// # Errors
    ///
    /// [`GaveUp`], with the last result.
    ///
    /// # Fairness
    ///
    /// First come, first served, at the limit, with all who wait, threads and futures.
    pub fn call<T, E>(
        &self,
        options: CallOptions,
        judge: impl Fn(Result<&T, &E>) -> Ending,
        attempt: impl FnMut(Attempt) -> Result<T, E>,
    ) -> Result<T, GaveUp<T, E>> {
        thread::call(Guard::new(&self.shared, options), judge, attempt)
    }

    /// Makes a logical call as a future, on any runtime: `sleep` makes its timers (with the feature `tokio`,
    /// `Tokio`).
    ///
    /// The future owns its way to the dependency: it may be spawned. `attempt` makes the future of one attempt. It is dropped when its time is over; with
    /// [`CallOptions::hedge`] a second one may run beside it, and the slower of the two is dropped. `judge`
    /// says what a result means. At the limit the call waits in line, for as long as it may last.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use limiter_std::{CallOptions, Dependency, Ending};
    ///
    /// let store = Dependency::default();
    /// let answer = store
    ///     .call_async(
    ///         tokio::time::sleep,
    ///         CallOptions::new().hedge(),
    ///         |result| match result {
    ///             Ok(_) => Ending::success(),
    ///             Err(503) => Ending::overload(),
    ///             Err(_) => Ending::permanent(),
    ///         },
    ///         async |attempt| if attempt.number < 9 { Ok("rows") } else { Err(503) },
    ///     )
    ///     .await;
    /// assert_eq!(answer, Ok("rows"));
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`GaveUp`], with the last result: when a hedge fails, the attempt that it went beside may still answer;
    /// when both fail, that is the one which failed last.
    ///
    /// # Cancellation
    ///
    /// Drop the future after any poll: attempts that run are dropped and count as given up by their caller,
    /// and what was taken (slots, leases of the breaker, places in line and in back-off) is free.
    /// What a retry or a hedge cost is not given back.
    ///
    /// # Fairness
    ///
    /// As [`call`](Dependency::call).
    pub fn call_async<T, E, F, Z, J, A>(
        &self,
        sleep: Z,
        options: CallOptions,
        judge: J,
        attempt: A,
    ) -> impl Future<Output = Result<T, GaveUp<T, E>>> + use<T, E, F, Z, J, A, L, C>
    where
        F: Future<Output = Result<T, E>>,
        Z: Sleep,
        J: Fn(Result<&T, &E>) -> Ending,
        A: FnMut(Attempt) -> F,
    {
        future::Calling::new(&self.shared, options, sleep, judge, attempt)
    }

    /// The budget: to reconfigure it, to charge what is done outside of calls, to look at it.
    pub fn budget(&self) -> Budget
    where
        L: Send + Sync + 'static,
    {
        let shared: Arc<Shared<L, C>> = Arc::clone(&self.shared);
        Budget::of(shared)
    }

    /// The gauges of this moment; see [`duration`](crate::duration) for times in them. Has no side effect.
    pub fn snapshot(&self) -> DependencySnapshot {
        self.shared.core.snapshot(self.now())
    }

    /// What was counted since it was made.
    pub fn counts(&self) -> DependencyCounts {
        self.shared.counters.read()
    }

    /// How many threads and futures wait for a slot.
    pub fn queued(&self) -> usize {
        self.shared.waiters().len()
    }

    /// The present on the dependency's clock.
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// Sets the limit; an adaptive law goes on from there.
    ///
    /// # Errors
    ///
    /// When `limit` is outside the bounds: move those first.
    pub fn set_limit(&self, limit: u32) -> Result<(), ConfigError> {
        self.shared.set_limit(limit)
    }

    /// Moves the bounds of the limit, and the limit into them.
    ///
    /// # Errors
    ///
    /// When `min` is 0 or above `max`, or `max` above [`MAX_LIMIT`](crate::MAX_LIMIT); nothing changes.
    pub fn set_bounds(&self, min: u32, max: u32) -> Result<(), ConfigError> {
        self.shared.set_bounds(min, max)
    }

    /// Changes the law of the limit, or its parameters, as [`Limiter::set_law`](crate::Limiter::set_law) does.
    ///
    /// # Errors
    ///
    /// A parameter that does not work; nothing changes.
    pub fn set_law(&self, law: L) -> Result<(), ConfigError> {
        self.shared.core().law().set(law)
    }

    /// Goes by another configuration from now on, and keeps what was learned: the limiter's as by
    /// [`Limiter::reconfigure`](crate::Limiter::reconfigure), and the budget's, which stays equally full.
    /// Everything else is that of the start, whatever is given here: attempts, times, back-off, costs, breaker,
    /// throttle. One that was closed stays closed.
    ///
    /// # Errors
    ///
    /// The first field that does not work; nothing changes.
    pub fn reconfigure(&self, config: &DependencyConfig<L>) -> Result<(), ConfigError>
    where
        L: Copy,
    {
        let config = config.started();
        let core = config.checked()?;
        core.check()?;
        reconfigure(&*self.shared, &config.limiter)?;
        let budget = self.shared.core.budget();
        budget.reconfigure(core.budget_config(), self.now())
    }

    /// Refuses every attempt from now on, also those in line; those in flight may finish. There is no way
    /// back.
    pub fn close(&self) {
        self.shared.close();
    }

    pub(crate) const fn shared(&self) -> &Arc<Shared<L, C>> {
        &self.shared
    }
}

impl<L: Law + Send + Sync, C: Clock> Source for Shared<L, C> {
    fn budget(&self) -> &RetryBudget {
        self.core.budget()
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn is_told(&self) -> bool {
        false
    }
}

/// A word that no other process has: hash maps are seeded by the operating system.
pub(crate) fn entropy() -> u32 {
    RandomState::new().hash_one(0_u8) as u32
}

impl Default for Dependency {
    /// A dependency with the defaults of [`DependencyConfig`].
    fn default() -> Self {
        let config = DependencyConfig::default();
        match Self::try_new(config) {
            Ok(dependency) => dependency,
            // Never, for these are the defaults.
            Err(error) => error.fail(),
        }
    }
}

impl<L: Law, C: Clock> Clone for Dependency<L, C> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<L: Law, C: Clock> fmt::Debug for Dependency<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dependency")
            .field("snapshot", &self.snapshot())
            .finish_non_exhaustive()
    }
}
