//! What is booked for partitions together, as whoever holds their gate left it: one word for each number.
//!
//! ```text
//! adopted  the limit that the quotas were made for, 0 before
//! reserved quotas together, owed: booked and not granted yet
//! held     partitions up to the last that has a quota, lends: whether any may be lent
//! ```
//!
//! Transitions: set and describe replace them, each by itself: who reads two may have one of before.
//!
//! ```text
//! op            | success | failure | pairs with | why
//! set, describe | Relaxed | -       | -          | by the holder alone; what admissions go by is in the words that they change
//! reads         | Relaxed | -       | -          | one that is not of the limit as it is now sends an admission to look closer
//! ```

use super::sync::{AtomicU32, Ordering, const_unless_loom};

/// What is booked for the partitions together, as the holder of their gate left it.
#[derive(Debug)]
pub(crate) struct Books {
    /// The limit that the quotas were made for, 0 before.
    adopted: AtomicU32,
    /// Partitions up to the last that has a quota.
    held: AtomicU32,
    /// 1 when any partition may be lent.
    lends: AtomicU32,
    /// Quotas together.
    reserved: AtomicU32,
    /// Booked and not granted yet.
    owed: AtomicU32,
}

impl Books {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                adopted: AtomicU32::new(0),
                held: AtomicU32::new(0),
                lends: AtomicU32::new(0),
                reserved: AtomicU32::new(0),
                owed: AtomicU32::new(0),
            }
        }
    }

    #[inline]
    pub(crate) fn adopted(&self) -> u32 {
        self.adopted.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn reserved(&self) -> u32 {
        self.reserved.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn owed(&self) -> u32 {
        self.owed.load(Ordering::Relaxed)
    }

    /// How many partitions there are up to the last that has a quota.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed) as usize
    }

    /// Whether any partition may be lent.
    #[inline]
    pub(crate) fn lends(&self) -> bool {
        self.lends.load(Ordering::Relaxed) != 0
    }

    /// What refusals go by.
    pub(crate) fn describe(&self, held: usize, lends: bool) {
        self.held.store(held as u32, Ordering::Relaxed);
        self.lends.store(lends.into(), Ordering::Relaxed);
    }

    pub(crate) fn set(&self, adopted: u32, reserved: u32, owed: u32) {
        self.reserved.store(reserved, Ordering::Relaxed);
        self.owed.store(owed, Ordering::Relaxed);
        self.adopted.store(adopted, Ordering::Relaxed);
    }
}
