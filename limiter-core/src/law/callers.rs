//! Whether a caller has had more than its share, from decayed counts in hashed cells.
//!
//! The share is what was admitted over the number of cells in use: of callers, while there are fewer of them than
//! cells, and else of equal groups of callers. A caller is in one cell of each row, and has had at most what is
//! in the emptiest of them (the count-min sketch of Cormode and Muthukrishnan, 2005).

use super::math::{isqrt, quotient_up};

/// What there is to judge by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Census {
    /// Slots in all, decayed, and requests that they were for.
    pub(crate) total: u32,
    pub(crate) requests: u32,
    /// Cells in use of one row, and the logarithm of all there are.
    pub(crate) used: u32,
    pub(crate) log_cells: u32,
}

impl Census {
    /// Whether `count` is beyond a share by more than chance and collisions explain: an eighth, three standard
    /// deviations of a sum of requests that have the usual weight (its root, and that of the weight), and as much as callers that fall into one cell in all rows may have
    /// together, which grows with the part of the cells in use.
    pub(crate) fn is_beyond(&self, count: u32) -> bool {
        let Some(share) = self.total.checked_div(self.used) else {
            return false;
        };
        // A product of a count and a part of it, which is below 2⁵⁶.
        let crowded = (u64::from(share) * u64::from(self.used) * 4) >> self.log_cells;
        let weight = quotient_up(self.total, self.requests.max(1));
        let chance = u64::from(3 * (isqrt(share) + 1)) * u64::from(isqrt(weight.max(1) - 1) + 1);
        u64::from(count) > u64::from(share) + u64::from(share / 8) + chance + crowded
    }
}
