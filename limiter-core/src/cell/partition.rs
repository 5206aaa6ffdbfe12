//! What a partition has of its own: a word like the admission word, its counters, and what is lent of it.
//!
//! ```text
//! word     1 bit heed | quota | 1 bit waiting | inflight, two in each half of the word
//! spare    slots of the quota that each class leaves; where it may be lent also what nobody used of late
//! peak     largest inflight since it was looked at for lending
//! lent     the most it may have while the rest is lent, MAX when nothing is
//! terms    what it is guaranteed, changed while running
//! looked   stamp at which it was looked at, pooled: slots it has of what is for everybody
//! ended, refused   counts that wrap
//! ```
//!
//! As many slots as the larger of quota and inflight are booked in the admission word, at every instant at
//! least: a quota grows after they were booked, and shrinks before they are given back. So what all words let
//! in together is within the limit.
//!
//! `heed` is set while somebody waits, or more is in flight than the quota. It is the sign of the word and of the
//! quota: by one comparison a newcomer sees that there is room and nothing else to think of, and whoever leaves
//! that nothing follows. It is cleared late rather than early.
//!
//! `spare` is not in the word: an admission that goes by it and by the quota in the word never passes the quota,
//! whatever `spare` says. Where it says too much, the admission looks closer.
//!
//! Transitions: acquire adds a weight where `inflight` and it fit into the quota; release subtracts it, and
//! tells how many were in flight beyond the quota and are not any more; shrink and grow replace the quota, by
//! whoever holds the gate of the partitions, which publishes `spare` too.
//!
//! ```text
//! op             | success | failure | pairs with              | why
//! acquire        | Acquire | Relaxed | release                 | a new holder sees what the last one wrote
//! release        | Release | -       | acquire                 | publishes that; the word it returns tells what
//!                |         |         |                         | to give back, and whether somebody waits
//! shrink, grow   | Relaxed | Relaxed | -                       | quota and inflight are one word: what is booked
//!                |         |         |                         | follows from the value that was replaced
//! calm           | Relaxed | Relaxed | -                       | one try: whoever comes next may do it
//! publish        | Relaxed | -       | -                       | advisory, see above
//! set_waiting    | Relaxed | -       | release                 | as in the admission word
//! counters, load | Relaxed | -       | -                       | pictures
//! ```

use super::sync::{AtomicU32, AtomicWord, Ordering, Word, const_unless_loom};
use crate::law::partition::Terms;
use crate::law::shares::{Priority, Shares, fits, part};
use crate::outcome::Outcome;

const HALF: u32 = Word::BITS / 2;
const WAITING: Word = 1 << (HALF - 1);
const INFLIGHT: Word = WAITING - 1;
const HEED: Word = 1 << (Word::BITS - 1);
const QUOTA_SHIFT: u32 = HALF;

/// One value of the word, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places(Word);

impl Places {
    pub(crate) const fn quota(self) -> u32 {
        ((self.0 & !HEED) >> QUOTA_SHIFT) as u32
    }

    const fn lower_half(self) -> i64 {
        (self.0 & (INFLIGHT | WAITING)) as i64
    }

    /// The quota for newcomers, negative when there is something to heed.
    #[inline]
    const fn open_quota(self) -> i64 {
        const SPARE: u32 = 32 - HALF;
        (((self.0 >> QUOTA_SHIFT) as i32) << SPARE >> SPARE) as i64
    }

    pub(crate) const fn inflight(self) -> u32 {
        (self.0 & INFLIGHT) as u32
    }

    pub(crate) const fn waiting(self) -> bool {
        self.0 & WAITING != 0
    }

    /// Whoever leaves looks closer.
    #[inline]
    pub(crate) const fn heeds(self) -> bool {
        self.0 & HEED != 0
    }

    /// The same with its sign as it must be.
    const fn signed(self) -> Word {
        if self.waiting() || self.inflight() > self.quota() {
            self.0 | HEED
        } else {
            self.0 & !HEED
        }
    }

    /// After so many have left.
    const fn without(self, weight: u32) -> Self {
        Self(self.0.wrapping_sub(weight as Word))
    }

