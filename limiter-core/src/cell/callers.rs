//! A count that halves in every period, by whoever touches it.
//!
//! ```text
//! 31..12 the highest bits of the count | 11..8 how many lower ones it has | 7..0 low bits of the period it is of
//! ```
//!
//! Transitions: add halves once for each period since, adds, and says the period, the later of the two; clear stores 0.
//! Where a count has lower bits it is rounded at random, so that sums of small weights are right too.
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
/// Bits of a count that are kept, and where they and those below them begin.
const KEPT: u32 = 20;
const HIGHEST: u32 = u32::BITS - KEPT;
const LOWER: u32 = 15;

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

fn count(word: u32) -> u32 {
    // As many lower bits as `packed` found: 12 at most.
    word >> HIGHEST << (word >> BITS & LOWER)
}

/// A count in its place of the word. `noise` is any number: which of the two next to a count takes its place.
fn packed(count: u32, noise: u32) -> u32 {
    let lower = |count: u32| (u32::BITS - KEPT).saturating_sub(count.leading_zeros());
    let unit = (1 << lower(count)) - 1;
    let count = count.saturating_add(noise & unit);
    let lower = lower(count);
    count >> lower << HIGHEST | lower << BITS
}

fn faded(word: u32, period: u32) -> u32 {
    count(word).checked_shr(age(word, period)).unwrap_or(0)
}

impl Fading {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self(AtomicU32::new(0))
        }
    }

    /// Adds; `noise` is another number each time, or nearly.
    pub(crate) fn add(&self, weight: u32, period: u32, noise: u32) {
        update(&self.0, |word| {
            let sum = faded(word, period).saturating_add(weight);
            let own = match count(word) {
                0 => period,
                _ => word.wrapping_add(age(word, period)),
            };
            packed(sum, noise) | own & PERIOD
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

#[cfg(all(test, not(limiter_loom)))]
mod tests {
    use super::*;
    use crate::law::backoff::mix;

    #[test]
    fn a_count_keeps_its_twenty_highest_bits_and_saturates() {
        for (sum, kept) in [
            (0, 0),
            (1 << 20, 1 << 20),
            ((1 << 20) - 1, (1 << 20) - 1),
            ((1 << 21) + 1, 1 << 21),
            (u32::MAX, u32::MAX << 12),
        ] {
            assert_eq!(count(packed(sum, 0)), kept, "{sum}");
        }
        for noise in [0, 1, 7, u32::MAX] {
            let cell = Fading::new();
            cell.add(u32::MAX, 3, noise);
            cell.add(u32::MAX, 3, noise);
            assert_eq!(
                (cell.read(3), cell.read(4)),
                (u32::MAX << 12, u32::MAX << 12 >> 1)
            );
        }
    }

    #[test]
    fn sums_of_small_weights_are_right_beyond_what_is_kept() {
        for weight in [1, 3, 1_000] {
            let (cell, adds) = (Fading::new(), 3 << 20);
            (0..adds).for_each(|nth| cell.add(weight, 0, mix(nth)));
            let sum = u64::from(adds) * u64::from(weight);
            let off = u64::from(cell.read(0)).abs_diff(sum);
            assert!(off * 1_000 < sum, "{off} of {sum}");
        }
    }
}
