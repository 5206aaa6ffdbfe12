//! A law's run held against the oracle's: one row for each phase.

use super::arrivals::Arrivals;
use super::gate::Changes;
use super::laws::Contestant;
use super::measure::{Figures, figures, settled, spread};
use super::model::Model;
use super::oracle::Oracle;
use super::queue::{NEVER, SECOND};
use super::trace::Trace;
use super::world::Span;
use serde::Serialize;

/// How a law did in a phase of a model with a seed. The names are those of the JSON output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The model.
    pub model: String,
    /// The law.
    pub law: String,
    /// Whether it is the default law.
    pub default: bool,
    /// Whether this project ships it.
    pub ours: bool,
    /// The phase.
    pub phase: String,
    /// The seed.
    pub seed: u64,
    /// Goodput against the best fixed limit's, both once the law should have settled. Null where nothing
    /// can be attained.
    pub goodput_share: Option<f64>,
    /// p99 against that of the smallest fixed limit with 97 % of the best goodput; null as above, or when
    /// nothing ended.
    pub p99_ratio: Option<f64>,
    /// Seconds from the step that the phase begins with until the law had settled for good; the length of
    /// the phase if it never did; null without a step.
    pub settle_s: Option<f64>,
    /// How long that may take.
    pub settle_bound_s: Option<f64>,
    /// Whether it did settle; null without a step.
    pub settled: Option<bool>,
    /// The share of requests that the callers' limiters refused in the whole phase.
    pub refused_share: f64,
    /// The largest caller's goodput over the smallest's, among those that run the law; null for one caller.
    pub share_spread: Option<f64>,
    /// The mean goodput of callers that run something else over that of the others; null without any.
    pub stranger_share: Option<f64>,
    /// Changes of the limits in the phase; null for laws of others.
    pub changes: Option<u32>,
    /// Those whose reason says the opposite of what happened.
    pub contrary_changes: Option<u32>,
    /// Good answers per second.
    pub goodput: f64,
    /// Those of the oracle.
    pub oracle_goodput: f64,
    /// 99th percentile of what callers waited, in ms.
    pub p99_ms: Option<f64>,
    /// That of the oracle.
    pub oracle_p99_ms: Option<f64>,
    /// The fixed limit with the most goodput.
    pub oracle_best: u32,
    /// The smallest with 97 % of it.
    pub oracle_lean: u32,
}

/// A model with a seed: the arrivals, and the oracle that knows them.
#[derive(Debug)]
pub struct Court<'a> {
    model: &'a Model,
    seed: u64,
    arrivals: Arrivals,
    gauges_every: u64,
    /// The best that is possible.
    pub oracle: Oracle,
}

impl<'a> Court<'a> {
    /// Finds the oracle. Gauges are recorded so often, [`NEVER`] for not at all.
    pub fn open(model: &'a Model, seed: u64, gauges_every: u64) -> Self {
        let arrivals = Arrivals::new(seed, &model.stretches(), model.batch);
        let oracle = Oracle::find(model, &arrivals, gauges_every);
        Self {
            model,
            seed,
            arrivals,
            gauges_every,
            oracle,
        }
    }

    /// Runs `law` and judges it; the run is left in `trace`.
    pub fn judge(&self, law: &Contestant, trace: &mut Trace) -> Vec<Row> {
        let span = Span {
            gauges_every: self.gauges_every,
            ..Span::all(self.model)
        };
        law.run(self.model, self.seed, &self.arrivals, span, trace);
        (0..self.model.phases.len())
            .map(|index| self.row(law, index, trace))
            .collect()
    }

