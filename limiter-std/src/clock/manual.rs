//! A clock for tests.

use super::{Clock, RATE};
use crate::sync::Arc;
use core::time::Duration;
use limiter_core::Timestamp;

/// A clock that stands still until it is told otherwise: for tests of code that uses a limiter. Clones
/// show the same time.
///
/// ```
/// use core::time::Duration;
/// use limiter_std::{Config, Limiter, ManualClock, Outcome, law::Aimd};
///
/// let clock = ManualClock::new();
/// let limiter = Limiter::with_clock(Config::new(Aimd::new()), clock.clone())?;
///
/// let permit = limiter.try_acquire().expect("far below the limit");
/// clock.advance(Duration::from_millis(20));
/// permit.finish(Outcome::Success);
/// # Ok::<(), limiter_std::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ManualClock {
    time: Arc<limiter_core::ManualClock>,
}

impl ManualClock {
    /// A clock at its origin.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock on by `time`, rounded up to a tick, and returns the new time.
    pub fn advance(&self, time: Duration) -> Timestamp {
        self.time.advance(RATE.ticks(time))
    }

    /// Sets the clock to `since_origin`, also backwards.
    pub fn set(&self, since_origin: Duration) {
        self.time.set(super::timestamp(since_origin));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.time.now()
    }

    /// Unknown, so that tests do not depend on the hour.
    fn unix_time(&self) -> Option<Duration> {
        None
    }
}
