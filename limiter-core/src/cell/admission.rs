//! The admission word: `limit`, one `waiting` bit and `inflight` in one atomic.
//!
//! ```text
//! wide   (64 bits):  waiting 63 | limit 62..32 (31 bits) | inflight 31..0
//! narrow (32 bits):  waiting 31 | limit 30..16 (15 bits) | inflight 15..0
//! ```
//!
//! `waiting` is the sign of the high half: one comparison of the halves tells a newcomer that there is room and
//! that nobody waits.
//!
//! `limit` 0 means closed and is absorbing: no later limit reopens it. `inflight <= MAX_LIMIT` always, but for
//! what is heavier than the limit and alone, which is let in up to [`MOST_INFLIGHT`], because
//! `inflight < limit` and the increment are one compare-exchange; so `inflight` never carries
//! into the limit. Shrinking `limit` below `inflight` is legal: nothing is admitted until enough
//! have left.
//!
//! Transitions: acquire adds 1 when `inflight < limit` (and, for newcomers, `waiting` is clear), or a weight
//! when a condition on the word holds; release subtracts as much; set_limit replaces `limit`; close sets `limit` to 0; the waiting bit is set and cleared
//! only under the adapter's queue lock.
//!
//! ```text
//! op            | success | failure | pairs with              | why
//! acquire       | Acquire | Relaxed | release                 | a new holder sees what the last holder wrote
//! release       | Release | -       | acquire                 | publishes what the holder wrote; the word it
//!               |         |         |                         | returns tells whether someone waits
//! set_limit     | Relaxed | Relaxed | -                       | the limit publishes nothing but itself
//! rebook        | Acquire | Relaxed | release                 | slots that are granted to partitions
//! close         | Relaxed | Relaxed | -                       | likewise; the word tells whether someone waits
//! set_waiting   | Relaxed | -       | release, set_limit      | same word: in its modification order either the
//!               |         |         |                         | release saw the bit, or the acquire that the
//!               |         |         |                         | waiter tries next sees the free slot
//! clear_waiting | Relaxed | -       | -                       | advisory: only newcomers read it
//! load          | Relaxed | -       | -                       | a picture, stale at once
//! ```
//!
//! Progress: every operation is lock-free; release is one `fetch_sub` and wait-free.

use super::sync::{AtomicWord, Ordering, Word, const_unless_loom};
use crate::law::partition::book;
use crate::law::shares::fits_share;

const INFLIGHT_BITS: u32 = Word::BITS / 2;
const INFLIGHT_MASK: Word = (1 << INFLIGHT_BITS) - 1;
const WAITING: Word = 1 << (Word::BITS - 1);
const LIMIT_SHIFT: u32 = INFLIGHT_BITS;
const LIMIT_MASK: Word = !(INFLIGHT_MASK | WAITING);

/// The largest limit the admission word holds: 2³¹ − 1 with a 64-bit word, 32,767 with a 32-bit one.
pub const MAX_LIMIT: u32 = (LIMIT_MASK >> LIMIT_SHIFT) as u32;

/// The most that is ever in flight: what fits, and is not negative in 32 bits.
const MOST_INFLIGHT: u32 = if INFLIGHT_BITS < 32 {
    INFLIGHT_MASK as u32
} else {
    i32::MAX as u32
};

/// One value of the admission word, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occupancy(Word);

impl Occupancy {
    pub(crate) const fn limit(self) -> u32 {
        ((self.0 & LIMIT_MASK) >> LIMIT_SHIFT) as u32
    }

    pub(crate) const fn inflight(self) -> u32 {
        (self.0 & INFLIGHT_MASK) as u32
    }

    pub(crate) const fn waiting(self) -> bool {
        self.0 & WAITING != 0
    }

    /// The limit for newcomers: the high half, which is negative when somebody waits.
    #[inline]
    const fn open_limit(self) -> i32 {
        const SPARE: u32 = 32 - INFLIGHT_BITS;
        ((self.0 >> LIMIT_SHIFT) as i32) << SPARE >> SPARE
    }

    /// A newcomer finds a free slot, and nobody who waits for one.
    #[inline]
    const fn welcomes(self) -> bool {
        (self.inflight() as i32) < self.open_limit()
    }

    /// Whether the limit is this, and nobody waits.
    #[inline]
    pub(crate) const fn is_at(self, limit: u32) -> bool {
        (self.0 >> LIMIT_SHIFT) as u32 == limit
    }

    /// Whether so many more can be in flight, whatever the limit says.
    pub(crate) const fn can_count(self, weight: u32) -> bool {
        weight <= MOST_INFLIGHT.saturating_sub(self.inflight())
    }

    pub(crate) const fn closed(self) -> bool {
        self.0 & LIMIT_MASK == 0
    }
}

/// Who asks for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// A newcomer stays behind whoever waits already.
    Newcomer,
    /// The head of the adapter's queue, for which the waiting bit was set.
    Waiter,
}

