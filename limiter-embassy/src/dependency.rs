//! One object for what a device depends on.

use crate::clock::{RATE, now};
use crate::retained::Retained;
use crate::wait::{Lane, Line};
use core::cell::Cell;
use core::fmt;
use core::time::Duration;
use embassy_sync::blocking_mutex::Mutex;
use embassy_sync::blocking_mutex::raw::RawMutex;
use embassy_time::Timer;
use limiter_core::law::{Aimd, Law};
use limiter_core::{
    Config, ConfigError, DependencyConfig, DependencySnapshot, Events, Journal, Latencies, Policy,
    Random, RecordError, RetryBudget, Ticks,
};

/// A policy at the tick rate of `embassy_time`, with the core's defaults.
pub const fn policy() -> DependencyConfig {
    DependencyConfig::new(RATE)
}

/// A dependency of a device: a limit, a budget for retries, a breaker, back-off and timeouts, in a `static`.
///
/// The policy stays in flash. `seed` has to differ from device to device, or a fleet that failed together
/// comes back together: [`stir`](Dependency::stir) the serial number in where it is not known to the compiler.
///
/// ```
/// # use mock_clock as _;
/// use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
/// use limiter_embassy::{
///     CallOptions, Dependency, Ending, Policy, config, law::Aimd, policy,
/// };
///
/// static POLICY: Policy = Policy::new(policy().attempts(3));
/// static CLOUD: Dependency<CriticalSectionRawMutex> =
///     Dependency::new(config(Aimd::new()), &POLICY, 0x5eed);
///
/// # async fn send(number: u32, reading: u32) -> Result<(), u16> { Ok(()) }
/// async fn report(reading: u32) {
///     let sent = CLOUD
///         .call(
///             CallOptions::new(),
///             |status| match status {
///                 429 | 503 => Ending::overload(),
///                 400..500 => Ending::permanent(),
///                 _ => Ending::failure(),
///             },
///             async |attempt| send(attempt.number, reading).await,
///         )
///         .await;
///     if sent.is_err() {
///         // Keep the reading, or send less of it next time.
///     }
/// }
/// # embassy_futures::block_on(report(17));
/// ```
pub struct Dependency<M: RawMutex, L: Law = Aimd, H: Latencies = (), const WAITERS: usize = 8> {
    pub(crate) core: limiter_core::Dependency<L, H, &'static Policy>,
    pub(crate) line: Line<M, WAITERS>,
    random: Random,
    kept: Option<&'static Retained>,
    journal: Mutex<M, Cell<Option<Journal>>>,
}

