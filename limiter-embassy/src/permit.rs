//! A taken slot as a guard.

use crate::wait::Lane;
use core::fmt;
use embassy_sync::blocking_mutex::raw::RawMutex;
use limiter_core::law::{Aimd, Law};
use limiter_core::{Outcome, Slot};

/// A slot of a limiter, freed when it is dropped. From a `static` limiter it is `'static` and may move into
/// a spawned task or another context, so that work that outlives its caller keeps its slot.
///
/// # Cancellation
///
/// Dropping it without an outcome records [`Outcome::Cancelled`] at that moment and frees the slot: a caller
/// who goes away early teaches nothing, and one who waited much longer than usual still counts. A dropped
/// permit never runs a law; the window that it completes is closed by the next call of a task.
#[must_use = "dropping a permit frees its slot at once"]
pub struct Permit<'a, M: RawMutex, L: Law = Aimd, const WAITERS: usize = 8> {
    pub(crate) lane: Lane<'a, M, L, WAITERS>,
    slot: Option<Slot>,
}

impl<'a, M: RawMutex, L: Law, const WAITERS: usize> Permit<'a, M, L, WAITERS> {
    pub(crate) const fn new(lane: Lane<'a, M, L, WAITERS>, slot: Slot) -> Self {
        Self {
            lane,
            slot: Some(slot),
        }
    }

    pub(crate) const fn take(&mut self) -> Option<Slot> {
        self.slot.take()
    }

    /// Records how the work ended, now, and frees the slot. Locks nothing when nobody waits.
    pub fn finish(mut self, outcome: Outcome) {
        if let Some(slot) = self.take() {
            self.lane.settle(slot, outcome);
        }
    }

    /// Frees the slot and teaches nothing, whatever its age: for slots that were not used.
    pub fn forget(mut self) {
        if let Some(slot) = self.take() {
            self.lane.release(slot);
        }
    }
}

impl<M: RawMutex, L: Law, const WAITERS: usize> Drop for Permit<'_, M, L, WAITERS> {
    fn drop(&mut self) {
        if let Some(slot) = self.take() {
            self.lane.settle_without_law(slot, Outcome::Cancelled);
        }
    }
}

impl<M: RawMutex, L: Law, const WAITERS: usize> fmt::Debug for Permit<'_, M, L, WAITERS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("slot", &self.slot)
            .finish_non_exhaustive()
    }
}
