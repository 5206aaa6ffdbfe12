//! A count that halves in every period, by whoever touches it.
//!
//! ```text
//! 31..12 count, saturating | 11..0 low bits of the period it is of
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

const PERIOD: u32 = (1 << 12) - 1;
const MOST: u32 = u32::MAX >> 12;

#[derive(Debug)]
pub(crate) struct Fading(AtomicU32);

/// A period by so many before another is that of a thread which read its clock earlier and came later: not one of
/// a turn of the word later, in which everything would have faded.
const LATE: u32 = 64;

/// How many periods after the word's own this one is.
fn age(word: u32, period: u32) -> u32 {
    let age = period.wrapping_sub(word) & PERIOD;
    if age > PERIOD - LATE { 0 } else { age }
}

fn faded(word: u32, period: u32) -> u32 {
    (word >> 12).checked_shr(age(word, period)).unwrap_or(0)
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
            let own = match word >> 12 {
                0 => period,
                _ => word.wrapping_add(age(word, period)),
            };
            count << 12 | own & PERIOD
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

    /// Moves it on to `to`, and not back to that of a thread which came late; whether this call did.
    pub(crate) fn turn(&self, to: u32) -> bool {
        let seen = self.get();
        seen.wrapping_sub(to) > LATE && exchange(&self.0, seen, to)
    }
}
