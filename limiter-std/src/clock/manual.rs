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
    face: Arc<Mutex<Face>>,
}

#[derive(Debug, Default)]
struct Face {
    now: Timestamp,
    /// Threads that wait for the clock to move.
    parked: Vec<thread::Thread>,
}

impl ManualClock {
    /// A clock at its origin.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock on by `time`, rounded up to a tick, and returns the new time; saturates. Threads
    /// whose timeout has come wake up.
    pub fn advance(&self, time: Duration) -> Timestamp {
        self.turn(|now| now.after(RATE.ticks(time)))
    }

    /// Sets the clock to `since_origin`, also backwards.
    pub fn set(&self, since_origin: Duration) {
        self.turn(|_| super::timestamp(since_origin));
    }

    fn turn(&self, to: impl FnOnce(Timestamp) -> Timestamp) -> Timestamp {
        let mut face = self.face();
        face.now = to(face.now);
        for thread in &face.parked {
            thread.unpark();
        }
        face.now
    }

    fn face(&self) -> MutexGuard<'_, Face> {
        self.face.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.face().now
    }

    /// Unknown, so that tests do not depend on the hour.
    fn unix_time(&self) -> Option<Duration> {
        None
    }

    fn park_until(&self, deadline: Timestamp) {
        let me = thread::current();
        let mut face = self.face();
        if face.now >= deadline {
            return;
        }
        face.parked.push(me.clone());
        drop(face);
        // Whoever moves the clock from here on unparks this thread.
        thread::park();
        self.face().parked.retain(|thread| thread.id() != me.id());
    }
}