/// `limit`, `waiting` and `inflight` in one word.
#[derive(Debug)]
pub(crate) struct Admission(AtomicWord);

impl Admission {
    const_unless_loom! {
        pub(crate) fn new(limit: u32) -> Self {
            Self(AtomicWord::new((limit as Word) << LIMIT_SHIFT))
        }
    }

    #[inline]
    pub(crate) fn load(&self) -> Occupancy {
        Occupancy(self.0.load(Ordering::Relaxed))
    }

    /// Takes a slot, or tells why not. A refusal is one load and no store.
    ///
    /// Returns the word after the increment, or the word that refused.
    #[inline]
    pub(crate) fn acquire(&self, arrival: Arrival) -> Result<Occupancy, Occupancy> {
        // Those who waited look past the bit.
        let counts = match arrival {
            Arrival::Newcomer => Word::MAX,
            Arrival::Waiter => !WAITING,
        };
        self.take_if(1, |seen| Occupancy(seen.0 & counts).welcomes())
    }

    /// Takes `weight` slots where `may` says so, and the sum fits into its half of the word.
    #[inline]
    pub(crate) fn acquire_if(
        &self,
        arrival: Arrival,
        weight: u32,
        may: impl Fn(Occupancy) -> bool,
    ) -> Result<Occupancy, Occupancy> {
        self.take_if(weight, |seen| {
            (arrival == Arrival::Waiter || !seen.waiting()) && may(seen)
        })
    }

    #[inline]
    fn take_if(
        &self,
        weight: u32,
        may: impl Fn(Occupancy) -> bool,
    ) -> Result<Occupancy, Occupancy> {
        // Relaxed: decides nothing by itself, the compare-exchange confirms it.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let seen = Occupancy(word);
            if !may(seen) {
                return Err(seen);
            }
            // Acquire pairs with `release`: what the slot's last holder wrote is visible to the new one.
            let after = word + Word::from(weight);
            match self
                .0
                .compare_exchange_weak(word, after, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return Ok(Occupancy(after)),
                Err(current) => word = current,
            }
        }
    }

    /// Takes `weight` slots where nobody waits and they fit into a share of what is not reserved of the limit.
    #[inline]
    pub(crate) fn acquire_within(
        &self,
        weight: u32,
        reserved: u32,
        share: u32,
    ) -> Option<Occupancy> {
        self.take_if(weight, |seen| {
            let limit = seen.open_limit();
            fits_share(weight, seen.inflight(), limit, reserved, share)
        })
        .ok()
    }

    /// Frees `weight` slots and returns the word after it. The caller owns them, so `inflight` is at least that.
    #[inline]
    pub(crate) fn release(&self, weight: u32) -> Occupancy {
        // Release pairs with `acquire`.
        let before = self.0.fetch_sub(Word::from(weight), Ordering::Release);
        debug_assert!(
            Occupancy(before).inflight() >= weight,
            "a slot was released that nobody held"
        );
        Occupancy(before.wrapping_sub(Word::from(weight)))
    }

    /// Replaces the limit and returns the word before it; `None` when closed.
    pub(crate) fn set_limit(&self, limit: u32) -> Option<Occupancy> {
        let limit = if limit > MAX_LIMIT { MAX_LIMIT } else { limit };
        self.replace_limit(limit)
    }

    /// Refuses everybody from now on and returns the word before it; `None` when already closed.
    pub(crate) fn close(&self) -> Option<Occupancy> {
        self.replace_limit(0)
    }

    fn replace_limit(&self, limit: u32) -> Option<Occupancy> {
        // Relaxed: the limit publishes nothing but itself, conservation of `inflight` needs atomicity only.
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| {
                if Occupancy(word).closed() {
                    return None;
                }
                Some((word & !LIMIT_MASK) | ((limit as Word) << LIMIT_SHIFT))
            })
            .ok()
            .map(Occupancy)
    }

    /// Books `need` slots, `back` of those booked before being free for it: as many as there is room for are
    /// granted, the others are owed and keep newcomers out. Returns both.
    pub(crate) fn rebook(&self, back: u32, need: u32) -> (u32, u32) {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let seen = Occupancy(word);
            let booked = seen.inflight() - back;
            let (granted, owed) = book(seen.limit(), booked, need, MOST_INFLIGHT);
            let inflight = Word::from(booked + granted + owed);
            // Acquire pairs with `release`: a slot that is granted may have been another's.
            match self.0.compare_exchange_weak(
                word,
                word & !INFLIGHT_MASK | inflight,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return (granted, owed),
                Err(current) => word = current,
            }
        }
    }

    /// Announces that someone waits. Called under the queue's lock, before the waiter's last try.
    pub(crate) fn set_waiting(&self) {
        self.0.fetch_or(WAITING, Ordering::Relaxed);
    }

    /// Lets newcomers in again. Called under the queue's lock, when nobody is left in it.
    pub(crate) fn clear_waiting(&self) {
        self.0.fetch_and(!WAITING, Ordering::Relaxed);
    }
}
