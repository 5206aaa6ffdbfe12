//! A retry budget: the balance and the stamp that it was filled up to, in two words that agree by their
//! low bits, and the terms.
//!
//! ```text
//! fill    31..12 balance in milli-tokens | 11..0 low bits of `filled`
//! filled  stamp up to which the floor is in the balance
//! terms   29..10 capacity in milli-tokens | 9..0 ratio in milli-tokens
//! floor   milli-tokens per 2³² units, see law/budget.rs
//! ```
//!
//! A refill moves `filled` by the whole time; what it rounds away is not lost, for the floor is reckoned from
//! stamps and not from differences (law/budget.rs). A clock that was set back moves `filled` back with it.
//!
//! Transitions: every deposit and withdrawal is one compare-exchange of `fill`, with what the floor added
//! since `filled` in it and the low bits of the new stamp; then `filled` follows. Who finds the low bits
//! unequal finds another between the two, and completes it: the stamp nearest to its own time with those
//! low bits. So no time is added twice, at whatever point a thread stops, and a refusal stores nothing.
//! Two stamps that follow one another never have the same low bits: see `refill`.
//!
//! ```text
//! op               | success | failure | pairs with | why
//! update: fill     | Relaxed | Relaxed | -          | tokens are only counted: the word's own modification order
//!                  |         |         |            | makes each spent once; the low bits, not an ordering, tell
//!                  |         |         |            | whether `filled` belongs to it
//! update: filled   | Relaxed | Relaxed | -          | from the value seen before to one with the low bits of `fill`;
//!                  |         |         |            | a failure means that someone completed it
//! restore          | Relaxed | -       | -          | before the first use
//! set_terms        | Relaxed | -       | -          | who still uses the old terms fills to the old capacity; the
//!                  |         |         |            | next update cuts to the new one
//! balance, terms   | Relaxed | -       | -          | a picture, stale at once
//! ```
//!
//! What remains: a thread that is stopped for more than a second between reading its clock and coming here,
//! at the very instant when another is between its two stores, may complete it by a multiple of 4,096 units
//! too early; and one that is stopped for a multiple of that between its load and its exchange, while others
//! brought back the same balance, adds its time again. Both add at most to the capacity.

use super::sync::{AtomicU32, Ordering, const_unless_loom};
use super::word::{exchange, update};
use crate::law::budget::{Floor, Posting, Terms, rescale};
use crate::time::Stamp;

const LOW_BITS: u32 = 12;
const LOW: u32 = (1 << LOW_BITS) - 1;
const RATIO_BITS: u32 = 10;

/// The largest balance that fits beside the low bits.
pub(crate) const MAX_BALANCE: u32 = u32::MAX >> LOW_BITS;

/// A clock that is further behind than this has been set back, and time goes on from there; one that is
/// less behind belongs to a thread that was stopped after it read the clock. 30 to 65 s.
const BEHIND: u32 = 1 << 16;

/// How far another thread's clock may be ahead, for the completion of its update.
const AHEAD: u32 = 1 << 10;

const fn word(terms: Terms) -> u32 {
    terms.capacity << RATIO_BITS | terms.ratio
}

/// Balance, stamp and terms.
#[derive(Debug)]
pub(crate) struct Bucket {
    fill: AtomicU32,
    filled: AtomicU32,
    terms: AtomicU32,
    floor: AtomicU32,
}

/// What comes of the time since the balance was filled.
#[derive(Clone, Copy)]
enum Refill {
    /// The floor adds so much up to this stamp.
    Gain(u32, Stamp),
    /// The clock was set back: time goes on from this stamp, before anything else.
    SetBack(Stamp),
}

impl Bucket {
    const_unless_loom! {
        /// A bucket of `balance`, filled up to now: its stamps do not agree, and the first to use it completes
        /// them. Far from where most clocks start, so that none seems to be behind.
        pub(crate) fn new(terms: Terms, balance: u32) -> Self {
            Self {
                fill: AtomicU32::new(balance << LOW_BITS),
                filled: AtomicU32::new(1 << 31 | 1),
                terms: AtomicU32::new(word(terms)),
                floor: AtomicU32::new(terms.floor.0),
            }
        }
    }

    #[inline]
    pub(crate) fn terms(&self) -> Terms {
        let word = self.terms.load(Ordering::Relaxed);
        Terms {
            capacity: word >> RATIO_BITS,
            ratio: word & ((1 << RATIO_BITS) - 1),
            floor: Floor(self.floor.load(Ordering::Relaxed)),
        }
    }

