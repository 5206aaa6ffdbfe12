//! The open window: sums that finishing permits add to and the gate's holder takes, and when it closes.
//!
//! ```text
//! successes, overloads    counts, saturating; successes are those that were timed
//! early                   successes in the part that is skipped: they count for the share of overloads only
//! rtt_sum, other_sum      ages in time units, times what each stands for: of successes; of everything else
//! rtt_min                 smallest RTT of a success, MAX when there is none
//! usual                   mean RTT of the last window that had enough successes, 0 before
//! opened                  when the window opened
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
//! add             | Relaxed | Relaxed | -          | sums: atomicity is all that conservation needs
//! take            | Relaxed | -       | -          | likewise, each word by one swap
//! open, reopen    | Relaxed | -       | Gate       | written by the gate's holder only; a finishing permit that
//!                 |         |         |            | reads a mix of old and new sees the window due too early
//!                 |         |         |            | or too late: the holder looks again
//! ```

use super::sampling::Unseen;
use super::sync::{AtomicU32, AtomicWord, Ordering, Word, const_unless_loom};
use crate::law::math;
use crate::time::{LONGEST, elapsed};

/// When the open window collects and closes, in time units from its opening.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) settle: Word,
    pub(crate) length: Word,
    pub(crate) need: u32,
}

/// Where a time lies in the open window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// The clock stepped back behind the opening, by more than threads differ.
    Before,
    /// In the part that is skipped.
    Settling,
    /// Collecting, before the earliest close.
    Midway,
    /// Collecting, so many units after the earliest close.
    Late(Word),
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
    /// Those that were timed.
    pub(crate) successes: u32,
    /// Successes that those stand for beside themselves.
    pub(crate) stood_for: u32,
    pub(crate) given_up: u32,
    pub(crate) overloads: u32,
    pub(crate) early: u32,
    pub(crate) rtt_sum: Word,
    pub(crate) other_sum: Word,
    pub(crate) rtt_min: Word,
}

impl Sums {
    /// All successes: those that were timed, and those that they stand for.
    pub(crate) fn all(&self) -> u32 {
        self.successes.saturating_add(self.stood_for)
    }

