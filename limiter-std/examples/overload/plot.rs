//! The plots, as SVG: goodput and latency against the load, and everything over time.

mod over_time;

use crate::protect::ModeName;
use crate::row::Row;
use crate::timeline::Timeline;
use anyhow::{Context, Result};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::path::{Path, PathBuf};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, Y>>;

const RED: RGBColor = RGBColor(200, 60, 50);
const BLUE: RGBColor = RGBColor(50, 100, 180);
const GREEN: RGBColor = RGBColor(30, 140, 80);
const GREY: RGBColor = RGBColor(120, 120, 120);
const FONT: &str = "sans-serif";

/// Draws every plot and says which files these are.
pub(crate) fn draw(
    folder: &Path,
    rows: &[Row],
    timelines: &[Timeline],
    capacity: f64,
) -> Result<Vec<PathBuf>> {
    let path = folder.join("goodput.svg");
    let mut drawn = vec![path.clone()];
    against_load(&path, rows).with_context(|| format!("cannot draw {}", path.display()))?;
    for timeline in timelines {
        let what = if timeline.slow_down {
            "slow-down"
        } else {
            "loads"
        };
        let path = folder.join(format!("time-{}-{what}.svg", timeline.mode.name()));
        over_time::draw(&path, timeline, capacity)
            .with_context(|| format!("cannot draw {}", path.display()))?;
        drawn.push(path);
    }
    Ok(drawn)
}

fn against_load(path: &Path, rows: &[Row]) -> Result<()> {
    let root = SVGBackend::new(path, (900, 860)).into_drawing_area();
    root.fill(&WHITE)?;
    let (goodput, latency) = root.split_vertically(450);
    // Loads are drawn by their powers of two.
    let loads = -1.3..3.6;
    let axis = |power: &f64| format!("{}", power.exp2());

    let highest = rows.iter().map(|row| row.goodput_share);
    let highest = 1.15 * highest.fold(1.0, f64::max);
    let mut chart = framed(&goodput, "Goodput against offered load")
        .build_cartesian_2d(loads.clone(), 0.0..highest)?;
    chart
        .configure_mesh()
        .x_desc("offered load, times the capacity")
        .y_desc("requests answered in time, share of capacity")
        .x_labels(6)
        .x_label_formatter(&axis)
        .light_line_style(TRANSPARENT)
        .draw()?;
    let ideal = [(0.5, 0.5), (0.7, 0.7), (1.0, 1.0), (10.0, 1.0)];
    let ideal = ideal.map(|(load, share): (f64, f64)| (load.log2(), share));
    chart
        .draw_series(DashedLineSeries::new(ideal, 6, 4, GREY.stroke_width(1)))?
        .label("ideal")
        .legend(|(x, y)| key(x, y, GREY));
    modes(&mut chart, rows, |row| Some(row.goodput_share))?;
    legend(&mut chart, SeriesLabelPosition::LowerLeft)?;

    let successes = rows.iter().map(|row| row.p99_ms).filter(|p99| *p99 > 0.0);
    let lowest = successes.clone().fold(10.0, f64::min);
    let highest = successes.fold(100.0, f64::max);
    let mut chart = framed(
        &latency,
        "p99 of the attempts that succeeded, where any did",
    )
    .build_cartesian_2d(loads, (lowest / 1.5..highest * 5.0).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("offered load, times the capacity")
        .y_desc("ms")
        .x_labels(6)
        .x_label_formatter(&axis)
        .light_line_style(TRANSPARENT)
        .draw()?;
    modes(&mut chart, rows, |row| {
        (row.p99_ms > 0.0).then_some(row.p99_ms)
    })?;
    legend(&mut chart, SeriesLabelPosition::UpperLeft)?;
    root.present()?;
    Ok(())
}

fn framed<'a, 'b>(area: &'a Area<'b>, title: &str) -> ChartBuilder<'a, 'b, SVGBackend<'b>> {
    let mut frame = ChartBuilder::on(area);
    frame
        .caption(title, (FONT, 20))
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(64);
    frame
}

/// One line with points for each mode.
fn modes<'a, 'b: 'a, Y: Ranged<ValueType = f64> + 'a>(
    chart: &mut Chart<'a, 'b, Y>,
    rows: &[Row],
    value: impl Fn(&Row) -> Option<f64>,
) -> Result<()> {
    for (mode, color) in [
        (ModeName::None, RED),
        (ModeName::Fixed, BLUE),
        (ModeName::Limiter, GREEN),
    ] {
        let rows = rows.iter().filter(|row| row.mode == mode);
        let points: Vec<(f64, f64)> = rows
            .filter_map(|row| Some((row.load.log2(), value(row)?)))
            .collect();
        if !points.is_empty() {
            chart
                .draw_series(LineSeries::new(points, color.stroke_width(2)).point_size(4))?
                .label(mode.name())
                .legend(move |(x, y)| key(x, y, color));
        }
    }
    Ok(())
}

fn legend<'a, 'b: 'a, Y: Ranged<ValueType = f64> + 'a>(
    chart: &mut Chart<'a, 'b, Y>,
    position: SeriesLabelPosition,
) -> Result<()> {
    chart
        .configure_series_labels()
        .position(position)
        .background_style(WHITE.mix(0.85))
        .border_style(GREY)
        .label_font((FONT, 14))
        .draw()?;
    Ok(())
}

fn key(x: i32, y: i32, color: RGBColor) -> PathElement<(i32, i32)> {
    PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2))
}
