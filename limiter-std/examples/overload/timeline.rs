//! What the server and the callers saw over time.

use crate::children::Server;
use crate::plan::SLOW_DOWN_LOAD;
use crate::protect::ModeName;
use crate::wire::{Gauge, Slice};

/// Phases of one server, one after the other; other servers may have run in between.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) mode: ModeName,
    /// The slow-down at one load; otherwise the loads one after the other.
    pub(crate) slow_down: bool,
    pub(crate) phases: Vec<Seen>,
}

/// One phase: what the server said of itself and what the callers counted.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) name: String,
    pub(crate) from_ms: u64,
    pub(crate) to_ms: u64,
    pub(crate) gauges: Vec<Gauge>,
    pub(crate) slices: Vec<Slice>,
}

impl Timeline {
    pub(crate) fn new(mode: ModeName, slow_down: bool) -> Timeline {
        Timeline {
            mode,
            slow_down,
            phases: Vec::new(),
        }
    }

    pub(crate) fn title(&self) -> String {
        if self.slow_down {
            format!("at {SLOW_DOWN_LOAD} times the capacity, queries slower and quick again")
        } else {
            "the loads one after the other".into()
        }
    }

    /// Adds what was seen in a time; the slices may be of a longer one.
    pub(crate) fn add(
        &mut self,
        name: String,
        (from_ms, to_ms): (u64, u64),
        server: &Server,
        slices: &[Slice],
    ) {
        let within = |slice: &&Slice| (from_ms..to_ms).contains(&slice.at_ms);
        self.phases.push(Seen {
            name,
            from_ms,
            to_ms,
            gauges: server.gauges(from_ms, to_ms),
            slices: slices.iter().filter(within).cloned().collect(),
        });
    }
}

impl Seen {
    /// Requests answered in time per second, over the phase from its second second on.
    pub(crate) fn goodput(&self) -> f64 {
        let settled = || self.slices.iter().skip(2);
        let seconds: f64 = settled().map(|slice| slice.seconds).sum();
        let good: u64 = settled().map(|slice| slice.good).sum();
        if seconds > 0.0 {
            good as f64 / seconds
        } else {
            0.0
        }
    }

    /// Median of a value over the second half of the slices, when the phase has settled.
    pub(crate) fn late(&self, value: impl Fn(&Slice) -> f64) -> f64 {
        let late = self.slices.iter().skip(self.slices.len() / 2);
        median(late.map(value).collect())
    }

    /// Mean limit over the second half of the phase; none without a limit.
    pub(crate) fn late_limit(&self) -> Option<f64> {
        mean(self.gauges.iter().skip(self.gauges.len() / 2))
    }
}

/// Mean of the limit over some time; none without a limit.
pub(crate) fn mean<'a>(gauges: impl Iterator<Item = &'a Gauge>) -> Option<f64> {
    let limits: Vec<f64> = gauges
        .filter_map(|gauge| gauge.limit)
        .map(|limit| limit as f64)
        .collect();
    let sum: f64 = limits.iter().sum();
    (!limits.is_empty()).then(|| sum / limits.len() as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
