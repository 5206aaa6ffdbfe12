//! Both modes side by side.

use crate::seconds::Seconds;
use crate::settings::{
    ATTEMPTS, BACKOFF, CALLERS, HEDGE, LOAD, Mode, Plan, SLOWER, TIMEOUT, WORK, WORKERS, rate,
};
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs::File;
use std::path::Path;

/// Within so much of what it was, goodput is what it was.
const BACK: f64 = 0.95;
/// And so long after the fault it has to be.
const PATIENCE: usize = 5;
/// Attempts for each request, at most, in any second.
const MOST: f64 = 1.2;

/// A mode's results.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    mode: &'static str,
    /// The worst second.
    attempts_per_request_max: f64,
    /// Seconds from the end of the fault until goodput is back for good; none if it never is.
    recover_s: Option<usize>,
    /// Goodput from five seconds after the fault on, as a share of that before it.
    goodput_share_after: f64,
    goodput_share_fault: f64,
    goodput_before: f64,
    #[serde(skip)]
    each: Vec<(f64, f64)>,
}

impl Row {
    pub(crate) fn new(mode: Mode, plan: &Plan, seconds: &Seconds) -> Self {
        let mean = |from: usize, to: usize| {
            (from..to).map(|second| seconds.good(second)).sum::<f64>() / (to - from) as f64
        };
        let before = mean(plan.warm_up, plan.fault_begins()).max(1.0);
        let judged = plan.warm_up..plan.all();
        let ends = plan.fault_ends();
        let last_bad = (ends..plan.all())
            .rev()
            .find(|second| seconds.good(*second) < BACK * before);
        let recover_s = match last_bad {
            None => Some(0),
            Some(last) if last + 1 < plan.all() => Some(last + 1 - ends),
            Some(_) => None,
        };
        Self {
            mode: mode.name(),
            attempts_per_request_max: judged
                .map(|second| seconds.attempts(second))
                .fold(0.0, f64::max),
            recover_s,
            goodput_share_after: mean(ends + PATIENCE, plan.all()) / before,
            goodput_share_fault: mean(plan.fault_begins(), ends) / before,
            goodput_before: before,
            each: (0..plan.all())
                .map(|second| (seconds.attempts(second), seconds.good(second) / before))
                .collect(),
        }
    }
}

pub(crate) fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("cannot write {}", path.display()))
}

pub(crate) fn write(path: &Path, file: File, rows: &[Row]) -> Result<()> {
    serde_json::to_writer_pretty(file, rows)
        .with_context(|| format!("cannot write {}", path.display()))
}

pub(crate) fn intro(plan: &Plan) {
    println!(
        "server: {WORKERS} at once, {} ms each, {:.0} requests/s; {SLOWER} times slower for {} s",
        WORK.as_millis(),
        rate() / LOAD,
        plan.fault,
    );
    println!(
        "callers: {CALLERS}, {:.0} requests/s together; {ATTEMPTS} attempts of {} ms, hedge after {} ms, \
         back-off {} ms to {} s",
        rate(),
        TIMEOUT.as_millis(),
        HEDGE.as_millis(),
        BACKOFF.0.as_millis(),
        BACKOFF.1.as_secs(),
    );
}

/// One line that is written over, for those who wait.
pub(crate) fn progress(mode: Mode, plan: &Plan, seconds: &Seconds, second: usize) {
    eprint!(
        "\r{:<10} second {:>2} of {}: {:>4.0} good ",
        mode.name(),
        second + 1,
        plan.all(),
        seconds.good(second),
    );
}

pub(crate) fn print(plan: &Plan, rows: &[Row]) {
    eprintln!();
    print!("\n{:>8} {:<8}", "second", "");
    for row in rows {
        print!(" | {:^27}", row.mode);
    }
    print!("\n{:>8} {:<8}", "", "");
    for _ in rows {
        print!(" | {:>16} {:>10}", "attempts/request", "goodput");
    }
    println!();
    for second in 0..plan.all() {
        print!("{:>8} {:<8}", second, phase(plan, second));
        for row in rows {
            let (attempts, good) = row.each.get(second).copied().unwrap_or_default();
            print!(" | {attempts:>16.2} {:>8.0} %", 100.0 * good);
        }
        println!();
    }
    println!();
    for row in rows {
        let recovered = match row.recover_s {
            Some(seconds) => format!("back after {seconds} s"),
            None => format!("not back after {} s", plan.after),
        };
        println!(
            "{:<10}: at most {:.2} attempts a request; goodput {:.0} % in the fault, {recovered}, {:.1} % from \
             {PATIENCE} s on",
            row.mode,
            row.attempts_per_request_max,
            100.0 * row.goodput_share_fault,
            100.0 * row.goodput_share_after,
        );
    }
    if let Some(row) = rows.iter().find(|row| row.mode == Mode::Dependency.name()) {
        let calm = row.attempts_per_request_max <= MOST;
        let back = row.recover_s.is_some_and(|seconds| seconds <= PATIENCE);
        println!(
            "target, at most {MOST} attempts a request in every second: {}",
            met(calm)
        );
        println!("target, back within {PATIENCE} s: {}", met(back));
    }
}

fn phase(plan: &Plan, second: usize) -> &'static str {
    if second < plan.warm_up {
        "warm-up"
    } else if second < plan.fault_begins() {
        "before"
    } else if second < plan.fault_ends() {
        "fault"
    } else {
        "after"
    }
}

const fn met(met: bool) -> &'static str {
    if met { "met" } else { "missed" }
}
