//! A taken slot: as a guard that frees it, and as the plain data inside.

use crate::cell::sync::Word;
use crate::law::Law;
use crate::limiter::Limiter;
use crate::outcome::Outcome;
use crate::settle::Settled;
use crate::tag::{Entered, Tag};
use crate::time::{Ticks, Timestamp, elapsed};
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
    pub(crate) started: Word,
    pub(crate) weight: u32,
    pub(crate) tag: Tag,
}

impl Slot {
    /// Whether the time of the end of this slot matters, if it ends with `outcome`: for adapters, that read a
    /// clock only then.
    #[inline]
    pub const fn asks_time(&self, outcome: Outcome) -> bool {
        self.is_timed() || matches!(outcome, Outcome::Overload)
    }

    /// Whether it is timed; others stand for one that is not.
    #[inline]
    pub const fn is_timed(&self) -> bool {
        self.tag.timed().is_some()
    }

    /// What an outcome is recorded by, for work whose outcome is known only after its slot is free.
    #[inline]
    pub const fn sample(&self) -> Sample {
        Sample {
            started: self.started,
            weight: self.weight,
            tag: self.tag,
        }
    }
}

impl<L: Law> Limiter<L> {
    #[inline]
    pub(crate) fn slot(&self, weight: u32, tag: Tag, now: Timestamp) -> Slot {
        Slot {
            started: self.settings.at(now),
            weight,
            tag,
        }
    }

    /// A slot whose start is asked for only if it is timed.
    #[inline]
    pub(crate) fn slot_with(&self, weight: u32, tag: Tag, now: impl FnOnce() -> Timestamp) -> Slot {
        let started = match tag.timed() {
            Some(_) => self.settings.at(now()),
            None => 0,
        };
        Slot {
            started,
            weight,
            tag,
        }
    }

    /// How long a slot has been taken, 0 when the clock stepped back; `None` when it is not timed.
    pub fn age(&self, slot: &Slot, now: Timestamp) -> Option<Ticks> {
        slot.tag.timed().map(|_| self.since_admission(slot, now))
    }

    /// How long a slot has been taken that was admitted with a time, timed or not.
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) fn since_admission(&self, slot: &Slot, now: Timestamp) -> Ticks {
        let units = elapsed(slot.started, self.settings.at(now));
        self.settings.ticks(units.unwrap_or(0))
    }

    /// The same slot for work that starts now: for adapters that admit without a time, and read a clock for a slot
    /// that [is timed](Slot::is_timed).
    #[inline]
    pub fn date(&self, slot: Slot, now: Timestamp) -> Slot {
        Slot {
            started: self.settings.at(now),
            ..slot
        }
    }

    /// The same slot for work that starts now.
    pub(crate) fn renew(&self, slot: Slot, now: Timestamp) -> Slot {
        let tag = slot.tag.renewed(self.entry.gate.read().epoch());
        self.date(Slot { tag, ..slot }, now)
    }
}

/// What an outcome is recorded by: a slot's start, and the cut it came after. For adapters.
///
/// It is a copy and says nothing about the slot: record it once, by
/// [`Limiter::observe_sample`], before or after the slot is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Sample {
    pub(crate) started: Word,
    pub(crate) weight: u32,
    pub(crate) tag: Tag,
}

impl Sample {
    /// The partition that the slot is of.
    #[inline]
    pub const fn partition(self) -> Option<usize> {
        self.tag.whose().place()
    }

    /// How many permits it stands for in what is counted: itself and those that are not timed, 0 when it is one
    /// of these.
    #[inline]
    pub const fn stands_for(self) -> u32 {
        match self.tag.timed() {
            Some(shift) => 1 << shift,
            None => 0,
        }
    }

    /// Whether `outcome` is to be counted: a success that is not timed is not, for others stand for it.
    #[inline]
    pub const fn counts(self, outcome: Outcome) -> bool {
        self.tag.timed().is_some() || !matches!(outcome, Outcome::Success)
    }

    /// Whether `outcome` adds to the window. Of work that is not timed, only an overload does, and that it was
    /// given up.
    #[inline]
    pub(crate) const fn teaches(self, outcome: Outcome) -> bool {
        self.tag.timed().is_some() || matches!(outcome, Outcome::Overload | Outcome::Cancelled)
    }
}

/// A slot of a limiter, freed when it is dropped.
///
/// `H` is how the permit reaches its limiter: a reference, or an owner such as `Arc<Limiter>`.
/// Dropping it without an outcome frees the slot and teaches nothing, for a destructor has no clock;
/// [`finish`](Permit::finish) with [`Outcome::Cancelled`] where the time is at hand.
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
}

impl<H: Handle> Drop for Permit<H> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.handle.release_slot(slot);
        }
    }
}

impl<L: Law, H: Deref<Target = Limiter<L>>> Permit<H> {
    /// A permit for slots that were just taken. One that is timed does what the gate showed to be left to do.
    #[inline]
    pub(crate) fn tended(handle: H, weight: u32, entered: Entered, now: Timestamp) -> Self {
        let slot = handle.slot(weight, entered.tag(), now);
        // Before the law runs: if it panics, the slot is freed.
        let permit = Self::new(handle, slot);
        if entered.is_due() {
            permit.handle.apply(0, now);
        }
        permit
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
        self.end(slot, outcome, now)
    }

    fn settle_slot_from_isr(&self, slot: Slot, outcome: Outcome, now: Timestamp) -> Settled {
        self.settle_from_isr(slot, outcome, now)
    }

    #[inline]
    fn release_slot(&self, slot: Slot) -> Settled {
        self.release(slot)
    }
}
