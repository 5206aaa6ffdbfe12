//! Where a limiter's time comes from.

use core::time::Duration;
use limiter_core::{TickRate, Ticks, Timestamp};
use std::time::{Instant, SystemTime};

mod manual;

pub use manual::ManualClock;

/// The ticks of this crate's timestamps: nanoseconds where the machine word has 64 bits, else
/// microseconds, whose sums fit 32 bits for longer.
pub(crate) const RATE: TickRate = if cfg!(any(limiter_narrow, not(target_pointer_width = "64"))) {
    TickRate::MICROS
} else {
    TickRate::NANOS
};

/// A source of time for a [`Limiter`](crate::Limiter).
///
/// The clock may stand still or step back: nothing panics, and no more than the samples in question is
/// lost. What waits then waits until the clock shows the time that it was to wait for. It must not panic itself,
/// for it is read while a slot is on its way.
///
/// ```
/// use core::time::Duration;
/// use limiter_std::{Clock, Config, Limiter, Timestamp, law::Knee, timestamp};
/// use std::time::{Instant, SystemTime};
///
/// struct SinceBoot(Instant);
///
/// impl Clock for SinceBoot {
///     fn now(&self) -> Timestamp {
///         timestamp(self.0.elapsed())
///     }
///
///     fn unix_time(&self) -> Option<Duration> {
///         SystemTime::UNIX_EPOCH.elapsed().ok()
///     }
/// }
///
/// let clock = SinceBoot(Instant::now());
/// let limiter = Limiter::with_clock(Config::new(Knee::new()), clock)?;
/// assert!(limiter.try_acquire().is_ok());
/// # Ok::<(), limiter_std::ConfigError>(())
/// ```
pub trait Clock: Send + Sync + 'static {
    /// The present: made by [`timestamp`] from the time since an origin that never moves.
    fn now(&self) -> Timestamp;

    /// The time since the Unix epoch, `None` when it is unknown or of no matter.
    ///
    /// Limiters in front of one server that know it raise and lower their limits together, so that each
    /// measures the answer of the server to all of them. Without it a limiter measures on its own, which
    /// is right when it is alone.
    fn unix_time(&self) -> Option<Duration>;

    /// Blocks the calling thread until it is unparked or this clock shows `deadline`; may return earlier.
    ///
    /// Provided for clocks that run at the pace of real time. A clock that runs otherwise unparks the
    /// threads in here when it reaches their deadlines, or returns early and often.
    fn park_until(&self, deadline: Timestamp) {
        if let Some(left) = deadline.since(self.now()) {
            // Every clock's tick is a part of a second, so a part of a tick is never rounded to nothing.
            std::thread::park_timeout(RATE.duration(left));
        }
    }
}

/// The timestamp `since_origin` after a clock's origin, rounded down to a tick; saturates.
pub const fn timestamp(since_origin: Duration) -> Timestamp {
    const NANOS_PER_TICK: u32 = 1_000_000_000 / RATE.get();
    let whole = since_origin.as_secs().saturating_mul(RATE.get() as u64);
    let part = (since_origin.subsec_nanos() / NANOS_PER_TICK) as u64;
    Timestamp::from_ticks(whole.saturating_add(part))
}

/// A length of time on this crate's clocks, as it is in snapshots and refusals.
pub const fn duration(ticks: Ticks) -> Duration {
    RATE.duration(ticks)
}

/// The operating system's monotonic clock, and its clock of UTC for the phases of laws.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    origin: Instant,
}

impl MonotonicClock {
    /// A clock whose origin is now.
    pub fn new() -> Self {
        Self {
            origin: Instant::now(),
        }
    }
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now(&self) -> Timestamp {
        timestamp(self.origin.elapsed())
    }

    fn unix_time(&self) -> Option<Duration> {
        SystemTime::UNIX_EPOCH.elapsed().ok()
    }
}
