//! Calls that wait to try again, and what the next first attempt has to heed.
//!
//! ```text
//! 31 OWED | 30 FRESH | 29 STRESSED | 15..0 calls waiting in back-off
//! ```
//!
//! `OWED`: an attempt was not settled before the last reset, and the next first attempt pays for it.
//! `FRESH`: nothing was sent since a restore, and the first call waits for a random time.
//! `STRESSED`: the throttle had something to refuse when a request was counted last.
//!
//! Transitions: enter adds 1 below a bound; leave subtracts 1, by whoever entered, once; mark sets bits; take
//! clears one; note sets or clears one as it finds things to be.
//!
//! ```text
//! op           | success | failure | pairs with | why
//! enter, leave | Relaxed | Relaxed | -          | counts: atomicity is all they need
//! mark, take   | Relaxed | -       | -          | whoever finds the bit has it, once: one word, one order
//! note         | Relaxed | -       | -          | the next one that is counted notes it again
//! read         | Relaxed | -       | -          | a picture
//! ```

use super::sync::{AtomicU32, Ordering, const_unless_loom};
use super::word::exchange;

pub(crate) const OWED: u32 = 1 << 31;
pub(crate) const FRESH: u32 = 1 << 30;
pub(crate) const STRESSED: u32 = 1 << 29;
const WAITING: u32 = 0xffff;

#[derive(Debug)]
pub(crate) struct Backlog(AtomicU32);

impl Backlog {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self(AtomicU32::new(0))
        }
    }

    /// Takes a place, when fewer than `bound` are taken. Whoever gets one leaves it once.
    pub(crate) fn enter(&self, bound: u16) -> bool {
        loop {
            let word = self.0.load(Ordering::Relaxed);
            if word & WAITING >= u32::from(bound) {
                return false;
            }
            if exchange(&self.0, word, word + 1) {
                return true;
            }
        }
    }

    pub(crate) fn leave(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn waiting(&self) -> u32 {
        self.0.load(Ordering::Relaxed) & WAITING
    }

    /// The bits that are set.
    #[inline]
    pub(crate) fn marks(&self) -> u32 {
        self.0.load(Ordering::Relaxed) & !WAITING
    }

    #[inline]
    pub(crate) fn is(&self, bit: u32) -> bool {
        self.marks() & bit != 0
    }

    /// Sets the bit, or clears it; stores nothing when it is so.
    pub(crate) fn note(&self, bit: u32, set: bool) {
        if set {
            if !self.is(bit) {
                self.mark(bit);
            }
        } else {
            self.take(bit);
        }
    }

    pub(crate) fn mark(&self, bits: u32) {
        self.0.fetch_or(bits, Ordering::Relaxed);
    }

    /// Clears the bit; whether it was set.
    #[inline]
    pub(crate) fn take(&self, bit: u32) -> bool {
        self.is(bit) && self.0.fetch_and(!bit, Ordering::Relaxed) & bit != 0
    }
}