    /// The balance at `now`. Stores nothing.
    pub(crate) fn balance(&self, now: Stamp) -> u32 {
        let terms = self.terms();
        let fill = self.fill.load(Ordering::Relaxed);
        let filled = self.filled.load(Ordering::Relaxed);
        let gain = if (fill ^ filled) & LOW == 0 {
            match refill(terms.floor, Stamp(filled), now) {
                Refill::Gain(gain, _) => gain,
                Refill::SetBack(_) => 0,
            }
        } else {
            0
        };
        (fill >> LOW_BITS).saturating_add(gain).min(terms.capacity)
    }

    /// Changes the balance at `now`, or leaves everything as it is when the balance does not allow it.
    /// Returns the balance that is left, or the one that was too small.
    // In each operation by itself where code is cheap: what is posted is known there.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(crate) fn update(&self, posting: Posting, now: Stamp) -> Result<u32, u32> {
        loop {
            let fill = self.fill.load(Ordering::Relaxed);
            let filled = self.filled.load(Ordering::Relaxed);
            if (fill ^ filled) & LOW != 0 {
                self.complete(fill, filled, now);
                continue;
            }
            let (terms, balance) = (self.terms(), fill >> LOW_BITS);
            if posting == Posting::Deposit && balance == terms.capacity {
                // Whatever time it is, there is no room.
                return Ok(balance);
            }
            let (left, at, again) = match refill(terms.floor, Stamp(filled), now) {
                Refill::SetBack(at) => (balance, at, true),
                Refill::Gain(gain, at) => {
                    let have = balance.saturating_add(gain).min(terms.capacity);
                    let left = posting.apply(have, terms).ok_or(have)?;
                    // Full, or nothing came in and nothing goes.
                    if left == have && have == balance {
                        return Ok(left);
                    }
                    (left, at, false)
                }
            };
            let next = left << LOW_BITS | at.0 & LOW;
            if exchange(&self.fill, fill, next) {
                self.follow(filled, at.0);
                if !again {
                    return Ok(left);
                }
            }
        }
    }

    /// Does for another thread what comes after its exchange of `fill`.
    #[cold]
    fn complete(&self, fill: u32, filled: u32, now: Stamp) {
        // The two words are of one moment only if the first is still what it was.
        if self.fill.load(Ordering::Relaxed) == fill {
            let behind = filled.wrapping_sub(now.0);
            let at = if (AHEAD..=BEHIND).contains(&behind) {
                // This thread was stopped for long since it read its clock: the first such stamp after
                // `filled`, so that it does not turn back what others did meanwhile.
                filled.wrapping_add(fill.wrapping_sub(filled) & LOW)
            } else {
                let latest = now.0.wrapping_add(AHEAD);
                latest.wrapping_sub(latest.wrapping_sub(fill) & LOW)
            };
            self.follow(filled, at);
        }
    }

    #[inline]
    fn follow(&self, seen: u32, at: u32) {
        if seen != at {
            // A failure means that someone was faster, with the same low bits.
            exchange(&self.filled, seen, at);
        }
    }

    /// Sets the balance that it had `asleep` units before `now`; before anything else uses it.
    pub(crate) fn restore(&self, balance: u32, now: Stamp, asleep: u32) {
        let terms = self.terms();
        let filled = now.0.wrapping_sub(asleep.min(Stamp::MAX_UNITS));
        let fill = balance.min(terms.capacity) << LOW_BITS | filled & LOW;
        self.filled.store(filled, Ordering::Relaxed);
        self.fill.store(fill, Ordering::Relaxed);
    }

    /// Changes the terms; the balance stays equally full.
    pub(crate) fn set_terms(&self, terms: Terms, now: Stamp) {
        // What came in so far came in under the old terms.
        let _ = self.update(Posting::Settle, now);
        let before = self.terms().capacity;
        self.terms.store(word(terms), Ordering::Relaxed);
        self.floor.store(terms.floor.0, Ordering::Relaxed);
        update(&self.fill, |fill| {
            let balance = rescale(fill >> LOW_BITS, before, terms.capacity);
            balance << LOW_BITS | fill & LOW
        });
    }
}

/// What `floor` adds from `filled` to `now`.
///
/// Stamps that follow one another differ in their low bits: where `now` would not, the next one is filled up to,
/// and what comes in during that unit is lost (less than a 4,096th of the floor, and never too much).
#[cfg_attr(target_pointer_width = "64", inline)]
fn refill(floor: Floor, filled: Stamp, now: Stamp) -> Refill {
    let distinct = |step: u32| Stamp(now.0.wrapping_add(u32::from(step & LOW == 0)));
    match now.since(filled) {
        Some(elapsed) => match floor.gain(filled.0, elapsed) {
            0 => Refill::Gain(0, filled),
            gain => Refill::Gain(gain, distinct(elapsed)),
        },
        None => match filled.0.wrapping_sub(now.0) {
            behind if behind <= BEHIND => Refill::Gain(0, filled),
            behind => Refill::SetBack(distinct(behind)),
        },
    }
}
