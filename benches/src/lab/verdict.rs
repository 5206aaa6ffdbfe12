//! What is asked of a law in every model, and whether another one is better.

use super::judge::Row;
use super::model::Model;
use super::report::{Summary, summaries};

/// Goodput against the oracle's, and in noisy models.
const GOODPUT: (f64, f64) = (0.97, 0.95);
/// p99 against the oracle's, and in noisy models.
const P99: (f64, f64) = (1.3, 1.6);
/// Largest over smallest share among equal callers.
const SPREAD: f64 = 1.5;
/// A phase with less load than this may refuse almost nothing.
const CALM: f64 = 0.65;
/// What it may refuse.
const REFUSED: f64 = 0.005;
/// A law is better by this much goodput at an equal or better p99.
const BETTER: f64 = 0.02;

/// The figures that a law misses in `model`, by their medians over seeds. `rows` are the law's.
pub fn misses<'a>(
    model: &Model,
    summary: &Summary,
    rows: impl Iterator<Item = &'a Row>,
) -> Vec<&'static str> {
    let of = |targets: (f64, f64)| if model.noisy { targets.1 } else { targets.0 };
    let calm = |phase: &str| {
        let mut phases = model.phases.iter();
        phases.any(|one| one.name == phase && one.utilisation() < CALM)
    };
    let mut refused: Vec<f64> = rows
        .filter(|row| calm(&row.phase))
        .map(|row| row.refused_share)
        .collect();
    refused.sort_by(f64::total_cmp);
    let missed = [
        (
            "goodput",
            summary.goodput.is_some_and(|one| one.median < of(GOODPUT)),
        ),
        ("p99", summary.p99.is_some_and(|one| one.median > of(P99))),
        ("settle", summary.settle.is_some_and(|one| one.median > 1.0)),
        (
            "spread",
            summary.spread.is_some_and(|one| one.median > SPREAD),
        ),
        (
            "refused",
            refused
                .get(refused.len() / 2)
                .is_some_and(|&one| one >= REFUSED),
        ),
    ];
    missed
        .into_iter()
        .filter(|one| one.1)
        .map(|one| one.0)
        .collect()
}

/// Where another law beats the default one by more than 2 % of goodput at an equal or better p99 in some
/// phase, by the medians over seeds: a line for each.
pub fn beaten(models: &[Model], rows: &[Row]) -> Vec<String> {
    let mut lines = Vec::new();
    for model in models {
        for phase in &model.phases {
            let own = rows
                .iter()
                .filter(|row| row.model == model.name && row.phase == phase.name);
            let Some(default) = own.clone().find(|row| row.default) else {
                continue;
            };
            let all = summaries(own.clone());
            let Some(ours) = all.iter().find(|one| one.law == default.law) else {
                continue;
            };
            for other in &all {
                if better(other, ours) {
                    lines.push(line(model, &phase.name, other, ours));
                }
            }
        }
    }
    lines
}

fn better(other: &Summary, ours: &Summary) -> bool {
    let goodput = other.goodput.zip(ours.goodput);
    let p99 = other.p99.zip(ours.p99);
    goodput.is_some_and(|(theirs, ours)| theirs.median > ours.median + BETTER)
        && p99.is_some_and(|(theirs, ours)| theirs.median <= ours.median)
}

fn line(model: &Model, phase: &str, other: &Summary, ours: &Summary) -> String {
    let text = |one: &Summary| {
        let of = |spread: Option<super::report::Spread>| spread.map_or(0.0, |one| one.median);
        format!("goodput {:.3} p99 {:.2}", of(one.goodput), of(one.p99))
    };
    format!(
        "{} ({phase}): {} {} against {} {}",
        model.name,
        other.law,
        text(other),
        ours.law,
        text(ours)
    )
}

/// For each law its least share of the best goodput over all models, by the medians over seeds, and where.
pub fn least_goodput(models: &[Model], rows: &[Row]) -> Vec<String> {
    let mut least: Vec<(String, f64, &str)> = Vec::new();
    for model in models {
        let own = rows.iter().filter(|row| row.model == model.name);
        for one in summaries(own) {
            let Some(share) = one.goodput.map(|goodput| goodput.median) else {
                continue;
            };
            match least.iter_mut().find(|known| known.0 == one.law) {
                None => least.push((one.law, share, &model.name)),
                Some(known) if share < known.1 => *known = (one.law, share, &model.name),
                Some(_) => {}
            }
        }
    }
    let line = |(law, share, model)| format!("{law:<22} {share:.3} in {model}");
    least.into_iter().map(line).collect()
}