    /// Mean RTT of the successes in time units, 0 without any.
    pub(crate) fn mean(&self) -> Word {
        mean(self.rtt_sum, self.all())
    }
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
    opened: AtomicWord,
    settle: AtomicWord,
    length: AtomicWord,
    need: AtomicU32,
    unseen: Unseen,
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
                opened: AtomicWord::new(0),
                settle: AtomicWord::new(first.settle),
                length: AtomicWord::new(first.length),
                need: AtomicU32::new(first.need),
                unseen: Unseen::new(),
            }
        }
    }

    /// Adds a success that stands for `1 << shift`, and returns how full the window is now.
    #[cfg_attr(target_has_atomic = "32", inline)]
    #[cfg_attr(not(target_has_atomic = "32"), inline(never))]
    pub(crate) fn add_success(&self, rtt: Word, shift: u32) -> Fill {
        if rtt < self.rtt_min.load(Ordering::Relaxed) {
            self.rtt_min.fetch_min(rtt, Ordering::Relaxed);
        }
        let brimming = add(&self.rtt_sum, times(rtt, shift)) > BRIM;
        self.unseen.add(shift);
        Fill {
            successes: count(&self.successes),
            brimming,
        }
    }

    /// Adds a success in the part that is skipped, which stands for `1 << shift`.
    #[inline]
    pub(crate) fn add_early(&self, shift: u32) {
        count_by(&self.early, 1 << (shift & 31));
    }

    /// Successes so far, with those that timed ones stand for.
    fn all(&self) -> u32 {
        let timed = self.successes.load(Ordering::Relaxed);
        timed.saturating_add(self.unseen.stood_for())
    }

    /// The same, and those in the part that is skipped.
    pub(crate) fn well(&self) -> u32 {
        self.all()
            .saturating_add(self.early.load(Ordering::Relaxed))
    }

    /// Adds a permit that was given up, and returns how many there are now.
    pub(crate) fn give_up(&self) -> u32 {
        self.unseen.give_up()
    }

    /// Adds an overload that counts for a cut, and returns how many there are now.
    pub(crate) fn add_overload(&self) -> u32 {
        count(&self.overloads)
    }

    /// Adds the age of a permit that ended otherwise than by a success and stands for `1 << shift`, and
    /// returns how full the window is.
    pub(crate) fn add_other(&self, age: Word, shift: u32) -> Fill {
        let brimming = add(&self.other_sum, times(age, shift)) > BRIM;
        Fill {
            successes: self.successes.load(Ordering::Relaxed),
            brimming,
        }
    }

    pub(crate) fn overloads(&self) -> u32 {
        self.overloads.load(Ordering::Relaxed)
    }

    /// The usual RTT in time units, 0 while none is known.
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
        // Above the brim is the highest bit.
        let sums = self.rtt_sum.load(Ordering::Relaxed) | self.other_sum.load(Ordering::Relaxed);
        Fill {
            successes: self.successes.load(Ordering::Relaxed),
            brimming: sums > BRIM,
        }
    }

    /// Mean RTT of the successes so far in time units, 0 without any.
    pub(crate) fn mean(&self) -> Word {
        mean(self.rtt_sum.load(Ordering::Relaxed), self.all())
    }

    /// Where `now` lies. Up to `slack` units before the opening count as the opening itself: a thread may
    /// have read its clock, and been stopped, before another opened the window.
    #[inline]
    pub(crate) fn position(&self, now: Word, slack: Word) -> Position {
        let opened = self.opened.load(Ordering::Relaxed);
        let open_for = match elapsed(opened, now) {
            Some(open_for) => open_for,
            None if opened.wrapping_sub(now) <= slack => 0,
            None => return Position::Before,
        };
        let settle = self.settle.load(Ordering::Relaxed);
        // What ends in the last moment of it may have started before the opening.
        if open_for <= settle && settle != 0 {
            return Position::Settling;
        }
        let length = self.length.load(Ordering::Relaxed);
        match (open_for - settle).checked_sub(length) {
            None => Position::Midway,
            Some(past) => Position::Late(past),
        }
    }

    /// Whether `now` is [midway](Position::Midway), in few steps, for most permits end there.
    #[inline]
    pub(crate) fn is_midway(&self, now: Word) -> bool {
        let opened = self.opened.load(Ordering::Relaxed);
        let settle = self.settle.load(Ordering::Relaxed);
        // Outside of it, and behind the opening, this is 0 or as long as half of the range.
        let past = now.wrapping_sub(opened).wrapping_sub(settle);
        past != 0 && past < self.length.load(Ordering::Relaxed)
    }

    /// Units since the opening, 0 when the clock stepped back.
    pub(crate) fn open_for(&self, now: Word) -> Word {
        elapsed(self.opened.load(Ordering::Relaxed), now).unwrap_or(0)
    }

    /// Units the open window has collected for, at most [`LONGEST`].
    pub(crate) fn collected(&self, now: Word) -> Word {
        let settle = self.settle.load(Ordering::Relaxed);
        self.open_for(now).saturating_sub(settle).min(LONGEST)
    }

    /// Takes the sums and starts new ones. For the gate's holder only.
    pub(crate) fn take(&self) -> Sums {
        let (stood_for, given_up) = self.unseen.take();
        Sums {
            stood_for,
            given_up,
            successes: self.successes.swap(0, Ordering::Relaxed),
            overloads: self.overloads.swap(0, Ordering::Relaxed),
            early: self.early.swap(0, Ordering::Relaxed),
            rtt_sum: self.rtt_sum.swap(0, Ordering::Relaxed),
            other_sum: self.other_sum.swap(0, Ordering::Relaxed),
            rtt_min: self.rtt_min.swap(Word::MAX, Ordering::Relaxed),
        }
    }

    /// Forgets the overloads of the open window: they belong to the cut that was just made. For the gate's
    /// holder only.
    pub(crate) fn forget_overloads(&self) {
        self.overloads.store(0, Ordering::Relaxed);
    }

    /// Opens the next window. For the gate's holder only.
    pub(crate) fn open(&self, now: Word, next: Schedule) {
        self.settle.store(next.settle, Ordering::Relaxed);
        self.length.store(next.length, Ordering::Relaxed);
        self.need.store(next.need, Ordering::Relaxed);
        self.reopen(now);
    }

    /// Moves the opening to `now`, after the clock stepped back. For the gate's holder only.
    pub(crate) fn reopen(&self, now: Word) {
        self.opened.store(now, Ordering::Relaxed);
    }
}

/// Above this a sum may soon saturate, and a mean taken later would be too small.
const BRIM: Word = Word::MAX / 2;

/// Adds one, saturating, and returns the count after.
#[inline]
pub(super) fn count(counter: &AtomicU32) -> u32 {
    count_by(counter, 1)
}

/// Adds `by`, saturating, and returns the count after.
#[inline]
pub(super) fn count_by(counter: &AtomicU32, by: u32) -> u32 {
    let before = counter.fetch_add(by, Ordering::Relaxed);
    before.checked_add(by).unwrap_or_else(|| {
        counter.store(u32::MAX, Ordering::Relaxed);
        u32::MAX
    })
}

/// `n / d`, 0 for `d` 0.
pub(crate) fn quotient(n: Word, d: Word) -> Word {
    if Word::BITS == 64 {
        n.checked_div(d).unwrap_or(0)
    } else {
        #[allow(clippy::unnecessary_cast, reason = "a 64-bit word elsewhere")]
        Word::from(math::quotient(n as u32, d as u32))
    }
}

fn mean(sum: Word, count: u32) -> Word {
    quotient(sum, Word::from(count))
}

/// What a time stands for, saturating.
#[inline]
fn times(units: Word, shift: u32) -> Word {
    units.saturating_mul(1 << (shift & 31))
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
