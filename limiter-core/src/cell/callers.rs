//! A count that halves in every period, by whoever touches it.
//!
//! ```text
//! 31..8 count, saturating | 7..0 low bits of the period it is of
//! ```
//!
//! Transitions: add halves once for each period since, adds, and says the period, the later of the two; clear stores 0.
//!
//! ```text
//! op    | success | failure | pairs with | why
//! add   | Relaxed | Relaxed | -          | a count: atomicity is all it needs
//! read  | Relaxed | -       | -          | a picture
//! clear | Relaxed | -       | -          | what is added beside it may be lost, or stay: one count
//! turn  | Relaxed | Relaxed | -          | picks one of those who see a new period; it publishes nothing
//! ```

use super::sync::{AtomicU32, Ordering, const_unless_loom};
use super::word::{exchange, update};

/// Bits of the period: four times as many periods as a table keeps its counts for.
const BITS: u32 = 8;
const PERIOD: u32 = (1 << BITS) - 1;
/// Where counts saturate.
pub(crate) const MOST: u32 = u32::MAX >> BITS;

#[derive(Debug)]
pub(crate) struct Fading(AtomicU32);

/// A period by so many before another is that of a thread which read its clock earlier and came later: not one of
/// a turn of the word later, in which everything would have faded.
const LATE: u32 = 64;
/// Periods in which every count has halved more often than it has bits.
const FORGOTTEN: u32 = 64;

/// How many periods after the word's own this one is.
fn age(word: u32, period: u32) -> u32 {
    let age = period.wrapping_sub(word) & PERIOD;
    if age > PERIOD - LATE { 0 } else { age }
}

fn faded(word: u32, period: u32) -> u32 {
    (word >> BITS).checked_shr(age(word, period)).unwrap_or(0)
}

impl Fading {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self(AtomicU32::new(0))
        }
    }

    pub(crate) fn add(&self, weight: u32, period: u32) {
        update(&self.0, |word| {
            let count = faded(word, period).saturating_add(weight).min(MOST);
            let own = match word >> BITS {
                0 => period,
                _ => word.wrapping_add(age(word, period)),
            };
            count << BITS | own & PERIOD
        });
    }

    pub(crate) fn read(&self, period: u32) -> u32 {
        faded(self.0.load(Ordering::Relaxed), period)
    }

    pub(crate) fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// A number that is the same for all until one of them moves it on.
#[derive(Debug)]
pub(crate) struct Shared(AtomicU32);

impl Shared {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self(AtomicU32::new(0))
        }
    }

    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, value: u32) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Whether counts of the period that it says mean something in this one: not after a silence in which all
    /// faded, nor by a clock that was set back.
    pub(crate) fn reaches(&self, period: u32) -> bool {
        let seen = self.get();
        period.wrapping_sub(seen) <= FORGOTTEN || seen.wrapping_sub(period) <= LATE
    }

    /// Moves it on to `to`, and not back to that of a thread which came late; from which one, if this call did.
    pub(crate) fn turn(&self, to: u32) -> Option<u32> {
        let seen = self.get();
        let ahead = seen.wrapping_sub(to) > LATE;
        (ahead && exchange(&self.0, seen, to)).then_some(seen)
    }
}
