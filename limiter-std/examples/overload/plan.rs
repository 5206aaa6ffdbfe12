//! What is offered, and for how long.

use crate::protect::ModeName;
use crate::wire::Slowness;
use std::time::Duration;

/// A run's loads and times.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Fixed limits among which the best is looked for.
    pub(crate) limits: &'static [usize],
    pub(crate) sweep: Times,
    /// How often each of them is tried.
    pub(crate) rounds: u32,
    /// The best fixed limit once more, longer: its goodput is the capacity.
    pub(crate) capacity: Times,
    /// Multiples of the capacity.
    pub(crate) loads: &'static [f64],
    /// The first step of a load, and that of the loads that nobody is overloaded by.
    pub(crate) step: Times,
    pub(crate) calm: Times,
    /// Of what nothing protects, when it is overloaded: until its backlog is older than its callers' patience.
    pub(crate) collapse: Times,
    /// Where all are overloaded the protected modes take turns after it, so often and so long: they are
    /// compared with one another, on a machine whose speed changes within seconds.
    pub(crate) turns: u32,
    pub(crate) turn: Times,
    /// What is done to the queries at twice the capacity, one after the other.
    pub(crate) slow_down: &'static [Phase],
}

/// A load's time: offered but not measured, then measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) warm_up: Duration,
    pub(crate) measure: Duration,
}

/// A part of the slow-down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phase {
    pub(crate) name: &'static str,
    pub(crate) slowness: Slowness,
    pub(crate) lasts: Duration,
}

/// The load, in multiples of one query after the other, under which the fixed limits compete.
pub(crate) const SWEEP_LOAD: f64 = 4.0;
/// The load of the slow-down, times the capacity.
pub(crate) const SLOW_DOWN_LOAD: f64 = 2.0;

const fn times(warm_up_ms: u64, measure_ms: u64) -> Times {
    Times {
        warm_up: Duration::from_millis(warm_up_ms),
        measure: Duration::from_millis(measure_ms),
    }
}

const fn phase(name: &'static str, slowness: Slowness, seconds: u64) -> Phase {
    Phase {
        name,
        slowness,
        lasts: Duration::from_secs(seconds),
    }
}

const FULL: Plan = Plan {
    limits: &[1, 2, 3, 4, 6, 8, 12, 16],
    sweep: times(400, 1_400),
    rounds: 2,
    capacity: times(1_000, 6_000),
    loads: &[0.5, 1.0, 2.0, 4.0, 10.0],
    step: times(3_000, 4_000),
    calm: times(3_000, 4_000),
    collapse: times(3_000, 4_000),
    turns: 4,
    turn: times(500, 2_000),
    slow_down: &[
        phase("quick", Slowness::Quick, 6),
        phase("three times the work", Slowness::Work, 12),
        phase("quick again", Slowness::Quick, 8),
        phase("three times the time, by waiting", Slowness::Wait, 12),
        phase("quick again", Slowness::Quick, 8),
    ],
};

const QUICK: Plan = Plan {
    limits: &[1, 2, 3, 4],
    sweep: times(300, 700),
    rounds: 2,
    capacity: times(300, 2_000),
    loads: &[0.5, 4.0, 10.0],
    step: times(2_000, 1_000),
    calm: times(1_000, 1_000),
    collapse: times(3_500, 1_000),
    turns: 3,
    turn: times(300, 1_000),
    slow_down: &[],
};

impl Plan {
    /// How long a load lasts in a turn.
    pub(crate) fn times(&self, mode: ModeName, load: f64, turn: u32) -> Times {
        match (turn, mode) {
            (1.., _) => self.turn,
            _ if load <= 1.0 => self.calm,
            (_, ModeName::None) => self.collapse,
            _ => self.step,
        }
    }

    pub(crate) fn new(quick: bool) -> &'static Plan {
        if quick { &QUICK } else { &FULL }
    }
}
