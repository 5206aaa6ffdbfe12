//! A clock for tests.

use super::{Clock, RATE};
use crate::sync::{Mutex, MutexGuard, thread};
use core::time::Duration;
use limiter_core::Timestamp;
use std::sync::{Arc, PoisonError};

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
    face: Arc<Face>,
}

#[derive(Debug, Default)]
struct Face {
    time: limiter_core::ManualClock,
    /// Threads that wait for the clock to move.
    parked: Mutex<Vec<thread::Thread>>,
}

impl ManualClock {
    /// A clock at its origin.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock on by `time`, rounded up to a tick, and returns the new time. Threads whose
    /// timeout has come wake up.
    pub fn advance(&self, time: Duration) -> Timestamp {
        let now = self.face.time.advance(RATE.ticks(time));
        self.unpark();
        now
    }

    /// Sets the clock to `since_origin`, also backwards.
    pub fn set(&self, since_origin: Duration) {
        self.face.time.set(super::timestamp(since_origin));
        self.unpark();
    }

    fn unpark(&self) {
        for thread in self.parked().iter() {
            thread.unpark();
        }
    }

    fn parked(&self) -> MutexGuard<'_, Vec<thread::Thread>> {
        self.face
            .parked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.face.time.now()
    }

    /// Unknown, so that tests do not depend on the hour.
    fn unix_time(&self) -> Option<Duration> {
        None
    }

    fn park_until(&self, deadline: Timestamp) {
        let me = thread::current();
        // Listed before the clock is read: whoever moves it after that unparks this thread.
        self.parked().push(me.clone());
        if self.now() < deadline {
            thread::park();
        }
        self.parked().retain(|thread| thread.id() != me.id());
    }
}
