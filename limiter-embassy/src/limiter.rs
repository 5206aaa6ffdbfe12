//! The limiter in a `static`.

use crate::clock::{RATE, now, wall_offset};
use crate::permit::Permit;
use crate::wait::{Acquire, AcquireTimeout, Lane, Line};
use core::fmt;
use core::time::Duration;
use embassy_sync::blocking_mutex::raw::RawMutex;
use limiter_core::law::{Aimd, Law};
use limiter_core::{Config, ConfigError, Rejected, Snapshot};

/// An adaptive concurrency limit on `embassy_time`'s clock, with room for `WAITERS` tasks that wait.
///
/// `M` guards the line of waiters: see [the crate's documentation](crate#the-mutex). Taking a slot, and
/// freeing one while nobody waits, never lock it.
///
/// ```
/// # use mock_clock as _;
/// use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
/// use limiter_embassy::{Limiter, Outcome, config, law::Aimd};
///
/// static RADIO: Limiter<CriticalSectionRawMutex> = Limiter::new(config(Aimd::new()).initial(1));
///
/// let permit = RADIO.try_acquire().expect("nothing is in flight");
/// assert!(RADIO.try_acquire().is_err());
/// permit.finish(Outcome::Success);
/// assert_eq!(RADIO.snapshot().inflight, 0);
/// ```
///
/// A mutex that other contexts cannot share does not go into a `static`:
///
/// ```compile_fail,E0277
/// # use limiter_embassy::{Limiter, config, law::Aimd};
/// use embassy_sync::blocking_mutex::raw::NoopRawMutex;
/// static RADIO: Limiter<NoopRawMutex> = Limiter::new(config(Aimd::new()));
/// ```
pub struct Limiter<M: RawMutex, L: Law = Aimd, const WAITERS: usize = 8> {
    pub(crate) core: limiter_core::Limiter<L>,
    pub(crate) line: Line<M, WAITERS>,
}

/// A configuration around `law` at the tick rate of `embassy_time`, with defaults for a device: initial
/// limit 4, bounds 1 to 32, windows of 100 ms to a minute, because a device sends little.
///
/// The other defaults are those of [`Config::new`].
pub const fn config<L: Law>(law: L) -> Config<L> {
    Config::new(law, RATE)
        .initial(4)
        .max(32)
        .windows(Duration::from_millis(100), Duration::from_secs(60))
}

impl<M: RawMutex, L: Law, const WAITERS: usize> Limiter<M, L, WAITERS> {
    /// A limiter from a configuration that is known to be right: for `static`s, where a wrong one fails
    /// to compile.
    ///
    /// ```compile_fail
    /// # use limiter_embassy::{Limiter, config, law::Aimd};
    /// # use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
    /// static NEVER: Limiter<CriticalSectionRawMutex> = Limiter::new(config(Aimd::new()).min(0));
    /// ```
    ///
    /// # Panics
    ///
    /// If the configuration is wrong, or made for another tick rate than [`RATE`]. At run time use
    /// [`try_new`](Limiter::try_new).
    pub const fn new(config: Config<L>) -> Self
    where
        L: Copy,
    {
        let core = limiter_core::Limiter::new(config);
        if let Err(error) = same_rate(&core) {
            error.fail::<()>();
        }
        Self::from_core(core)
    }

    /// A limiter from a configuration that may be wrong.
    ///
    /// # Errors
    ///
    /// The first field that does not work: its name, its value and what is allowed.
    pub fn try_new(config: Config<L>) -> Result<Self, ConfigError> {
        let core = limiter_core::Limiter::try_new(config)?;
        same_rate(&core)?;
        Ok(Self::from_core(core))
    }

    const fn from_core(core: limiter_core::Limiter<L>) -> Self {
        Self {
            core,
            line: Line::new(),
        }
    }

