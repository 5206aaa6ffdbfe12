//! What the numbers say: the limiter against its targets, and whether the run can be trusted.

use crate::protect::ModeName;
use crate::row::Row;
use std::fmt::Write as _;

/// Goodput under overload, as a share of the capacity.
const GOODPUT: f64 = 0.90;
/// p99 under overload, times the p99 at half load.
const P99: f64 = 4.0;
/// Goodput that may be missing against the fixed limit set by hand.
const WORSE: f64 = 0.03;

/// One line per claim, then the doubts.
pub(crate) fn verdicts(rows: &[Row]) -> String {
    let find = |mode, load: f64| rows.iter().find(|row| row.mode == mode && row.load == load);
    let mut text = String::from("\n");
    for load in [4.0, 10.0] {
        let half = find(ModeName::Limiter, 0.5);
        if let Some((row, half)) = find(ModeName::Limiter, load).zip(half) {
            let p99 = row.p99_ms / half.p99_ms.max(0.1);
            let _ = writeln!(
                text,
                "limiter at {load} x: {:.2} of the capacity (target {GOODPUT}: {}), p99 {p99:.1} \
                 times that at half load (target {P99}: {})",
                row.goodput_share,
                met(row.goodput_share >= GOODPUT),
                met(p99 <= P99),
            );
            if let Some(fixed) = find(ModeName::Fixed, load) {
                let ratio = row.goodput_per_s / fixed.goodput_per_s.max(0.1);
                let _ = writeln!(
                    text,
                    "limiter at {load} x: {ratio:.3} of the goodput of the fixed limit set by \
                     hand (target {:.2}: {})",
                    1.0 - WORSE,
                    met(ratio >= 1.0 - WORSE),
                );
            }
        }
        let half = find(ModeName::None, 0.5);
        if let Some((row, half)) = find(ModeName::None, load).zip(half) {
            let share = row.goodput_share;
            let _ = write!(text, "unprotected at {load} x: {share:.2} of the capacity");
            let p99 = row.p99_ms / half.p99_ms.max(0.1);
            let _ = match row.goodput_per_s > 0.0 {
                true => writeln!(text, ", p99 {p99:.1} times that at half load"),
                false => writeln!(text, ", no request answered in time"),
            };
        }
    }
    leads(rows, &mut text);
    for row in rows {
        doubts(row, &mut text);
    }
    text
}

/// How long before the first error that a caller saw the limiter told that its queue builds.
fn leads(rows: &[Row], text: &mut String) {
    let told = rows.iter().filter_map(|row| {
        let lead = row.queue_building_lead_ms?;
        let when = if lead < 0.0 { "after" } else { "before" };
        let (lead, unit) = match lead.abs() {
            lead if lead < 1e3 => (lead, "ms"),
            lead => (lead / 1e3, "s"),
        };
        Some(format!("{lead:.1} {unit} {when} it at {} x", row.load))
    });
    let told: Vec<_> = told.collect();
    if !told.is_empty() {
        let _ = writeln!(
            text,
            "limiter: queue building, against the first error that a caller saw: {} (the least of all turns)",
            told.join(", "),
        );
    }
}

fn met(met: bool) -> &'static str {
    if met { "met" } else { "missed" }
}

/// What in a row is the machine's doing and not the server's.
fn doubts(row: &Row, text: &mut String) {
    let at = format!("{} at {} x", row.mode.name(), row.load);
    if row.generator_lag_p99_ms > 20.0 {
        let _ = writeln!(
            text,
            "warning: {at}: the generator fell behind, 1 in 100 requests was sent {:.0} ms late \
             or later",
            row.generator_lag_p99_ms
        );
    }
    if row.unsent > 0 {
        let _ = writeln!(
            text,
            "warning: {at}: the generator had no socket for {} attempts",
            row.unsent
        );
    }
    // Without protection a server has always something to do; a small limit may leave gaps.
    if row.mode == ModeName::None && row.load >= 2.0 && (0.01..0.9).contains(&row.server_cpu) {
        let _ = writeln!(
            text,
            "warning: {at}: other processes left the server {:.2} of its core",
            row.server_cpu
        );
    }
    let off = (row.goodput_share - 1.0).abs();
    if row.mode == ModeName::Fixed && row.load >= 4.0 && off > 0.1 {
        let _ = writeln!(
            text,
            "warning: {at}: the limit that set the capacity now reaches {:.2} of it; the machine's \
             speed changed, so compare the modes with each other",
            row.goodput_share
        );
    }
}
