//! What a limiter was told, for whoever holds the gate, and the reason of its last decision.
//!
//! ```text
//! bounds   max in the high half | min in the low half of one machine word
//! wanted   a limit set by hand, 0 when there is none
//! wall     ticks to add to a timestamp for the wall clock, plus 1; 0 when unknown
//! reason   code of the last decision
//! ```
//!
//! ```text
//! op            | success | failure | pairs with         | why
//! set_bounds    | Relaxed | -       | Gate::enter / take | the pending bit that follows publishes it
//! request_limit | Relaxed | -       | Gate::enter / take | likewise; the last request wins
//! take_wanted   | Relaxed | -       | Gate::take         | ordered by the bit that was taken before it
//! others        | Relaxed | -       | -                  | advisory
//! ```

use super::sync::{AtomicU32, AtomicWord, Ordering, Word, const_unless_loom};
use crate::law::{Reason, math::div_rem};
use crate::time::{TickRate, Ticks, Timestamp};

const HALF: u32 = Word::BITS / 2;
const LOW: Word = (1 << HALF) - 1;

/// Bounds, wishes and the last reason.
#[derive(Debug)]
pub(crate) struct Controls {
    bounds: AtomicWord,
    wall: AtomicWord,
    wanted: AtomicU32,
    reason: AtomicU32,
}

impl Controls {
    const_unless_loom! {
        pub(crate) fn new(min: u32, max: u32) -> Self {
            Self {
                bounds: AtomicWord::new(pack(min, max)),
                wall: AtomicWord::new(0),
                wanted: AtomicU32::new(0),
                reason: AtomicU32::new(Reason::Initial as u32),
            }
        }
    }

    pub(crate) fn bounds(&self) -> (u32, u32) {
        let word = self.bounds.load(Ordering::Relaxed);
        ((word & LOW) as u32, (word >> HALF) as u32)
    }

    pub(crate) fn set_bounds(&self, min: u32, max: u32) {
        self.bounds.store(pack(min, max), Ordering::Relaxed);
    }

    pub(crate) fn request_limit(&self, limit: u32) {
        self.wanted.store(limit, Ordering::Relaxed);
    }

    pub(crate) fn take_wanted(&self) -> Option<u32> {
        match self.wanted.swap(0, Ordering::Relaxed) {
            0 => None,
            limit => Some(limit),
        }
    }

    pub(crate) fn set_wall_offset(&self, rate: TickRate, offset: Ticks) {
        // Modulo 8 · rate, without a product that may not fit: the lowest three bits pass through.
        let (_, eighth) = div_rem(offset.get() >> 3, rate.get());
        let part = u64::from(eighth) << 3 | offset.get() & 7;
        // A cycle that does not fit into the word leaves the wall clock unknown.
        let word = Word::try_from(part).map_or(0, |part| part.saturating_add(1));
        self.wall.store(word, Ordering::Relaxed);
    }

    /// The wall clock at `now`, modulo its cycle plus `now`; `None` while the offset is unknown.
    pub(crate) fn wall(&self, now: Timestamp) -> Option<Timestamp> {
        let offset = self.wall.load(Ordering::Relaxed).checked_sub(1)?;
        #[allow(clippy::useless_conversion, reason = "a 32-bit word elsewhere")]
        Some(now.after(Ticks::new(offset.into())))
    }

    pub(crate) fn reason(&self) -> Reason {
        Reason::from_code(self.reason.load(Ordering::Relaxed))
    }

    pub(crate) fn set_reason(&self, reason: Reason) {
        self.reason.store(reason as u32, Ordering::Relaxed);
    }
}

const fn pack(min: u32, max: u32) -> Word {
    ((max as Word) << HALF) | (min as Word)
}