impl<M: RawMutex, L: Law, H: Latencies, const WAITERS: usize> Dependency<M, L, H, WAITERS> {
    /// A dependency from configurations that are known to be right: for `static`s, where wrong ones fail to
    /// compile.
    ///
    /// # Panics
    ///
    /// If the configuration of the limiter is wrong, or one is made for another tick rate than [`RATE`].
    pub const fn new(limiter: Config<L>, policy: &'static Policy, seed: u32) -> Self
    where
        L: Copy,
    {
        let core = limiter_core::Dependency::sharing(limiter, policy);
        let (ours, theirs) = (RATE.get() as u64, core.limiter().rate().get() as u64);
        if let Err(error) = ConfigError::check("tick rate", theirs, ours, ours) {
            error.fail::<()>();
        }
        Self {
            core,
            line: Line::new(),
            random: Random::new(seed),
            kept: None,
            journal: Mutex::new(Cell::new(None)),
        }
    }

    /// Saves into `kept` before each attempt leaves: call [`restore`](Dependency::restore) at the start, and
    /// let [`keep_time`](Dependency::keep_time) run.
    #[must_use]
    pub const fn keeping(mut self, kept: &'static Retained) -> Self {
        self.kept = Some(kept);
        self
    }

    /// Adds entropy, such as the device's serial number, before the first call.
    pub fn stir(&self, entropy: u32) {
        self.random.stir(entropy);
    }

    /// Goes on where the last life ended, before the first call. `asleep` is the time that the device was
    /// off or asleep, zero when it is not known; the time it stayed up after its last record is added.
    ///
    /// Without it nothing is saved either.
    ///
    /// # Errors
    ///
    /// What is wrong with the memory: at power-on it is blank or garbage. Then the budget is empty, and only
    /// its floor and first attempts fill it. Nothing else is different.
    pub fn restore(&self, asleep: Duration) -> Result<(), RecordError> {
        let Some(kept) = self.kept else {
            return Ok(());
        };
        let (journal, found) = kept.open();
        let up = Duration::from_secs(kept.since().into());
        let revived = self.core.revive(found, asleep.saturating_add(up), now());
        self.journal.lock(|place| place.set(Some(journal)));
        self.save();
        revived.map(|_| ())
    }

    /// Notes each second that the device is still up, for ever: spawn it beside the tasks that call.
    ///
    /// # Cancellation
    ///
    /// Drop it at any time: what it noted stays.
    pub async fn keep_time(&self) {
        loop {
            Timer::after_secs(1).await;
            if let Some(kept) = self.kept {
                // Under the lock of those who write: a record that was just written is not older than it is.
                self.journal
                    .lock(|_| kept.set_since(kept.since().saturating_add(1)));
            }
        }
    }

    /// Writes a record, if there is a place for it that was looked at before.
    pub(crate) fn save(&self) {
        let Some(kept) = self.kept else { return };
        let mut written = false;
        while !written {
            let Some(before) = self.journal.lock(Cell::get) else {
                return;
            };
            // The checksum takes a thousand instructions: outside the lock.
            let mut journal = before;
            let (place, bytes) = journal.write(self.core.save(now()));
            written = self.journal.lock(|current| {
                // Another context was quicker: then this record is older than its.
                let mine = current.get() == Some(before);
                if mine {
                    kept.write(place, &bytes);
                    current.set(Some(journal));
                }
                mine
            });
        }
    }

    /// The gauges of this moment.
    pub fn snapshot(&self) -> DependencySnapshot {
        self.core.snapshot(now())
    }

    /// The budget: to reconfigure it, to charge what is done outside of calls, to look at it.
    pub const fn budget(&self) -> &RetryBudget {
        self.core.budget()
    }

    /// How many tasks wait in line for a slot.
    pub fn queued(&self) -> usize {
        self.line.len()
    }

    /// Sets the limit; see [`Limiter::set_limit`](crate::Limiter::set_limit).
    ///
    /// # Errors
    ///
    /// When `limit` is outside the bounds.
    pub fn set_limit(&self, limit: u32) -> Result<(), ConfigError> {
        let settled = self.core.limiter().set_limit(limit, now())?;
        self.lane().settled(settled);
        Ok(())
    }

    /// Moves the bounds; see [`Limiter::set_bounds`](crate::Limiter::set_bounds).
    ///
    /// # Errors
    ///
    /// When `min` is 0 or above `max`, or `max` above [`MAX_LIMIT`](crate::MAX_LIMIT).
    pub fn set_bounds(&self, min: u32, max: u32) -> Result<(), ConfigError> {
        let settled = self.core.limiter().set_bounds(min, max, now())?;
        self.lane().settled(settled);
        Ok(())
    }

    /// Refuses every call from now on, also those in line. There is no way back.
    pub fn close(&self) {
        self.lane().settled(self.core.limiter().close());
    }

    pub(crate) const fn lane(&self) -> Lane<'_, M, L, WAITERS> {
        Lane {
            core: self.core.limiter(),
            line: &self.line,
        }
    }

    pub(crate) fn word(&self) -> u32 {
        self.random.word()
    }

    /// Does what follows from what a call did.
    pub(crate) fn follow(&self, events: Events) {
        if let Some(change) = events.breaker {
            self.line.reporter.breaker(&change);
        }
        self.lane().follow(events.limit, events.wake);
    }
}

/// A time of the core as a moment of `embassy_time`.
pub(crate) const fn ticks(length: Ticks) -> embassy_time::Duration {
    embassy_time::Duration::from_ticks(length.get())
}

impl<M: RawMutex, L: Law, H: Latencies, const WAITERS: usize> fmt::Debug
    for Dependency<M, L, H, WAITERS>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dependency")
            .field("snapshot", &self.snapshot())
            .finish_non_exhaustive()
    }
}
