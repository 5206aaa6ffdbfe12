//! What a slot carries from its admission to its end, in one word that is never 0.
//!
//! ```text
//! 31 plain | 30..16 epoch of the last cut before it | 15 a partition's own | 14..5 its partition's place, inverted
//! 4..2 what it stands for, as a shift | 1 not timed | 0 set
//! ```
//!
//! `plain` is a slot of a partition's own, not timed, that was taken without a look at anything but its room: when it
//! ends well nothing else is to be looked at either. The sign tells, in one word with all that the compiler has to
//! follow from the admission to the end.
//!
//! Never 0, so that an `Option` of a slot needs no word more. Bits 15..5 are those of [`Whose`] inverted, and so 0
//! in a slot of no partition.

use crate::cell::gate::{EPOCH, Seen};
use crate::cell::sampling::WIDE;
use core::num::NonZeroU32;

const PLAIN: u32 = 1 << 31;
const UNTIMED: u32 = 1 << 1;
const SHIFT_AT: u32 = 2;
const ONE_PLACE: u32 = 1 << 5;
const ROOM: u32 = 0xffff & !(ONE_PLACE - 1);
const NO_PLACE: u16 = 0x3ff;

/// How many partitions a tag can tell apart.
pub(crate) const MOST_PLACES: usize = NO_PLACE as usize;

/// Which partition a slot is of, and whether it is one of its own: the place of a slot that is, and past every
/// place otherwise, so that one comparison tells where it is given back. In bits 15..5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whose(u32);

impl Whose {
    const POOLED: u32 = 1 << 15;
    /// Of no partition.
    pub(crate) const NOBODY: Self = Self(ROOM);

    /// One of the own slots of the partition at a place below [`MOST_PLACES`].
    #[inline]
    pub(crate) const fn own(place: u16) -> Self {
        Self((place & NO_PLACE) as u32 * ONE_PLACE)
    }

    /// The same of what is for everybody.
    pub(crate) const fn pooled(self) -> Self {
        Self(self.0 | Self::POOLED)
    }

    /// The place of the partition that it is one of the own slots of, of so many.
    #[inline]
    pub(crate) const fn room(self, places: usize) -> Option<usize> {
        if self.0 >= places as u32 * ONE_PLACE {
            return None;
        }
        Some((self.0 / ONE_PLACE) as usize)
    }

    /// The place of the partition.
    #[inline]
    pub(crate) const fn place(self) -> Option<usize> {
        match (self.0 / ONE_PLACE) as u16 & NO_PLACE {
            NO_PLACE => None,
            place => Some(place as usize),
        }
    }
}

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

    /// The same for a slot that is whose this says.
    pub(crate) fn tag_of(self, whose: Whose) -> Tag {
        self.tag().of(whose)
    }

    /// The same for one of the own slots of the partition at `place`, that was taken plainly.
    #[inline]
    pub(crate) fn plain_tag(self, place: u16) -> Tag {
        let base = self.seen.epoch() & EPOCH | Whose::own(place).0 ^ ROOM | 1;
        // Whole in each arm: where they part, the compiler sees the sign of both.
        match self.drawn {
            Some(shift) if WIDE => Tag(NonZeroU32::MIN | (base | (shift & 7) << SHIFT_AT)),
            None if WIDE => Tag(NonZeroU32::MIN | (base | UNTIMED | PLAIN)),
            _ => Tag(NonZeroU32::MIN | base),
        }
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

    /// The same for a slot that is whose this says.
    fn of(self, whose: Whose) -> Self {
        Self(self.0 | (whose.0 ^ ROOM))
    }

    /// The same as of a slot that was not taken plainly.
    #[inline]
    pub(crate) fn at_length(self) -> Self {
        Self(NonZeroU32::MIN | self.0.get() & !PLAIN)
    }

    /// It is one of a partition's own slots, and not timed, so that its end has nothing to look at but its room.
    #[inline]
    pub(crate) const fn is_plain(self) -> bool {
        (self.0.get() as i32) < 0
    }

    /// The same in another epoch.
    pub(crate) fn renewed(self, epoch: u32) -> Self {
        Self(NonZeroU32::MIN | (epoch & EPOCH | self.0.get() & !EPOCH))
    }

    /// Which partition the slot is of.
    #[inline]
    pub(crate) const fn whose(self) -> Whose {
        Whose(self.0.get() & ROOM ^ ROOM)
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