    fn row(&self, law: &Contestant, index: usize, trace: &Trace) -> Row {
        let phase = &self.model.phases[index];
        let (start, end) = (self.model.start_of(index), self.model.start_of(index + 1));
        let bound = phase.bound(self.oracle.round_trip(self.model, index));
        // A phase that is shorter than the bound is judged by its last tenth.
        let from = start + bound.min((end - start) * 9 / 10);
        let own = figures(trace, from, end);
        let best = figures(&self.oracle.best_run, from, end);
        let lean = figures(&self.oracle.lean_run, from, end);
        let settle = (phase.step && !phase.silent).then(|| {
            let (best, lean) = (&self.oracle.best_run, &self.oracle.lean_run);
            settled(trace, best, lean, start, end)
        });
        let asked = trace.asked.get(index).copied().unwrap_or_default();
        let changes = changes(trace, index);
        let judged = !phase.silent && best.goodput > 0.0;
        let ms = |figures: &Figures| figures.p99.map(|us| f64::from(us) / 1e3);
        let ratio = |(own, lean): (u32, u32)| f64::from(own) / f64::from(lean.max(1));
        let settle_s = settle.map(|time| time.unwrap_or(end - start) as f64 / SECOND as f64);
        Row {
            model: self.model.name.clone(),
            law: law.name.clone(),
            default: law.default,
            ours: law.ours,
            phase: phase.name.clone(),
            seed: self.seed,
            goodput_share: judged.then(|| own.goodput / best.goodput),
            p99_ratio: own.p99.zip(lean.p99).filter(|_| judged).map(ratio),
            settle_s,
            settle_bound_s: settle.map(|_| bound as f64 / SECOND as f64),
            settled: settle.map(|time| time.is_some()),
            refused_share: asked.refused as f64 / asked.arrived.max(1) as f64,
            share_spread: self.share_spread(index, trace),
            stranger_share: self.stranger_share(from, end, trace),
            changes: changes.map(|changes| changes.all),
            contrary_changes: changes.map(|changes| changes.contrary),
            goodput: own.goodput,
            oracle_goodput: best.goodput,
            p99_ms: ms(&own),
            oracle_p99_ms: ms(&lean),
            oracle_best: self.oracle.best[index],
            oracle_lean: self.oracle.lean[index],
        }
    }

    /// Over the last two thirds of a phase, and not before everybody has been there for a minute.
    fn share_spread(&self, index: usize, trace: &Trace) -> Option<f64> {
        let callers = &self.model.callers;
        let first = callers.strangers.map_or(0, |(count, _)| count);
        let (start, end) = (self.model.start_of(index), self.model.start_of(index + 1));
        let joined = callers.late.map_or(0, |(_, at)| super::queue::seconds(at));
        let from = (start + (end - start) / 3).max(joined + 60 * SECOND);
        let many = callers.count - first > 1 && from < end && !self.model.phases[index].silent;
        many.then(|| spread(trace, from, end, first as usize..callers.count as usize))
            .flatten()
    }

    fn stranger_share(&self, from: u64, to: u64, trace: &Trace) -> Option<f64> {
        let (strangers, _) = self.model.callers.strangers?;
        let (mut theirs, mut ours) = (0_u32, 0_u32);
        for ended in trace.between(from, to) {
            let good = u32::from(ended.end == super::trace::End::Good);
            if u32::from(ended.caller) < strangers {
                theirs += good;
            } else {
                ours += good;
            }
        }
        let others = self.model.callers.count - strangers;
        let mean = |sum: u32, count: u32| f64::from(sum) / f64::from(count.max(1));
        Some(mean(theirs, strangers) / mean(ours, others).max(f64::MIN_POSITIVE))
    }
}

/// The changes of limits in phase `index`.
fn changes(trace: &Trace, index: usize) -> Option<Changes> {
    let until = |index: usize| trace.changes.get(index).copied().flatten();
    let now = until(index)?;
    let before = index.checked_sub(1).and_then(until).unwrap_or_default();
    Some(Changes {
        all: now.all - before.all,
        contrary: now.contrary - before.contrary,
    })
}

/// How often gauges are recorded for a plot of `points` across a model.
pub fn gauges_every(model: &Model, points: u64) -> u64 {
    model.end().checked_div(points).unwrap_or(NEVER).max(1)
}
