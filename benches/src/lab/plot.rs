//! Plots of a run against the oracle: limit, requests in flight, and what callers waited.

use super::judge::Court;
use super::laws::Contestant;
use super::model::Model;
use super::queue::SECOND;
use super::trace::{End, Gauges, Trace};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Line<'a> = (&'a str, RGBColor, Vec<(f64, f64)>);

const OWN: RGBColor = RGBColor(190, 30, 45);
const PALE: RGBColor = RGBColor(240, 165, 170);
const BEST: RGBColor = RGBColor(60, 60, 60);
const LEAN: RGBColor = RGBColor(120, 160, 200);

/// Steps of the latency lines.
const STEPS: u64 = 200;

/// Draws the run of `law` in `trace` into `folder` as `model.law.svg`.
///
/// # Errors
///
/// When the file cannot be written.
pub fn draw(
    folder: &Path,
    model: &Model,
    law: &Contestant,
    court: &Court<'_>,
    trace: &Trace,
) -> Result<(), Box<dyn Error>> {
    let path = folder.join(format!("{}.{}.svg", model.name, law.name));
    let root = SVGBackend::new(&path, (1_000, 900)).into_drawing_area();
    root.fill(&WHITE)?;
    let root = root.titled(&format!("{}: {}", model.name, law.name), ("sans-serif", 20))?;
    let panels = root.split_evenly((3, 1));
    let oracle = &court.oracle;
    let gauge = |trace: &Trace, of: fn(&Gauges) -> u32| -> Vec<(f64, f64)> {
        let points = trace.gauges.iter();
        points
            .map(|gauges| (at(gauges.at), f64::from(of(gauges))))
            .collect()
    };
    let limit = |gauges: &Gauges| gauges.limit;
    let waits = |trace: &Trace| waits(trace, model.end());
    let [own, lean] = [waits(trace), waits(&oracle.lean_run)];
    panel(
        &panels[0],
        "limit",
        model,
        &[
            ("best fixed", BEST, gauge(&oracle.best_run, limit)),
            ("lean fixed", LEAN, gauge(&oracle.lean_run, limit)),
            ("law", OWN, gauge(trace, limit)),
        ],
    )?;
    panel(
        &panels[1],
        "in flight",
        model,
        &[
            ("at the server", PALE, gauge(trace, |gauges| gauges.load)),
            (
                "lean fixed",
                LEAN,
                gauge(&oracle.lean_run, |gauges| gauges.inflight),
            ),
            ("law", OWN, gauge(trace, |gauges| gauges.inflight)),
        ],
    )?;
    panel(
        &panels[2],
        "waited ms",
        model,
        &[
            ("lean fixed p99", LEAN, lean.p99),
            ("lean fixed mean", BEST, lean.mean),
            ("law p99", PALE, own.p99),
            ("law mean", OWN, own.mean),
        ],
    )?;
    root.present()?;
    Ok(())
}

fn at(ns: u64) -> f64 {
    ns as f64 / SECOND as f64
}

fn panel(
    area: &Area<'_>,
    name: &str,
    model: &Model,
    lines: &[Line<'_>],
) -> Result<(), Box<dyn Error>> {
    let values = || {
        lines
            .iter()
            .flat_map(|line| line.2.iter().map(|point| point.1))
    };
    // A moment of madness must not hide all the rest.
    let mut sorted: Vec<f64> = values().collect();
    sorted.sort_by(f64::total_cmp);
    let usual = sorted.get(sorted.len() * 98 / 100).copied().unwrap_or(1.0);
    let top = (usual * 1.3)
        .min(sorted.last().copied().unwrap_or(1.0) * 1.05)
        .max(1.0);
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .margin_right(24)
        .x_label_area_size(24)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..at(model.end()), 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE.mix(0.0))
        .y_desc(name)
        .draw()?;
    steps(&mut chart, model, top)?;
    for (name, color, points) in lines {
        let cut = points.iter().map(|&(x, y)| (x, y.min(top)));
        let color = *color;
        chart
            .draw_series(LineSeries::new(cut, color))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.2))
        .draw()?;
    Ok(())
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Marks where phases begin.
fn steps(chart: &mut Chart<'_, '_>, model: &Model, top: f64) -> Result<(), Box<dyn Error>> {
    let starts = (1..model.phases.len()).map(|index| at(model.start_of(index)));
    chart.draw_series(starts.map(|x| PathElement::new([(x, 0.0), (x, top)], BLACK.mix(0.25))))?;
    Ok(())
}

struct Waits {
    mean: Vec<(f64, f64)>,
    p99: Vec<(f64, f64)>,
}

/// What those who ended in each step had waited, in ms.
fn waits(trace: &Trace, end: u64) -> Waits {
    let mut waits = Waits {
        mean: Vec::new(),
        p99: Vec::new(),
    };
    for step in 0..STEPS {
        let (from, to) = (end / STEPS * step, end / STEPS * (step + 1));
        let ended = trace.between(from, to).iter();
        let mut ms: Vec<f64> = ended
            .filter(|ended| ended.end != End::Refused)
            .map(|ended| f64::from(ended.latency) / 1e3)
            .collect();
        if ms.is_empty() {
            continue;
        }
        let mean = ms.iter().sum::<f64>() / ms.len() as f64;
        let rank = ms.len() * 99 / 100;
        let (_, p99, _) = ms.select_nth_unstable_by(rank, f64::total_cmp);
        waits.mean.push((at(to), mean));
        waits.p99.push((at(to), *p99));
    }
    waits
}
