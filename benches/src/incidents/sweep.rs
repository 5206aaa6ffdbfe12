//! Where a system comes back by itself: fault strength, retries and the size of the fleet, in three modes.

use super::judge::judge;
use super::read::read;
use super::scenario::Scenario;
use super::setting::{Mode, Setting};
use super::world::run;
use crate::lab::config::FileError;
use serde::Serialize;
use std::fmt::Write;

/// How many times longer work takes during the fault.
pub const STRENGTHS: [f64; 5] = [1.0, 2.0, 5.0, 10.0, 20.0];
/// Retries of a request.
pub const RETRIES: [u32; 5] = [0, 1, 3, 5, 10];
/// Callers, that send as much together.
pub const FLEETS: [u32; 4] = [10, 100, 1_000, 10_000];
/// The modes, and with the library the share of the callers that use it.
pub const KINDS: [(Mode, f64); 6] = [
    (Mode::AsItWas, 0.0),
    (Mode::ByHand, 0.0),
    (Mode::Library, 0.0),
    (Mode::Library, 0.5),
    (Mode::Library, 0.9),
    (Mode::Library, 1.0),
];

/// One point of the region.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// `as-it-was`, `by-hand` or `library`.
    pub mode: &'static str,
    /// Share of the callers with the library.
    pub adoption: f64,
    /// How many times longer work took.
    pub strength: f64,
    /// Retries of a request.
    pub retries: u32,
    /// Callers.
    pub fleet: u32,
    /// The system was well again before the run ended, 40 s after the fault.
    pub recovers: bool,
    /// After so long.
    pub recover_s: f64,
    /// Attempts a request in the worst second.
    pub amplification_max: f64,
}

/// A server at 0.8 of its capacity that takes `strength` times longer for 10 s.
///
/// # Errors
///
/// When the file that is compiled in is wrong.
pub fn scenario(strength: f64, retries: u32, fleet: u32) -> Result<Scenario, FileError> {
    let mut scenario = read(include_str!("../../incidents/sweep.toml"))?;
    for one in &mut scenario.fleet {
        one.callers = fleet;
        one.calls.attempts = retries + 1;
        one.calls.by_hand_attempts = Some(retries + 1);
        one.calls.library_attempts = Some(retries + 1);
    }
    for event in &mut scenario.event {
        if event.fault == Some(super::scenario::Fault::Begins) {
            event.service_ms = event.service_ms.map(|ms| ms * strength);
        }
    }
    Ok(scenario)
}

/// Runs one point.
///
/// # Errors
///
/// As [`scenario`] and [`run`].
pub fn point(
    (mode, adoption): (Mode, f64),
    strength: f64,
    retries: u32,
    fleet: u32,
) -> Result<Point, Box<dyn std::error::Error>> {
    let scenario = scenario(strength, retries, fleet)?;
    let setting = Setting {
        mode,
        adoption,
        seed: 1,
    };
    let row = judge(&scenario, setting, &run(&scenario, setting)?);
    Ok(Point {
        mode: row.mode,
        adoption: row.adoption,
        strength,
        retries,
        fleet,
        recovers: row.recovers,
        recover_s: row.recover_s,
        amplification_max: row.amplification_max,
    })
}

/// The points of one kind as a table: for each strength and number of retries, the seconds until it was well for
/// each size of the fleet, `-` for never.
pub fn table(points: &[Point], (mode, adoption): (Mode, f64)) -> String {
    let mut out = String::new();
    let own = |strength: f64, retries: u32, fleet: u32| {
        points.iter().find(|point| {
            (point.mode, point.adoption, point.strength) == (mode.name(), adoption, strength)
                && (point.retries, point.fleet) == (retries, fleet)
        })
    };
    // Writing into a string cannot fail.
    let _ = writeln!(
        out,
        "{} {adoption:.1}: seconds until well, for {FLEETS:?} callers",
        mode.name()
    );
    out.push_str("  strength");
    for retries in RETRIES {
        let _ = write!(out, "  {:>19}", format!("{retries} retries"));
    }
    out.push('\n');
    for strength in STRENGTHS {
        let _ = write!(out, "  {strength:>8}");
        for retries in RETRIES {
            let cells = FLEETS.map(|fleet| match own(strength, retries, fleet) {
                Some(point) if point.recovers => format!("{:>4.0}", point.recover_s),
                Some(_) => String::from("   -"),
                None => String::from("    "),
            });
            let _ = write!(out, "  {:>19}", cells.join(" "));
        }
        out.push('\n');
    }
    out
}

/// The same as a picture in SVG: a square for each point, green where it comes back, red where it does not.
pub fn picture(points: &[Point]) -> String {
    let (cell, left, top) = (11, 150, 40);
    let wide = RETRIES.len() * FLEETS.len() * cell + 4 * cell * RETRIES.len() / 4;
    let (width, height) = (
        left + wide + 20,
        top + KINDS.len() * (STRENGTHS.len() * cell + 26),
    );
    let mut out = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' font-family='sans-serif' \
         font-size='12'>"
    );
    for (index, retries) in RETRIES.iter().enumerate() {
        let x = left + index * (FLEETS.len() + 1) * cell;
        let _ = write!(out, "<text x='{x}' y='24'>{retries} retries</text>");
    }
    for (row, (mode, adoption)) in KINDS.into_iter().enumerate() {
        let y = top + row * (STRENGTHS.len() * cell + 26);
        let _ = write!(
            out,
            "<text x='4' y='{}'>{} {adoption:.1}</text>",
            y + 14,
            mode.name()
        );
        for point in points
            .iter()
            .filter(|one| (one.mode, one.adoption) == (mode.name(), adoption))
        {
            let place = |value: Option<usize>| value.unwrap_or_default();
            let s = place(STRENGTHS.iter().position(|one| *one == point.strength));
            let r = place(RETRIES.iter().position(|one| *one == point.retries));
            let f = place(FLEETS.iter().position(|one| *one == point.fleet));
            let (x, y) = (left + (r * (FLEETS.len() + 1) + f) * cell, y + s * cell);
            let color = if point.recovers { "#5a9e57" } else { "#c43c32" };
            let _ = write!(
                out,
                "<rect x='{x}' y='{y}' width='10' height='10' fill='{color}'><title>{} times slower, {} callers: \
                 {}</title></rect>",
                point.strength,
                point.fleet,
                if point.recovers {
                    format!("well after {:.0} s", point.recover_s)
                } else {
                    String::from("never")
                }
            );
        }
    }
    out.push_str("</svg>");
    out
}
