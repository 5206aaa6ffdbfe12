//! Where in its model a run is: the phase of the moment, and when the server changes next.

use super::model::{Model, Phase};
use super::queue::{MILLI, NEVER, seconds};
use super::server::Condition;

/// How often a server that changes evenly is changed.
const MOVE: u64 = 100 * MILLI;

/// The phase of the moment.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    model: &'a Model,
    index: usize,
    start: u64,
    end: u64,
    next_change: u64,
}

impl<'a> Stage<'a> {
    /// The stage at `now`, which is the start of a phase.
    pub fn at(model: &'a Model, now: u64) -> Self {
        let (index, end) = model.phase_at(now);
        let mut stage = Self {
            model,
            index,
            start: now,
            end,
            next_change: NEVER,
        };
        stage.plan(now);
        stage
    }

    /// The number of the phase.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The phase.
    pub fn phase(&self) -> &'a Phase {
        &self.model.phases[self.index]
    }

    /// When the phase ends.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// When the server changes next, [`NEVER`] if it does not.
    pub fn next_change(&self) -> u64 {
        self.next_change
    }

    /// Moves on to `now`, the time of a change, and says what the server is like from then on.
    pub fn change(&mut self, now: u64) -> Condition {
        if now >= self.end && self.index + 1 < self.model.phases.len() {
            self.index += 1;
            self.start = self.end;
            self.end += seconds(self.phase().seconds);
        }
        let length = (self.end - self.start).max(1) as f64;
        let passed = (now - self.start) as f64 / length;
        self.plan(now);
        self.phase().condition(passed.min(1.0))
    }

    fn plan(&mut self, now: u64) {
        self.next_change = if self.phase().moves() {
            self.end.min(now + MOVE)
        } else {
            self.end
        };
        if self.next_change <= now {
            self.next_change = NEVER;
        }
    }
}
