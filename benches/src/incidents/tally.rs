//! What a run leaves behind: counts by second.

use crate::lab::queue::{MILLI, SECOND};

/// Counts of one fleet, by second.
#[derive(Clone, Debug, Default)]
pub struct FleetTally {
    /// Requests that began.
    pub begun: Vec<u32>,
    /// Those answered well and in time, by the second of the answer.
    pub good: Vec<u32>,
    /// The same by the second in which they began.
    pub kept: Vec<u32>,
    /// Those that cannot succeed, of `begun`.
    pub hopeless: Vec<u32>,
    /// How long requests lasted that were not served, in ms.
    pub failed_ms: Vec<u32>,
    /// Requests that were refused: here, by a tier, or because a budget was spent.
    pub refused: u32,
}

/// Counts of a run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By fleet.
    pub fleets: Vec<FleetTally>,
    /// Requests that need the watched station, by the second in which they began.
    pub needs: Vec<u32>,
    /// Attempts at it, by the second in which their request began.
    pub attempts: Vec<u32>,
    /// Attempts at it, by the second in which they arrived.
    pub arrived: Vec<u32>,
    /// Work that was begun for nobody: its caller had given up.
    pub wasted: u32,
    /// Work that was begun.
    pub worked: u32,
    /// How long attempts took that a tier refused, in µs.
    pub refusal_us: Vec<u32>,
}

/// The second of a time.
pub(super) const fn second(at: u64) -> usize {
    (at / SECOND) as usize
}

/// The milliseconds of a length of time.
pub(super) fn in_millis(length: u64) -> u32 {
    u32::try_from(length / MILLI).unwrap_or(u32::MAX)
}

/// Adds one to a second.
pub(super) fn count(seconds: &mut Vec<u32>, at: u64) {
    let index = second(at);
    if seconds.len() <= index {
        seconds.resize(index + 1, 0);
    }
    seconds[index] += 1;
}

/// A count, 0 where there is none.
pub fn at(seconds: &[u32], index: usize) -> f64 {
    seconds.get(index).copied().map_or(0.0, f64::from)
}

/// The sum over `from..to`.
pub fn sum(seconds: &[u32], from: usize, to: usize) -> f64 {
    (from..to).map(|index| at(seconds, index)).sum()
}
