//! The shares of the classes, and the highest class that waits, in one word: what is read together was set
//! together.
//!
//! ```text
//! 31..30 highest class that waits | 29..20 interactive | 19..10 batch | 9..0 best effort; per mille
//! ```
//!
//! Transitions: set replaces the shares, wait_from replaces the class, which is the highest until somebody says
//! another: then newcomers stay behind whoever waits.
//!
//! ```text
//! op               | success | failure | pairs with | why
//! set, wait_from   | Relaxed | Relaxed | -          | one beside the other: neither loses what the other wrote
//! share, waits     | Relaxed | -       | -          | advisory: an admission beside a change goes by either
//! ```

use super::sync::{AtomicU32, Ordering, const_unless_loom};
use super::word::update;
use crate::law::shares::{Priority, Shares, WHOLE};

const BITS: u32 = 10;
const MASK: u32 = (1 << BITS) - 1;
const CLASS_SHIFT: u32 = 3 * BITS;

const fn pack(shares: Shares) -> u32 {
    (shares.interactive as u32) << (2 * BITS)
        | (shares.batch as u32) << BITS
        | shares.best_effort as u32
}

/// Shares and the highest class that waits.
#[derive(Debug)]
pub(crate) struct ClassShares(AtomicU32);

impl ClassShares {
    const_unless_loom! {
        pub(crate) fn new(shares: Shares) -> Self {
            Self(AtomicU32::new((Priority::Critical as u32) << CLASS_SHIFT | pack(shares)))
        }
    }

    /// The share of a class, per mille.
    #[inline]
    pub(crate) fn share(&self, priority: Priority) -> u32 {
        let word = self.0.load(Ordering::Relaxed);
        match priority {
            Priority::Critical => WHOLE,
            below => word >> (below as u32 * BITS) & MASK,
        }
    }

    /// The highest class that waits, when anybody does.
    pub(crate) fn waits(&self) -> Priority {
        Priority::from_code(self.0.load(Ordering::Relaxed) >> CLASS_SHIFT)
    }

    pub(crate) fn shares(&self) -> Shares {
        let word = self.0.load(Ordering::Relaxed);
        Shares {
            interactive: (word >> (2 * BITS) & MASK) as u16,
            batch: (word >> BITS & MASK) as u16,
            best_effort: (word & MASK) as u16,
        }
    }

    pub(crate) fn set(&self, shares: Shares) {
        update(&self.0, |word| {
            word >> CLASS_SHIFT << CLASS_SHIFT | pack(shares)
        });
    }

    /// Says which class the first of those who wait is of.
    pub(crate) fn wait_from(&self, priority: Priority) {
        let class = (priority as u32) << CLASS_SHIFT;
        update(&self.0, |word| word & !(!0 << CLASS_SHIFT) | class);
    }
}
