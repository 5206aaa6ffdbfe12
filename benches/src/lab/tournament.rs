//! Every law through every model with every seed, on all processors.

use super::judge::{Court, Row, gauges_every};
use super::laws::Contestant;
use super::model::Model;
use super::queue::NEVER;
use super::trace::Trace;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Points of a plot.
const POINTS: u64 = 600;

/// What is drawn of a run: the law's, and the oracle's beside it.
pub type Draw<'a> = dyn Fn(&Model, &Contestant, &Court<'_>, &Trace) + Sync + 'a;

/// The rows of all runs, by model, seed, law and phase in the given order. `draw` sees the runs with the
/// first seed, with gauges.
pub fn run(
    models: &[Model],
    laws: &[Contestant],
    seeds: &[u64],
    draw: Option<&Draw<'_>>,
) -> Vec<Row> {
    let mut jobs: Vec<(usize, usize)> = (0..models.len())
        .flat_map(|model| (0..seeds.len()).map(move |seed| (model, seed)))
        .collect();
    // The longest first, or the last one runs alone.
    let cost = |model: &Model| -> f64 {
        let phases = model.phases.iter();
        phases.map(|phase| phase.rate * phase.seconds).sum()
    };
    jobs.sort_by(|a, b| cost(&models[b.0]).total_cmp(&cost(&models[a.0])));
    let done = Mutex::new(vec![Vec::new(); models.len() * seeds.len()]);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut trace = Trace::default();
        while let Some(&(model, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let draw = draw.filter(|_| seed == 0);
            let rows = one(&models[model], laws, seeds[seed], draw, &mut trace);
            if let Ok(mut done) = done.lock() {
                done[model * seeds.len() + seed] = rows;
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(work);
        }
    });
    let done = done.into_inner().unwrap_or_default();
    done.into_iter().flatten().collect()
}

fn one(
    model: &Model,
    laws: &[Contestant],
    seed: u64,
    draw: Option<&Draw<'_>>,
    trace: &mut Trace,
) -> Vec<Row> {
    let every = draw.map_or(NEVER, |_| gauges_every(model, POINTS));
    let court = Court::open(model, seed, every);
    let mut rows = Vec::new();
    for law in laws {
        rows.extend(court.judge(law, trace));
        if let Some(draw) = draw {
            draw(model, law, &court, trace);
        }
    }
    rows
}