    /// What is booked for it.
    pub(crate) fn booked(self) -> u32 {
        self.quota().max(self.inflight())
    }
}

/// What admissions and ends look at comes first, on a cache line that no other partition has.
#[derive(Debug)]
#[cfg_attr(target_pointer_width = "64", repr(C, align(128)))]
pub(crate) struct Room {
    word: AtomicWord,
    spare: [AtomicU32; 4],
    peak: AtomicU32,
    lent: AtomicU32,
    terms: AtomicU32,
    looked: AtomicU32,
    pooled: AtomicU32,
    refused: AtomicU32,
    ended: [AtomicU32; 5],
}

impl Room {
    const_unless_loom! {
        pub(crate) fn new(terms: Terms) -> Self {
            Self {
                word: AtomicWord::new(0),
                spare: [
                    AtomicU32::new(0),
                    AtomicU32::new(0),
                    AtomicU32::new(0),
                    AtomicU32::new(0),
                ],
                peak: AtomicU32::new(0),
                lent: AtomicU32::new(u32::MAX),
                terms: AtomicU32::new(terms.0),
                looked: AtomicU32::new(0),
                pooled: AtomicU32::new(0),
                refused: AtomicU32::new(0),
                ended: [
                    AtomicU32::new(0),
                    AtomicU32::new(0),
                    AtomicU32::new(0),
                    AtomicU32::new(0),
                    AtomicU32::new(0),
                ],
            }
        }
    }

    #[inline]
    pub(crate) fn load(&self) -> Places {
        Places(self.word.load(Ordering::Relaxed))
    }

