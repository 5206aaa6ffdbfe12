//! What a slot carries from its admission to its end, in one word that is never 0.
//!
//! ```text
//! 31..16 epoch of the last cut before it | 15..6 number of its partition and 1, or 0 | 5 the partition's own
//!  4..2  what it stands for, as a shift   | 1 not timed | 0 set
//! ```
//!
//! Never 0, so that an `Option` of a slot needs no word more.

use crate::cell::gate::Seen;
use crate::cell::sampling::WIDE;
use core::num::NonZeroU32;

const EPOCH: u32 = 0xffff_0000;
const UNTIMED: u32 = 1 << 1;
const SHIFT_AT: u32 = 2;
const OWN: u32 = 1 << 5;
const PLACE_AT: u32 = 6;
const PLACE: u32 = !EPOCH >> PLACE_AT;

/// How many partitions a tag can tell apart.
pub(crate) const MOST_PLACES: usize = PLACE as usize;

/// What an admission saw of the gate, and drew.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entered {
    pub(crate) seen: Seen,
    pub(crate) drawn: Option<u32>,
}

impl Entered {
    #[inline]
    pub(crate) fn tag(self) -> Tag {
        Tag::new(self.seen.epoch(), self.drawn)
    }

    /// Somebody left work, and the permit is one of those that do it.
    #[inline]
    pub(crate) fn is_due(self) -> bool {
        self.drawn.is_some() && self.seen.pending()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub(crate) struct Tag(NonZeroU32);

impl Tag {
    /// `epoch` is in the high half of its word; `drawn` is what [`Sampling::draw`](crate::cell::sampling::Sampling::draw)
    /// said.
    #[inline]
    pub(crate) fn new(epoch: u32, drawn: Option<u32>) -> Self {
        let sampled = match drawn {
            Some(shift) if WIDE => shift << SHIFT_AT | 1,
            None if WIDE => UNTIMED | 1,
            _ => 1,
        };
        Self(NonZeroU32::MIN | (epoch & EPOCH | sampled))
    }

    /// The same in another epoch.
    pub(crate) fn renewed(self, epoch: u32) -> Self {
        Self(NonZeroU32::MIN | (epoch & EPOCH | self.0.get() & !EPOCH))
    }

    /// The same for a slot of a partition below [`MOST_PLACES`]: of its own, or of what is for everybody.
    #[inline]
    pub(crate) fn of(self, place: u16, own: bool) -> Self {
        let own = if own { OWN } else { 0 };
        Self(self.0 | ((u32::from(place) + 1) & PLACE) << PLACE_AT | own)
    }

    /// The partition that the slot is of.
    #[inline]
    pub(crate) const fn place(self) -> Option<usize> {
        let place = self.0.get() >> PLACE_AT & PLACE;
        (place as usize).checked_sub(1)
    }

    /// Whether it is one of the partition's own.
    #[inline]
    pub(crate) const fn is_own(self) -> bool {
        self.0.get() & OWN != 0
    }

    /// How many the slot stands for, as a shift; `None` when it is not timed.
    #[inline]
    pub(crate) const fn timed(self) -> Option<u32> {
        if !WIDE {
            return Some(0);
        }
        let word = self.0.get();
        if word & UNTIMED != 0 {
            return None;
        }
        Some(word >> SHIFT_AT & 7)
    }

    /// Whether no cut was made since it was admitted, by the gate's word.
    #[inline]
    pub(crate) const fn is_of(self, epoch: u32) -> bool {
        (self.0.get() ^ epoch) & EPOCH == 0
    }
}