    /// Takes a slot, or says at once why there is none. Locks nothing.
    ///
    /// # Errors
    ///
    /// [`Rejected`] with the reason and the numbers.
    ///
    /// # Fairness
    ///
    /// None between newcomers. Those who wait already go first.
    pub fn try_acquire(&self) -> Result<Permit<'_, M, L, WAITERS>, Rejected> {
        match self.lane().admit() {
            Ok(slot) => Ok(Permit::new(self.lane(), slot)),
            Err(refused) => {
                self.line.reporter.refused(&refused);
                Err(refused)
            }
        }
    }

    /// Takes a slot, waiting in line until there is one.
    ///
    /// # Errors
    ///
    /// [`QueueFull`](crate::RejectReason::QueueFull) when `WAITERS` tasks are in line,
    /// [`Closed`](crate::RejectReason::Closed).
    ///
    /// # Cancellation
    ///
    /// Drop the future after any poll, or before the first: it leaves the line, and a slot that it was
    /// granted but had not taken yet goes to the next in line.
    ///
    /// # Fairness
    ///
    /// First come, first served.
    pub fn acquire(&self) -> Acquire<'_, M, L, WAITERS> {
        Acquire::new(self.lane())
    }

    /// Takes a slot, waiting in line for at most `timeout`.
    ///
    /// The time is counted from this call. One that comes together with the slot keeps the slot; zero
    /// waits for nothing, and one too long for the clock waits for ever.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Limiter::acquire), and [`TimedOut`](crate::RejectReason::TimedOut).
    ///
    /// # Cancellation
    ///
    /// As [`acquire`](Limiter::acquire).
    ///
    /// # Fairness
    ///
    /// As [`acquire`](Limiter::acquire).
    pub fn acquire_timeout(
        &self,
        timeout: embassy_time::Duration,
    ) -> AcquireTimeout<'_, M, L, WAITERS> {
        AcquireTimeout::new(self.acquire(), timeout)
    }

    /// How many tasks wait in line.
    pub fn queued(&self) -> usize {
        self.line.len()
    }

    /// The gauges of this moment.
    pub fn snapshot(&self) -> Snapshot {
        self.core.snapshot()
    }

    /// Sets the limit; an adaptive law goes on from there. Shrinking below what is in flight admits
    /// nothing until enough have left.
    ///
    /// # Errors
    ///
    /// When `limit` is outside the bounds: move those first.
    pub fn set_limit(&self, limit: u32) -> Result<(), ConfigError> {
        self.lane().settled(self.core.set_limit(limit, now())?);
        Ok(())
    }

    /// Moves the bounds, and the limit into them; what was learned is kept.
    ///
    /// # Errors
    ///
    /// When `min` is 0 or above `max`, or `max` above [`MAX_LIMIT`](crate::MAX_LIMIT); nothing changes.
    pub fn set_bounds(&self, min: u32, max: u32) -> Result<(), ConfigError> {
        self.lane().settled(self.core.set_bounds(min, max, now())?);
        Ok(())
    }

    /// Tells the laws the wall clock: the Unix time is a whole multiple of eight seconds
    /// ([`WALL_SECONDS`](crate::law::WALL_SECONDS)) after `to_next`, and that is where the longest phase of
    /// [`Knee`](crate::law::Knee) begins.
    ///
    /// Devices in front of one server that know it measure in step. Call it again after each
    /// synchronisation; a correction of a few milliseconds is harmless.
    pub fn set_wall_offset(&self, to_next: embassy_time::Duration) {
        self.core.set_wall_offset(wall_offset(now(), to_next));
    }

    /// Refuses everybody from now on, also those in line; those in flight may finish. There is no way
    /// back.
    pub fn close(&self) {
        self.lane().settled(self.core.close());
    }

    pub(crate) const fn lane(&self) -> Lane<'_, M, L, WAITERS> {
        Lane {
            core: &self.core,
            line: &self.line,
        }
    }
}

const fn same_rate<L: Law>(core: &limiter_core::Limiter<L>) -> Result<(), ConfigError> {
    let ours = RATE.get() as u64;
    ConfigError::check("tick rate", core.rate().get() as u64, ours, ours)
}

impl<M: RawMutex, L: Law, const WAITERS: usize> fmt::Debug for Limiter<M, L, WAITERS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limiter")
            .field("snapshot", &self.snapshot())
            .finish_non_exhaustive()
    }
}
