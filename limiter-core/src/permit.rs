//! A taken slot: as a guard that frees it, and as the plain data inside.

use crate::law::Law;
use crate::limiter::Limiter;
use crate::outcome::Outcome;
use crate::settle::Settled;
use crate::time::{Ticks, Timestamp};
use core::fmt;
use core::ops::Deref;

/// A slot as plain data, without a destructor: what adapters build their own guards from.
///
/// Give it back by [`Limiter::settle`] or [`Limiter::release`]; a slot that is dropped stays taken for
/// ever. It cannot be copied, so it cannot be given back twice.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[must_use = "a dropped slot stays taken for ever"]
pub struct Slot {
    pub(crate) started: Timestamp,
    pub(crate) weight: u32,
    pub(crate) epoch: u16,
}

impl Slot {
    /// When it was taken.
    pub const fn started(&self) -> Timestamp {
        self.started
    }

    /// How long it has been taken, 0 when the clock stepped back.
    pub fn age(&self, now: Timestamp) -> Ticks {
        now.since(self.started).unwrap_or_default()
    }

    /// What an outcome is recorded by, for work whose outcome is known only after its slot is free.
    pub const fn sample(&self) -> Sample {
        Sample {
            started: self.started,
            weight: self.weight,
            epoch: self.epoch,
        }
    }
}

/// What an outcome is recorded by: a slot's start, and the cut it came after. For adapters.
///
/// It is a copy and says nothing about the slot: record it once, by
/// [`Limiter::observe_sample`], before or after the slot is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Sample {
    pub(crate) started: Timestamp,
    pub(crate) weight: u32,
    pub(crate) epoch: u16,
}

/// A slot of a limiter, freed when it is dropped.
///
/// `H` is how the permit reaches its limiter: a reference, or an owner such as `Arc<Limiter>`.
/// Dropping it without an outcome frees the slot and teaches nothing, for a destructor has no clock;
/// [`finish`](Permit::finish) with [`Outcome::Ignored`] where the time is at hand.
#[must_use = "dropping a permit frees its slot at once"]
pub struct Permit<H: Handle> {
    handle: H,
    slot: Option<Slot>,
}

impl<H: Handle> Permit<H> {
    pub(crate) const fn new(handle: H, slot: Slot) -> Self {
        Self {
            handle,
            slot: Some(slot),
        }
    }

    pub(crate) const fn handle(&self) -> &H {
        &self.handle
    }

    /// Records how the work ended and frees the slot.
    #[inline]
    pub fn finish(mut self, outcome: Outcome, now: Timestamp) -> Settled {
        match self.slot.take() {
            Some(slot) => self.handle.settle_slot(slot, outcome, now),
            None => Settled::NOTHING,
        }
    }

    /// Records how the work ended and frees the slot, from an interrupt handler: never runs a law.
    pub fn finish_from_isr(mut self, outcome: Outcome, now: Timestamp) -> Settled {
        match self.slot.take() {
            Some(slot) => self.handle.settle_slot_from_isr(slot, outcome, now),
            None => Settled::NOTHING,
        }
    }

    /// Frees the slot and teaches nothing.
    pub fn forget(self) {}

    /// When the slot was taken.
    pub fn started(&self) -> Timestamp {
        self.slot.as_ref().map(Slot::started).unwrap_or_default()
    }
}

impl<H: Handle> Drop for Permit<H> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.handle.release_slot(slot);
        }
    }
}

impl<H: Handle> fmt::Debug for Permit<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("slot", &self.slot)
            .finish_non_exhaustive()
    }
}

/// Something that leads to a [`Limiter`]: any pointer to one. Sealed by its blanket implementation.
pub trait Handle {
    #[doc(hidden)]
    fn settle_slot(&self, slot: Slot, outcome: Outcome, now: Timestamp) -> Settled;
    #[doc(hidden)]
    fn settle_slot_from_isr(&self, slot: Slot, outcome: Outcome, now: Timestamp) -> Settled;
    #[doc(hidden)]
    fn release_slot(&self, slot: Slot) -> Settled;
}

impl<L: Law, H: Deref<Target = Limiter<L>>> Handle for H {
    #[inline]
    fn settle_slot(&self, slot: Slot, outcome: Outcome, now: Timestamp) -> Settled {
        self.settle(slot, outcome, now)
    }

    fn settle_slot_from_isr(&self, slot: Slot, outcome: Outcome, now: Timestamp) -> Settled {
        self.settle_from_isr(slot, outcome, now)
    }

    #[inline]
    fn release_slot(&self, slot: Slot) -> Settled {
        self.release(slot)
    }
}
