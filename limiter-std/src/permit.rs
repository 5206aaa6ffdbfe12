//! A taken slot as an owned guard.

use crate::clock::{Clock, MonotonicClock};
use crate::hold::Hold;
use crate::shared::{Lane, Shared};
use core::fmt;
#[cfg(feature = "http")]
use limiter_core::Sample;
use limiter_core::law::{Knee, Law};
use limiter_core::{Outcome, Slot, Timestamp};
use std::sync::Arc;

/// A slot that is freed when this is dropped, whatever else unwinds.
pub(crate) struct Taken<L: Law, C: Clock> {
    pub(crate) shared: Arc<Shared<L, C>>,
    slot: Option<Slot>,
}

impl<L: Law, C: Clock> Taken<L, C> {
    #[inline]
    pub(crate) fn observe(&self, outcome: Outcome, ended: Timestamp, now: Timestamp) {
        if let Some(slot) = &self.slot {
            self.shared.observe(slot.sample(), outcome, ended, now);
        }
    }

    #[cfg(feature = "http")]
    pub(crate) fn sample(&self) -> Option<Sample> {
        self.slot.as_ref().map(Slot::sample)
    }

    pub(crate) fn started(&self) -> Timestamp {
        self.slot.as_ref().map(Slot::started).unwrap_or_default()
    }
}

impl<L: Law, C: Clock> Drop for Taken<L, C> {
    #[inline]
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.shared.release(slot);
        }
    }
}

/// A slot of a limiter, freed when it is dropped.
///
/// It owns its way to the limiter: move it into a spawned or blocking task, so that work that outlives
/// its caller keeps its slot.
///
/// # Cancellation
///
/// Dropping it without an outcome records [`Outcome::Ignored`] at that moment and frees the slot. So a
/// caller who goes away early teaches nothing, and one who waited much longer than usual still counts.
/// The same holds for a panic that unwinds through it.
#[must_use = "dropping a permit frees its slot at once"]
pub struct Permit<L: Law = Knee, C: Clock = MonotonicClock> {
    // `None` once it went into a hold.
    taken: Option<Taken<L, C>>,
    recorded: bool,
}

impl<L: Law, C: Clock> Permit<L, C> {
    #[inline]
    pub(crate) fn new(shared: Arc<Shared<L, C>>, slot: Slot) -> Self {
        Self {
            taken: Some(Taken {
                shared,
                slot: Some(slot),
            }),
            recorded: false,
        }
    }

    /// Records how the work ended, now, and frees the slot.
    ///
    /// After [`record`](Permit::record) it only frees the slot.
    #[inline]
    pub fn finish(mut self, outcome: Outcome) {
        let now = self.now();
        self.record_once(outcome, now, now);
    }

    /// Records how the work ended, as of `at` on the limiter's clock, and keeps the slot: for work whose
    /// answer is there before everything is cleared away, or before it is known what it is worth.
    ///
    /// Counts once: returns `false`, and changes nothing, when an outcome was recorded before.
    pub fn record(&mut self, outcome: Outcome, at: Timestamp) -> bool {
        let now = self.now();
        self.record_once(outcome, at, now)
    }

    #[inline]
    fn record_once(&mut self, outcome: Outcome, ended: Timestamp, now: Timestamp) -> bool {
        if self.recorded {
            return false;
        }
        // Before the law runs: if one of the user's panics, dropping must not run it again.
        self.recorded = true;
        if let Some(taken) = &self.taken {
            taken.observe(outcome, ended, now);
        }
        true
    }

    /// Frees the slot and teaches nothing, whatever its age: for slots that were not used.
    pub fn forget(mut self) {
        self.recorded = true;
    }

    /// Shares the slot: it is freed when the last share is dropped.
    pub fn into_hold(mut self) -> Hold<L, C> {
        let recorded = core::mem::replace(&mut self.recorded, true);
        Hold::new(self.taken.take(), recorded, None)
    }

    /// As [`into_hold`](Permit::into_hold); every share of this slot is one of `outer`'s too.
    #[cfg(feature = "http")]
    pub(crate) fn into_hold_within(mut self, outer: Option<Hold<L, C>>) -> Hold<L, C> {
        let recorded = core::mem::replace(&mut self.recorded, true);
        Hold::new(self.taken.take(), recorded, outer)
    }

    /// When the slot was taken, on the limiter's clock. Time spent waiting for it is not included.
    pub fn started(&self) -> Timestamp {
        self.taken.as_ref().map(Taken::started).unwrap_or_default()
    }

    /// The present on the limiter's clock.
    pub fn now(&self) -> Timestamp {
        self.taken
            .as_ref()
            .map(|taken| taken.shared.clock().now())
            .unwrap_or_default()
    }
}

impl<L: Law, C: Clock> Drop for Permit<L, C> {
    #[inline]
    fn drop(&mut self) {
        if !self.recorded {
            let now = self.now();
            self.record_once(Outcome::Ignored, now, now);
        }
    }
}

impl<L: Law, C: Clock> fmt::Debug for Permit<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("started", &self.started())
            .field("recorded", &self.recorded)
            .finish_non_exhaustive()
    }
}
