//! What a run leaves behind.

use super::gate::Changes;

/// How a request ended, as its caller saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Answered within the deadline: goodput.
    Good,
    /// The caller gave up.
    GaveUp,
    /// The server refused it or failed it.
    Refused,
}

/// One request that was let in and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When, in ns.
    pub at: u64,
    /// How long the caller waited, in µs.
    pub latency: u32,
    /// Whose it was.
    pub caller: u16,
    /// How.
    pub end: End,
}

/// What callers asked for in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Requests that arrived.
    pub arrived: u64,
    /// Those that the callers' own limiters refused.
    pub refused: u64,
}

/// The gauges at one moment, summed over callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gauges {
    /// When, in ns.
    pub at: u64,
    /// The limits.
    pub limit: u32,
    /// Requests that hold a place.
    pub inflight: u32,
    /// Worked on or waiting at the server, given up or not.
    pub load: u32,
}

/// A run's record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Every request that was let in and ended, in order.
    pub ended: Vec<Ended>,
    /// Per phase.
    pub asked: Vec<Asked>,
    /// Gauges at even steps, if they were asked for.
    pub gauges: Vec<Gauges>,
    /// Changes of limits from the start until each phase ended, summed over callers that tell.
    pub changes: Vec<Option<Changes>>,
}

impl Trace {
    /// Forgets everything but its memory.
    pub fn clear(&mut self) {
        self.ended.clear();
        self.asked.clear();
        self.gauges.clear();
        self.changes.clear();
    }

    /// The requests that ended in `[from, to)`.
    pub fn between(&self, from: u64, to: u64) -> &[Ended] {
        let first = self.ended.partition_point(|ended| ended.at < from);
        let last = self.ended.partition_point(|ended| ended.at < to);
        &self.ended[first..last.max(first)]
    }
}
