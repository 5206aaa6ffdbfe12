//! The open window: sums that finishing permits add to and the gate's holder takes, and when it closes.
//!
//! ```text
//! successes, overloads    counts, saturating
//! early                   successes in the part that is skipped: they count for the share of overloads only
//! rtt_sum, other_sum      ages in RTT units: of successes; of everything else. Saturating
//! rtt_min                 smallest RTT of a success, MAX when there is none
//! peak                    largest inflight seen by an acquire
//! usual                   mean RTT of the last window that had enough successes, 0 before
//! opened                  stamp at which the window opened
//! settle, length, need    units after `opened` that are skipped; then units and samples it must have
//! ```
//!
//! Each word is exact: what a permit adds to it is in exactly one window. The words are not one snapshot: a
//! permit that finishes while the window closes may have its RTT in one window and its count in the next, at
//! most one permit for each thread that finishes in that instant. So a mean over n successes may be off by
//! one n-th of such an RTT; laws judge by no fewer than `min_samples`.
//!
//! ```text
//! op              | success | failure | pairs with | why
//! add, raise_peak | Relaxed | Relaxed | -          | sums and gauges: atomicity is all that conservation needs
//! take            | Relaxed | -       | -          | likewise, each word by one swap
//! open, reopen    | Relaxed | -       | Gate       | written by the gate's holder only; a finishing permit that
//!                 |         |         |            | reads a mix of old and new sees the window due too early
//!                 |         |         |            | or too late: the holder looks again
//! ```

use super::sync::{AtomicU32, AtomicWord, Ordering, Word, const_unless_loom};
use crate::time::Stamp;

/// When the open window collects and closes, in stamp units from its opening.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) settle: u32,
    pub(crate) length: u32,
    pub(crate) need: u32,
}

/// Where a stamp lies in the open window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// The clock stepped back behind the opening, by more than threads differ.
    Before,
    /// In the part that is skipped.
    Settling,
    /// Collecting, `past` units after the earliest close when that is reached.
    Collecting { past: Option<u32> },
}

/// How full the open window is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub(crate) successes: u32,
    /// A sum may soon saturate.
    pub(crate) brimming: bool,
}

/// The sums of a window that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) successes: u32,
    pub(crate) overloads: u32,
    pub(crate) early: u32,
    pub(crate) rtt_sum: Word,
    pub(crate) other_sum: Word,
    pub(crate) rtt_min: Word,
    pub(crate) peak: u32,
}

/// Sums and schedule of the open window.
#[derive(Debug)]
pub(crate) struct OpenWindow {
    successes: AtomicU32,
    overloads: AtomicU32,
    early: AtomicU32,
    rtt_sum: AtomicWord,
    other_sum: AtomicWord,
    rtt_min: AtomicWord,
    usual: AtomicWord,
    peak: AtomicU32,
    opened: AtomicU32,
    settle: AtomicU32,
    length: AtomicU32,
    need: AtomicU32,
}

impl OpenWindow {
    const_unless_loom! {
        pub(crate) fn new(first: Schedule) -> Self {
            Self {
                successes: AtomicU32::new(0),
                overloads: AtomicU32::new(0),
                early: AtomicU32::new(0),
                rtt_sum: AtomicWord::new(0),
                other_sum: AtomicWord::new(0),
                rtt_min: AtomicWord::new(Word::MAX),
                usual: AtomicWord::new(0),
                peak: AtomicU32::new(0),
                opened: AtomicU32::new(0),
                settle: AtomicU32::new(first.settle),
                length: AtomicU32::new(first.length),
                need: AtomicU32::new(first.need),
            }
        }
    }

    /// Adds a success and returns how full the window is now.
    #[inline]
    pub(crate) fn add_success(&self, rtt: Word) -> Fill {
        if rtt < self.rtt_min.load(Ordering::Relaxed) {
            self.rtt_min.fetch_min(rtt, Ordering::Relaxed);
        }
        let brimming = add(&self.rtt_sum, rtt) > BRIM;
        Fill {
            successes: count(&self.successes),
            brimming,
        }
    }

    /// Adds a success in the part that is skipped.
    #[inline]
    pub(crate) fn add_early(&self) {
        count(&self.early);
    }

    pub(crate) fn early(&self) -> u32 {
        self.early.load(Ordering::Relaxed)
    }

    /// Adds an overload that counts for a cut, and returns how many there are now.
    pub(crate) fn add_overload(&self) -> u32 {
        count(&self.overloads)
    }

    /// Adds the age of a permit that ended otherwise than by a success, and returns how full the window is.
    pub(crate) fn add_other(&self, age: Word) -> Fill {
        let brimming = add(&self.other_sum, age) > BRIM;
        Fill {
            successes: self.successes.load(Ordering::Relaxed),
            brimming,
        }
    }

