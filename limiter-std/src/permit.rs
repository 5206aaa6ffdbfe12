//! A taken slot as an owned guard.

use crate::clock::{Clock, MonotonicClock, RATE};
use crate::hold::Hold;
use crate::shared::{Lane, Shared};
use core::fmt;
use core::time::Duration;
#[cfg(feature = "http")]
use limiter_core::Sample;
use limiter_core::law::{Knee, Law};
use limiter_core::{Outcome, Seat, Timestamp};
use std::sync::Arc;

/// A slot that is freed when this is dropped, whatever else unwinds.
pub(crate) struct Taken<L: Law, C: Clock> {
    pub(crate) shared: Arc<Shared<L, C>>,
    /// `None` where it was let through by a limiter that only watches.
    slot: Option<Seat>,
}

impl<L: Law, C: Clock> Taken<L, C> {
    /// Records how the work ended, `at` this time or now. Reads the clock only if the slot is timed: two
    /// readings cost ten times what a slot costs.
    #[inline]
    pub(crate) fn observe(&self, outcome: Outcome, at: Option<Timestamp>) {
        match &self.slot {
            Some(seat) if seat.slot().sample().counts(outcome) => self.tell(seat, outcome, at),
            _ => {}
        }
    }

    #[inline(never)]
    fn tell(&self, seat: &Seat, outcome: Outcome, at: Option<Timestamp>) {
        let slot = seat.slot();
        let now = if slot.asks_time(outcome) {
            self.shared.clock().now()
        } else {
            Timestamp::default()
        };
        let (sample, ended) = (slot.sample(), at.unwrap_or(now));
        self.shared.count_ended(sample, outcome);
        self.shared.observe(sample, outcome, ended, now);
    }

    /// What an outcome is recorded by.
    #[cfg(feature = "http")]
    pub(crate) fn sample(&self) -> Option<Sample> {
        self.slot.as_ref().map(|seat| seat.slot().sample())
    }

    fn age(&self) -> Option<Duration> {
        let now = self.shared.clock().now();
        let age = self.shared.core().age(self.slot.as_ref()?.slot(), now)?;
        Some(RATE.duration(age))
    }
}

impl<L: Law, C: Clock> Drop for Taken<L, C> {
    #[inline]
    fn drop(&mut self) {
        self.shared.release(&mut self.slot);
    }
}

/// A slot of a limiter, freed when it is dropped.
///
/// It owns its way to the limiter: move it into a spawned or blocking task, so that work that outlives
/// its caller keeps its slot.
///
/// # Cancellation
///
/// Dropping it without an outcome records [`Outcome::Cancelled`] at that moment and frees the slot. So a
/// caller who goes away early teaches nothing, and one who waited much longer than usual still counts.
/// The same holds for a panic that unwinds through it.
#[must_use = "dropping a permit frees its slot at once"]
pub struct Permit<L: Law = Knee, C: Clock = MonotonicClock> {
    taken: Taken<L, C>,
    recorded: Recorded,
}

/// Whether an outcome was recorded. As wide as a word, so that there is no padding, which would be moved byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
enum Recorded {
    No,
    Yes,
}

impl<L: Law, C: Clock> Permit<L, C> {
    #[inline]
    pub(crate) fn new(shared: Arc<Shared<L, C>>, slot: Option<Seat>) -> Self {
        if let Some(seat) = &slot {
            shared.count_admitted(seat.slot());
        }
        Self {
            taken: Taken { shared, slot },
            recorded: Recorded::No,
        }
    }

    /// Whether it has a slot. One that was let through by a limiter that [only watches](crate::Config::watch_only)
    /// has none: nothing is learned from it.
    pub fn has_slot(&self) -> bool {
        self.taken.slot.is_some()
    }

    /// Records how the work ended, now, and frees the slot.
    ///
    /// After [`record`](Permit::record) it only frees the slot.
    #[inline]
    pub fn finish(mut self, outcome: Outcome) {
        self.record_once(outcome, None);
    }

    /// Records how the work ended, as of `at` on the limiter's clock, and keeps the slot: for work whose
    /// answer is there before everything is cleared away, or before it is known what it is worth.
    ///
    /// Counts once: returns `false`, and changes nothing, when an outcome was recorded before.
    pub fn record(&mut self, outcome: Outcome, at: Timestamp) -> bool {
        self.record_once(outcome, Some(at))
    }

    #[inline]
    fn record_once(&mut self, outcome: Outcome, at: Option<Timestamp>) -> bool {
        if self.recorded == Recorded::Yes {
            return false;
        }
        // Before the law runs: if one of the user's panics, dropping must not run it again.
        self.recorded = Recorded::Yes;
        self.taken.observe(outcome, at);
        true
    }

    /// Frees the slot and teaches nothing, whatever its age: for slots that were not used.
    pub fn forget(mut self) {
        self.recorded = Recorded::Yes;
    }

    /// Shares the slot: it is freed when the last share is dropped.
    pub fn into_hold(mut self) -> Hold<L, C> {
        let recorded = core::mem::replace(&mut self.recorded, Recorded::Yes);
        let taken = Taken {
            shared: Arc::clone(&self.taken.shared),
            slot: self.taken.slot.take(),
        };
        Hold::new(taken, recorded == Recorded::Yes)
    }

    /// How long the slot has been taken. Time spent waiting for it is not included. `None` when it is not
    /// timed: with many permits a part of them is.
    pub fn age(&self) -> Option<Duration> {
        self.taken.age()
    }

    /// The present on the limiter's clock.
    pub fn now(&self) -> Timestamp {
        self.taken.shared.clock().now()
    }
}

impl<L: Law, C: Clock> Drop for Permit<L, C> {
    #[inline]
    fn drop(&mut self) {
        if self.recorded == Recorded::No {
            self.record_once(Outcome::Cancelled, None);
        }
    }
}

impl<L: Law, C: Clock> fmt::Debug for Permit<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("recorded", &(self.recorded == Recorded::Yes))
            .finish_non_exhaustive()
    }
}
