//! What a limiter looks like at one moment.

use crate::law::Reason;
use crate::time::Ticks;

/// Whether less than an eighth of the limit is left, or nothing.
#[inline]
pub(crate) const fn nearly_full(inflight: u32, limit: u32) -> bool {
    let left = limit.saturating_sub(inflight);
    left == 0 || left < limit.div_ceil(8)
}

/// A limiter's gauges. Taking one has no side effect; its numbers are read one after the other, so under
/// load they may be from slightly different instants (`limit`, `inflight`, `waiting`, `closed` are from one).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Snapshot {
    /// The limit in force, 0 when closed.
    pub limit: u32,
    /// Slots taken.
    pub inflight: u32,
    /// Slots that are guaranteed to partitions and not in use, where those are told apart from slots taken: neither
    /// in flight nor free for others.
    pub idle: u32,
    /// The largest number in flight since the open window began.
    pub inflight_peak: u32,
    /// Whether someone waits for a slot.
    pub waiting: bool,
    /// Whether the limiter was closed.
    pub closed: bool,
    /// The smallest limit allowed.
    pub min: u32,
    /// The largest limit allowed.
    pub max: u32,
    /// What the last decision was.
    pub reason: Reason,
    /// How often the limit was cut for overloads; wraps at 65,536.
    pub cuts: u16,
    /// Mean RTT of the last window with enough samples, 0 before.
    pub usual_rtt: Ticks,
    /// Successes in the open window.
    pub window_successes: u32,
    /// Overloads in the open window.
    pub window_overloads: u32,
}

impl Snapshot {
    /// Whether less than an eighth is left of what may be used.
    pub const fn is_nearly_full(&self) -> bool {
        !self.is_unused() && nearly_full(self.inflight, self.usable())
    }

    /// Inflight against what may be used, the limit without what is idle, per mille: the gauge that saturates first,
    /// fit for an autoscaler. It is 1,000 where the next request of whoever has no guarantee left is refused, above
    /// that after the limit shrank below what is in flight, 0 while nothing is, and 1,000 when closed.
    pub const fn utilisation(&self) -> u32 {
        if self.is_unused() {
            return 0;
        }
        match (self.inflight as u64 * 1000).checked_div(self.usable() as u64) {
            Some(share) if share < u32::MAX as u64 => share as u32,
            Some(_) => u32::MAX,
            None => 1000,
        }
    }

    /// Also where all of the limit is guaranteed to partitions.
    const fn is_unused(&self) -> bool {
        self.inflight == 0 && self.limit != 0
    }

    const fn usable(&self) -> u32 {
        self.limit.saturating_sub(self.idle)
    }
}

#[cfg(test)]
mod tests {
    use super::nearly_full;

    #[test]
    fn less_than_an_eighth_is_left_from_seven_eighths_on_and_where_nothing_is() {
        let from = |limit| (0..=limit).find(|inflight| nearly_full(*inflight, limit));
        for (limit, first) in [
            (0, 0),
            (1, 1),
            (2, 2),
            (8, 8),
            (9, 8),
            (10, 9),
            (20, 18),
            (1_000, 876),
        ] {
            assert_eq!(from(limit), Some(first), "{limit}");
        }
        assert!(nearly_full(u32::MAX, 1) && nearly_full(u32::MAX, u32::MAX));
    }
}