    /// Takes `weight` slots, which are not 0, where that leaves what the class leaves, and there is nothing to heed.
    #[inline]
    pub(crate) fn acquire_plainly(&self, class: Priority, weight: u32) -> bool {
        let Some(spare) = self.spare.get(class as usize) else {
            return false;
        };
        let beside = i64::from(weight) + i64::from(spare.load(Ordering::Relaxed));
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let seen = Places(word);
            // Beside waiters the quota is negative, and their bit no matter.
            if seen.lower_half() + beside > seen.open_quota() {
                return false;
            }
            // Acquire pairs with `release`.
            match self.word.compare_exchange_weak(
                word,
                word + Word::from(weight),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(current) => word = current,
            }
        }
    }

    /// Takes `weight` slots of the quota, where `most` of it may be used.
    #[inline]
    pub(crate) fn acquire(
        &self,
        passes: impl Fn() -> bool,
        weight: u32,
        most: impl Fn(u32) -> u32,
    ) -> Result<Places, Places> {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let seen = Places(word);
            if seen.waiting() && !passes() || !fits(weight, seen.inflight(), most(seen.quota())) {
                return Err(seen);
            }
            let after = word + Word::from(weight);
            // Acquire pairs with `release`.
            match self
                .word
                .compare_exchange_weak(word, after, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => {
                    let after = Places(after);
                    if after.inflight() > self.peak.load(Ordering::Relaxed) {
                        self.peak.fetch_max(after.inflight(), Ordering::Relaxed);
                    }
                    return Ok(after);
                }
                Err(current) => word = current,
            }
        }
    }

    /// Frees `weight` slots; returns the word before it.
    #[inline]
    pub(crate) fn release(&self, weight: u32) -> Places {
        // Release pairs with `acquire`.
        Places(self.word.fetch_sub(Word::from(weight), Ordering::Release))
    }

    /// How many bookings are over when `weight` slots were freed of `before`; nobody heeds that any more when
    /// these were the last.
    pub(crate) fn over(&self, before: Places, weight: u32) -> u32 {
        let after = before.without(weight);
        let calm = after.signed();
        if calm != after.0 {
            // Who fails leaves it to whoever comes next.
            let relaxed = Ordering::Relaxed;
            let _ = self.word.compare_exchange(after.0, calm, relaxed, relaxed);
        }
        before.booked() - after.booked()
    }

    /// Lowers the quota to `most`, if it is above; returns how many bookings are over.
    pub(crate) fn shrink(&self, most: u32) -> u32 {
        self.replace(
            |seen| seen.quota().min(most),
            |seen, after| seen.booked() - after.booked(),
        )
    }

    /// How many bookings a quota of `target` needs beyond those there are.
    pub(crate) fn need(&self, target: u32) -> u32 {
        target.saturating_sub(self.load().booked())
    }

    /// Raises the quota towards `target` by `booked` new bookings; returns how many of them it used.
    pub(crate) fn grow(&self, target: u32, booked: u32) -> u32 {
        self.replace(
            |seen| target.min(seen.booked() + booked).max(seen.quota()),
            |seen, after| after.booked() - seen.booked(),
        )
    }

    fn replace(
        &self,
        quota: impl Fn(Places) -> u32,
        difference: impl Fn(Places, Places) -> u32,
    ) -> u32 {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let seen = Places(word);
            let after = word & (INFLIGHT | WAITING) | (quota(seen) as Word) << QUOTA_SHIFT;
            let after = Places(after).signed();
            match self
                .word
                .compare_exchange_weak(word, after, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return difference(seen, Places(after)),
                Err(current) => word = current,
            }
        }
    }

    pub(crate) fn set_waiting(&self) {
        self.word.fetch_or(WAITING | HEED, Ordering::Relaxed);
    }

    pub(crate) fn clear_waiting(&self) {
        let clear = |word| Some(Places(word & !WAITING).signed());
        let _ = self
            .word
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, clear);
    }

    /// Says what the classes leave of `quota`. By the holder of the gate.
    pub(crate) fn publish(&self, quota: u32, shares: Shares) {
        // Whoever has more in flight than anybody of late is to look closer, and says so.
        let used = match self.terms().idle() {
            Some(_) => self.peak.load(Ordering::Relaxed),
            None => u32::MAX,
        };
        for (spare, class) in self.spare.iter().zip(Priority::ALL) {
            let most = part(quota, shares.of(class)).min(used);
            spare.store(quota - most, Ordering::Relaxed);
        }
    }

    /// Even the highest class would have had to look closer.
    pub(crate) fn is_beyond_plain(&self, after: Places) -> bool {
        let [.., critical] = &self.spare;
        let spare = critical.load(Ordering::Relaxed);
        spare > after.quota().saturating_sub(after.inflight())
    }

    pub(crate) fn lent(&self) -> u32 {
        self.lent.load(Ordering::Relaxed)
    }

    pub(crate) fn set_lent(&self, most: u32) {
        self.lent.store(most, Ordering::Relaxed);
    }

    pub(crate) fn terms(&self) -> Terms {
        Terms(self.terms.load(Ordering::Relaxed))
    }

    /// Followed by a balance, whose gate publishes it: whoever holds it then, or after, sees the new terms.
    pub(crate) fn set_terms(&self, terms: Terms) {
        self.terms.store(terms.0, Ordering::Relaxed);
        self.looked.store(0, Ordering::Relaxed);
        self.set_lent(u32::MAX);
    }

    pub(crate) fn looked(&self) -> u32 {
        self.looked.load(Ordering::Relaxed)
    }

    /// Starts to look from `now`; returns the largest inflight since the last time.
    pub(crate) fn look(&self, now: u32) -> u32 {
        self.looked.store(now, Ordering::Relaxed);
        self.peak.swap(self.load().inflight(), Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn add_pooled(&self, weight: u32) {
        self.pooled.fetch_add(weight, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn take_pooled(&self, weight: u32) {
        self.pooled.fetch_sub(weight, Ordering::Relaxed);
    }

    pub(crate) fn pooled(&self) -> u32 {
        self.pooled.load(Ordering::Relaxed)
    }

    pub(crate) fn count_refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self) -> u32 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Counts an outcome so many times.
    pub(crate) fn count(&self, outcome: Outcome, times: u32) {
        let [success, overload, failure, ignored, cancelled] = &self.ended;
        let counter = match outcome {
            Outcome::Success => success,
            Outcome::Overload => overload,
            Outcome::Failure => failure,
            Outcome::Ignored => ignored,
            Outcome::Cancelled => cancelled,
        };
        counter.fetch_add(times, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self) -> [u32; 5] {
        self.ended
            .each_ref()
            .map(|count| count.load(Ordering::Relaxed))
    }
}
