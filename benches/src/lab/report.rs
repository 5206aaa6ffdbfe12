//! The table: each law of a model with its worst phase, as median and worst over seeds.

use super::judge::Row;
use std::fmt::Write;

/// Median and worst of a figure over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The middle one; of two the worse.
    pub median: f64,
    /// The worst.
    pub worst: f64,
}

/// What is worse of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worse {
    Less,
    More,
}

/// How a law did in a model, or in one phase of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The law.
    pub law: String,
    /// Share of the best goodput.
    pub goodput: Option<Spread>,
    /// p99 against the oracle's.
    pub p99: Option<Spread>,
    /// Time to settle over what is allowed.
    pub settle: Option<Spread>,
    /// In some phase with some seed it never settled.
    pub unsettled: bool,
    /// Largest over smallest share.
    pub spread: Option<Spread>,
    /// Share refused.
    pub refused: Option<Spread>,
    /// Strangers' share over the others'.
    pub strangers: Option<Spread>,
}

/// Summaries of the rows of one model, by law in their order.
pub fn summaries<'a>(rows: impl Iterator<Item = &'a Row> + Clone) -> Vec<Summary> {
    let mut laws: Vec<&str> = Vec::new();
    for row in rows.clone() {
        if !laws.contains(&row.law.as_str()) {
            laws.push(&row.law);
        }
    }
    laws.into_iter()
        .map(|law| {
            let own = rows.clone().filter(move |row| row.law == law);
            let over = |worse, figure: fn(&Row) -> Option<f64>| spread(own.clone(), worse, figure);
            Summary {
                law: law.to_owned(),
                goodput: over(Worse::Less, |row| row.goodput_share),
                // Where something could be attained and nothing ended, latency has no bound.
                p99: over(Worse::More, |row| {
                    row.p99_ratio.or(row.goodput_share.map(|_| f64::INFINITY))
                }),
                settle: over(Worse::More, |row| {
                    Some(row.settle_s? / row.settle_bound_s?.max(f64::MIN_POSITIVE))
                }),
                unsettled: own.clone().any(|row| row.settled == Some(false)),
                spread: over(Worse::More, |row| row.share_spread),
                refused: over(Worse::More, |row| Some(row.refused_share)),
                strangers: over(Worse::More, |row| row.stranger_share),
            }
        })
        .collect()
}

/// Per seed the worst phase, then the median and the worst seed.
fn spread<'a>(
    rows: impl Iterator<Item = &'a Row>,
    worse: Worse,
    figure: fn(&Row) -> Option<f64>,
) -> Option<Spread> {
    let mut seeds: Vec<(u64, f64)> = Vec::new();
    for row in rows {
        let Some(value) = figure(row) else { continue };
        match seeds.iter_mut().find(|seed| seed.0 == row.seed) {
            None => seeds.push((row.seed, value)),
            Some(seed) => {
                seed.1 = match worse {
                    Worse::Less => seed.1.min(value),
                    Worse::More => seed.1.max(value),
                }
            }
        }
    }
    // From worst to best.
    seeds.sort_by(|a, b| match worse {
        Worse::Less => a.1.total_cmp(&b.1),
        Worse::More => b.1.total_cmp(&a.1),
    });
    let worst = seeds.first()?.1;
    let median = seeds[(seeds.len() - 1) / 2].1;
    Some(Spread { median, worst })
}

/// The lines of a table of summaries. `remarks` stand at the end of each line.
pub fn table(summaries: &[Summary], remarks: impl Fn(&Summary) -> String) -> String {
    let mut out = String::new();
    let many = summaries.iter().any(|one| one.spread.is_some());
    let strange = summaries.iter().any(|one| one.strangers.is_some());
    let mut line = |cells: &[String]| {
        for (index, cell) in cells.iter().enumerate() {
            // Writing into a string cannot fail.
            let _ = match index {
                0 => write!(out, "  {cell:<22}"),
                _ if index + 1 == cells.len() => write!(out, "  {cell}"),
                _ => write!(out, " {cell:>15}"),
            };
        }
        out.push('\n');
    };
    let head = ["law", "goodput", "p99", "settling", "refused %"]
        .into_iter()
        .chain(many.then_some("share spread"))
        .chain(strange.then_some("strangers"))
        .chain(["misses"]);
    line(&head.map(str::to_owned).collect::<Vec<_>>());
    for one in summaries {
        let mut cells = vec![
            one.law.clone(),
            cell(one.goodput, 3, 1.0),
            cell(one.p99, 2, 1.0),
            cell(one.settle, 2, 1.0) + if one.unsettled { "!" } else { "" },
            cell(one.refused, 2, 100.0),
        ];
        cells.extend(many.then(|| cell(one.spread, 2, 1.0)));
        cells.extend(strange.then(|| cell(one.strangers, 2, 1.0)));
        cells.push(remarks(one));
        line(&cells);
    }
    out
}

fn cell(spread: Option<Spread>, digits: usize, unit: f64) -> String {
    match spread {
        None => String::from("-"),
        Some(Spread { median, worst }) => {
            format!("{:.digits$} / {:.digits$}", median * unit, worst * unit)
        }
    }
}
