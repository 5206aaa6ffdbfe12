//! The best a fixed limit can do, phase by phase, on the random numbers that the laws meet.

use super::arrivals::Arrivals;
use super::gate::Planned;
use super::measure::figures;
use super::model::Model;
use super::queue::seconds;
use super::trace::Trace;
use super::world::{Span, run};

/// The share of the best goodput that the lean limit reaches.
const LEAN: f64 = 0.97;
/// The share of the most goodput that counts as the most: fewer requests in flight are better.
const SAME: f64 = 0.998;
/// A gain of less is none.
const FLAT: f64 = 1.005;
/// A limit is tried for so long, and for so many arrivals, if the phase is as long.
const SECONDS: f64 = 24.0;
/// The other half of it.
const ARRIVALS: f64 = 40_000.0;
/// No limit above this is tried for one caller.
const MOST: u32 = 4_096;

/// The best limits of each phase, and runs that switch to them at the moment a phase begins.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    /// The limit with the most goodput, summed over callers.
    pub best: Vec<u32>,
    /// The smallest limit that reaches 97 % of it.
    pub lean: Vec<u32>,
    /// The run with the best limits: what goodput is judged by.
    pub best_run: Trace,
    /// The run with the lean limits: what latency is judged by.
    pub lean_run: Trace,
}

impl Oracle {
    /// Sweeps every phase of `model` on its own, unless an earlier one was like it, then runs the whole of it
    /// with what was found.
    pub fn find(model: &Model, arrivals: &Arrivals, gauges_every: u64) -> Self {
        let mut oracle = Self::default();
        let mut scratch = Trace::default();
        let least = model.callers.count;
        for index in 0..model.phases.len() {
            let phase = &model.phases[index];
            let known = model.phases[..index]
                .iter()
                .position(|one| phase.is_like(one));
            // When nothing can be attained, the limits of the phase before are as good as any.
            let known = known.or(phase.silent.then(|| index.saturating_sub(1)));
            let known = known.and_then(|at| Some((*oracle.best.get(at)?, *oracle.lean.get(at)?)));
            let (best, lean) = known.unwrap_or_else(|| {
                sweep(least, phase.slots, |limit| {
                    goodput(model, arrivals, index, limit, &mut scratch)
                })
            });
            oracle.best.push(best);
            oracle.lean.push(lean);
        }
        let span = Span {
            gauges_every,
            ..Span::all(model)
        };
        for (limits, trace) in [
            (&oracle.best, &mut oracle.best_run),
            (&oracle.lean, &mut oracle.lean_run),
        ] {
            let gates = gates(model, limits);
            run(model, arrivals, gates.into_iter(), span, trace);
        }
        oracle
    }

    /// The mean time a caller of the lean run waits in phase `index`, in ns.
    pub fn round_trip(&self, model: &Model, index: usize) -> u64 {
        let (from, to) = (model.start_of(index), model.start_of(index + 1));
        figures(&self.lean_run, from, to).mean
    }
}

/// Gates for the callers that share each phase's limit evenly.
fn gates(model: &Model, limits: &[u32]) -> Vec<Planned> {
    let count = model.callers.count;
    let share = |caller: u32, limit: u32| limit / count + u32::from(caller < limit % count);
    (0..count)
        .map(|caller| {
            let plan = limits.iter().enumerate();
            Planned::new(
                plan.map(|(index, &limit)| (model.start_of(index + 1), share(caller, limit)))
                    .collect(),
            )
        })
        .collect()
}

/// The goodput of a phase under a limit, once its queue is what it will be.
fn goodput(model: &Model, arrivals: &Arrivals, index: usize, limit: u32, trace: &mut Trace) -> f64 {
    let (from, end) = (model.start_of(index), model.start_of(index + 1));
    let phase = &model.phases[index];
    let to = if phase.step {
        let enough = (ARRIVALS / phase.rate).max(SECONDS);
        end.min(from + seconds(enough))
    } else {
        end
    };
    let limits = vec![limit; model.phases.len()];
    let span = Span {
        from,
        to,
        ..Span::all(model)
    };
    let gates = gates(model, &limits);
    run(model, arrivals, gates.into_iter(), span, trace);
    let skipped = if phase.step { (to - from) / 4 } else { 0 };
    figures(trace, from + skipped, to).goodput
}

/// The smallest limit tried with the most goodput, and the smallest of all with 97 % of it, both at least
/// `least`.
///
/// Doubles from a quarter of `slots` until two doublings have not helped, looks around the top where it
/// is a peak, halves until too little is left, and closes in on the smallest. Exact up to limits of 64,
/// within 1.6 % above.
pub fn sweep(least: u32, slots: u32, goodput: impl FnMut(u32) -> f64) -> (u32, u32) {
    let mut tried = Tried {
        goodput,
        found: Vec::new(),
    };
    let first = (slots / 4).max(least);
    let mut most = tried.of(first);
    let mut limit = first;
    let mut in_vain = 0;
    while in_vain < 2 && limit < MOST.saturating_mul(least) {
        limit *= 2;
        let found = tried.of(limit);
        in_vain = if found > most * FLAT { 0 } else { in_vain + 1 };
        most = most.max(found);
    }
    let top = tried.best();
    let below = tried.of((top / 2).max(least));
    if below * FLAT < most || tried.of(top * 2) * FLAT < most {
        for eighths in [5, 6, 7, 9, 10, 12] {
            tried.of((top * eighths / 8).max(least));
        }
    }
    let best = tried.best();
    let enough = LEAN * tried.most();
    let mut high = best;
    let mut low = first.min(best);
    while tried.of(low) >= enough && low > least {
        high = low;
        low = (low / 2).max(least);
    }
    if tried.of(low) >= enough {
        return (best, low);
    }
    while high - low > (high / 64).max(1) {
        let middle = low + (high - low) / 2;
        if tried.of(middle) >= enough {
            high = middle;
        } else {
            low = middle;
        }
    }
    (best, high)
}

/// Goodput that was found, so that no limit is run twice.
struct Tried<F> {
    goodput: F,
    found: Vec<(u32, f64)>,
}

impl<F: FnMut(u32) -> f64> Tried<F> {
    fn of(&mut self, limit: u32) -> f64 {
        if let Some(one) = self.found.iter().find(|one| one.0 == limit) {
            return one.1;
        }
        let goodput = (self.goodput)(limit);
        self.found.push((limit, goodput));
        goodput
    }

    fn most(&self) -> f64 {
        self.found.iter().fold(0.0, |most, one| most.max(one.1))
    }

    /// The smallest with the most, within noise.
    fn best(&self) -> u32 {
        let enough = SAME * self.most();
        let good = self.found.iter().filter(|one| one.1 >= enough);
        good.map(|one| one.0).min().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_of_a_known_curve_finds_its_top_and_the_smallest_limit_near_it() {
        // Rises to 100 at 40 and falls to nothing at 120.
        let curve = |limit: u32| {
            let limit = f64::from(limit);
            (limit * 2.5).min((120.0 - limit) * 1.25).max(0.0)
        };
        for slots in [1, 16, 40, 200] {
            let (best, lean) = sweep(1, slots, curve);
            assert!((36..=45).contains(&best), "{slots}: {best}");
            assert!(f64::from(lean) * 2.5 >= 0.97 * curve(best));
            assert!(f64::from(lean - 1) * 2.5 < 0.97 * curve(best));
        }
        assert_eq!(
            sweep(300, 200, |limit| f64::from(limit.min(200))),
            (300, 300)
        );
    }
}