    #[inline]
    pub(crate) fn raise_peak(&self, inflight: u32) {
        if inflight > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(inflight, Ordering::Relaxed);
        }
    }

    pub(crate) fn peak(&self) -> u32 {
        self.peak.load(Ordering::Relaxed)
    }

    pub(crate) fn overloads(&self) -> u32 {
        self.overloads.load(Ordering::Relaxed)
    }

    /// The usual RTT in RTT units, 0 while none is known.
    pub(crate) fn usual(&self) -> Word {
        self.usual.load(Ordering::Relaxed)
    }

    pub(crate) fn set_usual(&self, rtt: Word) {
        self.usual.store(rtt, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn need(&self) -> u32 {
        self.need.load(Ordering::Relaxed)
    }

    /// How full the window is.
    pub(crate) fn fill(&self) -> Fill {
        let sums = [&self.rtt_sum, &self.other_sum];
        Fill {
            successes: self.successes.load(Ordering::Relaxed),
            brimming: sums.iter().any(|sum| sum.load(Ordering::Relaxed) > BRIM),
        }
    }

    /// Mean RTT of the successes so far in RTT units, 0 without any.
    pub(crate) fn mean(&self) -> Word {
        let successes = Word::from(self.successes.load(Ordering::Relaxed));
        let sum = self.rtt_sum.load(Ordering::Relaxed);
        sum.checked_div(successes).unwrap_or(0)
    }

    /// Where `now` lies. Up to `slack` units before the opening count as the opening itself: a thread may
    /// have read its clock, and been stopped, before another opened the window.
    #[inline]
    pub(crate) fn position(&self, now: Stamp, slack: u32) -> Position {
        let opened = Stamp(self.opened.load(Ordering::Relaxed));
        let elapsed = match now.since(opened) {
            Some(elapsed) => elapsed,
            None if opened.0.wrapping_sub(now.0) <= slack => 0,
            None => return Position::Before,
        };
        let settle = self.settle.load(Ordering::Relaxed);
        if elapsed < settle {
            return Position::Settling;
        }
        let length = self.length.load(Ordering::Relaxed);
        Position::Collecting {
            past: (elapsed - settle).checked_sub(length),
        }
    }

    /// Units since the opening, 0 when the clock stepped back.
    pub(crate) fn open_for(&self, now: Stamp) -> u32 {
        let opened = Stamp(self.opened.load(Ordering::Relaxed));
        now.since(opened).unwrap_or(0)
    }

    /// Units the open window has collected for, at most a quarter of the range.
    pub(crate) fn collected(&self, now: Stamp) -> u32 {
        let settle = self.settle.load(Ordering::Relaxed);
        self.open_for(now)
            .saturating_sub(settle)
            .min(Stamp::MAX_UNITS)
    }

    /// Takes the sums and starts new ones. For the gate's holder only.
    pub(crate) fn take(&self, inflight: u32) -> Sums {
        Sums {
            successes: self.successes.swap(0, Ordering::Relaxed),
            overloads: self.overloads.swap(0, Ordering::Relaxed),
            early: self.early.swap(0, Ordering::Relaxed),
            rtt_sum: self.rtt_sum.swap(0, Ordering::Relaxed),
            other_sum: self.other_sum.swap(0, Ordering::Relaxed),
            rtt_min: self.rtt_min.swap(Word::MAX, Ordering::Relaxed),
            peak: self.peak.swap(inflight, Ordering::Relaxed),
        }
    }

    /// Forgets the overloads of the open window: they belong to the cut that was just made. For the gate's
    /// holder only.
    pub(crate) fn forget_overloads(&self) {
        self.overloads.store(0, Ordering::Relaxed);
    }

    /// Opens the next window. For the gate's holder only.
    pub(crate) fn open(&self, now: Stamp, next: Schedule) {
        self.settle.store(next.settle, Ordering::Relaxed);
        self.length.store(next.length, Ordering::Relaxed);
        self.need.store(next.need, Ordering::Relaxed);
        self.reopen(now);
    }

    /// Moves the opening to `now`, after the clock stepped back. For the gate's holder only.
    pub(crate) fn reopen(&self, now: Stamp) {
        self.opened.store(now.0, Ordering::Relaxed);
    }
}

/// Above this a sum may soon saturate, and a mean taken later would be too small.
const BRIM: Word = Word::MAX / 2;

/// Adds one, saturating, and returns the count after.
#[inline]
fn count(counter: &AtomicU32) -> u32 {
    let before = counter.fetch_add(1, Ordering::Relaxed);
    if before == u32::MAX {
        counter.store(u32::MAX, Ordering::Relaxed);
    }
    before.saturating_add(1)
}

/// Adds, saturating, and returns the sum before: one that overflowed would look like a small one.
fn add(sum: &AtomicWord, value: Word) -> Word {
    let mut before = sum.load(Ordering::Relaxed);
    loop {
        let after = before.saturating_add(value);
        match sum.compare_exchange_weak(before, after, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return before,
            Err(current) => before = current,
        }
    }
}
