//! Laws of others, as their authors ship them: what people run today.
//!
//! They are written in floating point from the definitions, one file each, with none of the care that
//! this project takes: decisions per sample, errors that are samples, baselines that anything may poison.

pub mod aimd;
pub mod congestion;
pub mod drain;
pub mod gradient2;
pub mod vegas;
pub mod window;

use super::gate::Gate;
use limiter_core::Outcome;

/// One request that ended.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// When it was let in, in ns.
    pub started: u64,
    /// When it ended, in ns.
    pub now: u64,
    /// How long it took, in ns.
    pub rtt: f64,
    /// How many were in flight when it was let in, itself included.
    pub inflight: u32,
    /// It was refused or timed out.
    pub dropped: bool,
}

/// A rule that sees every sample.
pub trait Rule {
    /// The limit in force.
    fn limit(&self) -> f64;
    /// Takes a sample.
    fn sample(&mut self, sample: Sample);
}

/// A rule as a limiter: `inflight < floor(limit)` lets in.
#[derive(Debug)]
pub struct Classic<R> {
    rule: R,
    inflight: u32,
}

impl<R: Rule> Classic<R> {
    /// A limiter that follows `rule`.
    pub fn new(rule: R) -> Self {
        Self { rule, inflight: 0 }
    }
}

/// When a request was let in and how many were in flight then.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    started: u64,
    inflight: u32,
}

impl<R: Rule> Gate for Classic<R> {
    type Token = Held;

    fn admit(&mut self, now: u64) -> Option<Held> {
        if self.inflight >= self.limit() {
            return None;
        }
        self.inflight += 1;
        Some(Held {
            started: now,
            inflight: self.inflight,
        })
    }

    fn settle(&mut self, held: Held, outcome: Outcome, now: u64) {
        self.inflight -= 1;
        let dropped = match outcome {
            Outcome::Success => false,
            Outcome::Overload => true,
            // Neither has a meaning in these definitions.
            _ => return,
        };
        self.rule.sample(Sample {
            started: held.started,
            now,
            rtt: (now - held.started).max(1) as f64,
            inflight: held.inflight,
            dropped,
        });
    }

    fn limit(&self) -> u32 {
        self.rule.limit() as u32
    }

    fn inflight(&self) -> u32 {
        self.inflight
    }
}
