//! A permit that several owners share.

use crate::clock::{Clock, MonotonicClock};
use crate::permit::Taken;
use crate::shared::Lane;
use crate::sync::{AtomicBool, Ordering};
use core::fmt;
use limiter_core::law::{Knee, Law};
use limiter_core::{Outcome, Timestamp};
use std::sync::Arc;
#[cfg(feature = "http")]
use {crate::shared::Shared, limiter_core::Sample};

/// A share of a slot, which is freed when the last share is dropped.
///
/// For work that is done in several places: a response whose body is still being read, a query that runs
/// on although its client is gone.
///
/// ```
/// use limiter_std::{Limiter, Outcome};
///
/// let limiter = Limiter::default();
/// let hold = limiter.try_acquire().expect("far below the limit").into_hold();
///
/// let query = hold.clone();
/// let worker = std::thread::spawn(move || drop(query));
///
/// hold.record(Outcome::Success, hold.now());
/// drop(hold);
/// worker.join().expect("does not panic");
/// assert_eq!(limiter.snapshot().inflight, 0);
/// ```
///
/// # Cancellation
///
/// When no share recorded an outcome, the last drop records [`Outcome::Cancelled`] at that moment.
#[must_use = "dropping the last share frees the slot at once"]
pub struct Hold<L: Law = Knee, C: Clock = MonotonicClock> {
    common: Arc<Common<L, C>>,
    /// The slot around this one, kept as long as this share.
    outer: Option<Arc<Hold<L, C>>>,
}

struct Common<L: Law, C: Clock> {
    taken: Taken<L, C>,
    recorded: AtomicBool,
}

impl<L: Law, C: Clock> Hold<L, C> {
    pub(crate) fn new(taken: Taken<L, C>, recorded: bool) -> Self {
        Self {
            common: Arc::new(Common {
                taken,
                recorded: AtomicBool::new(recorded),
            }),
            outer: None,
        }
    }

    /// The same share, which is one of `outer`'s too, as all are that are made of it.
    #[cfg(feature = "http")]
    pub(crate) fn within(mut self, outer: Option<Self>) -> Self {
        self.outer = outer.map(Arc::new);
        self
    }

    /// Records how the work ended, as of `at` on the limiter's clock; the slot stays taken.
    ///
    /// Counts once for all shares: returns `false`, and changes nothing, when an outcome was recorded
    /// before.
    pub fn record(&self, outcome: Outcome, at: Timestamp) -> bool {
        self.common.record(outcome, Some(at))
    }

    /// Takes the right to record the outcome, which is not known before the slot may be free; `None` when
    /// one was recorded.
    #[cfg(feature = "http")]
    pub(crate) fn defer(&self) -> Option<Deferred<L, C>> {
        if self.common.recorded.swap(true, Ordering::Relaxed) {
            return None;
        }
        let taken = &self.common.taken;
        Some(Deferred {
            shared: Arc::clone(&taken.shared),
            sample: taken.sample()?,
        })
    }

    /// Lets nothing be recorded from now on.
    #[cfg(feature = "http")]
    pub(crate) fn forget(&self) {
        self.common.recorded.store(true, Ordering::Relaxed);
    }

    /// The present on the limiter's clock.
    pub fn now(&self) -> Timestamp {
        self.common.taken.shared.clock().now()
    }
}

impl<L: Law, C: Clock> Common<L, C> {
    fn record(&self, outcome: Outcome, at: Option<Timestamp>) -> bool {
        // Relaxed: only the exchange decides who records; the slot's words have orderings of their own.
        if self.recorded.swap(true, Ordering::Relaxed) {
            return false;
        }
        self.taken.observe(outcome, at);
        true
    }
}

impl<L: Law, C: Clock> Drop for Common<L, C> {
    fn drop(&mut self) {
        // Relaxed: the last drop of an `Arc` comes after everything that was done with the others.
        if !self.recorded.load(Ordering::Relaxed) {
            self.record(Outcome::Cancelled, None);
        }
    }
}

impl<L: Law, C: Clock> Clone for Hold<L, C> {
    fn clone(&self) -> Self {
        Self {
            common: Arc::clone(&self.common),
            outer: self.outer.clone(),
        }
    }
}

impl<L: Law, C: Clock> fmt::Debug for Hold<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold")
            .field("shares", &Arc::strong_count(&self.common))
            .finish_non_exhaustive()
    }
}

/// The right to record the outcome of a slot, also when the slot is free.
#[cfg(feature = "http")]
#[derive(Debug)]
pub(crate) struct Deferred<L: Law, C: Clock> {
    shared: Arc<Shared<L, C>>,
    sample: Sample,
}

#[cfg(feature = "http")]
impl<L: Law, C: Clock> Deferred<L, C> {
    /// Records how the work ended, as of `at` on the limiter's clock.
    pub(crate) fn record(self, outcome: Outcome, at: Timestamp) {
        if !self.sample.counts(outcome) {
            return;
        }
        let now = self.shared.clock().now();
        self.shared.count_ended(self.sample, outcome);
        self.shared.observe(self.sample, outcome, at, now);
    }
}
