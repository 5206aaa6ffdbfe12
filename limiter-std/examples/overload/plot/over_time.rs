//! Goodput, limit and inflight, and latency over time, one below the other.

use super::{Area, BLUE, FONT, GREEN, GREY, RED, framed, key, legend};
use crate::timeline::{Seen, Timeline};
use crate::wire::{Gauge, Slice};
use anyhow::Result;
use plotters::prelude::*;
use std::path::Path;

/// One line of a panel, in pieces: one for each phase.
struct Curve {
    name: &'static str,
    color: RGBColor,
    pieces: Vec<Vec<(f64, f64)>>,
}

pub(super) fn draw(path: &Path, timeline: &Timeline, capacity: f64) -> Result<()> {
    let root = SVGBackend::new(path, (1000, 1000)).into_drawing_area();
    root.fill(&WHITE)?;
    let title = format!("{}: {}", timeline.mode.name(), timeline.title());
    let root = root.titled(&title, (FONT, 22))?;
    let panels = root.split_evenly((3, 1));
    let frame = Frame::new(timeline);

    let all_along = vec![(0.0, capacity), (frame.ends, capacity)];
    let curves = [
        Curve {
            name: "capacity",
            color: GREY,
            pieces: vec![all_along],
        },
        frame.sliced("goodput", GREEN, |slice| {
            Some(slice.good as f64 / slice.seconds.max(1e-3))
        }),
    ];
    frame.panel(&panels[0], "goodput, requests/s", &curves)?;

    let curves = [
        frame.gauged("inflight", BLUE, |gauge| Some(gauge.inflight)),
        frame.gauged("limit", RED, |gauge| gauge.limit.map(|limit| limit as f64)),
    ];
    frame.panel(&panels[1], "limit and inflight", &curves)?;

    let curves = [
        frame.sliced("p99", RED, |slice| (slice.good > 0).then_some(slice.p99_ms)),
        frame.sliced("p50", BLUE, |slice| {
            (slice.good > 0).then_some(slice.p50_ms)
        }),
    ];
    frame.panel(&panels[2], "latency of successes, ms", &curves)?;
    root.present()?;
    Ok(())
}

/// What the panels have in common: the phases side by side.
struct Frame<'a> {
    /// Each phase with the second at which it begins.
    phases: Vec<(f64, &'a Seen)>,
    ends: f64,
}

impl<'a> Frame<'a> {
    fn new(timeline: &'a Timeline) -> Frame<'a> {
        let mut ends = 0.0;
        let mut phases = Vec::new();
        for phase in &timeline.phases {
            phases.push((ends, phase));
            ends += phase.to_ms.saturating_sub(phase.from_ms) as f64 / 1e3;
        }
        Frame { phases, ends }
    }

    fn sliced(
        &self,
        name: &'static str,
        color: RGBColor,
        value: impl Fn(&Slice) -> Option<f64>,
    ) -> Curve {
        let point = |slice: &Slice| {
            let middle = slice.at_ms.saturating_sub((slice.seconds * 500.0) as u64);
            Some((middle, value(slice)?))
        };
        self.curve(name, color, |phase| {
            phase.slices.iter().filter_map(point).collect()
        })
    }

    fn gauged(
        &self,
        name: &'static str,
        color: RGBColor,
        value: impl Fn(&Gauge) -> Option<f64>,
    ) -> Curve {
        let point = |gauge: &Gauge| Some((gauge.at_ms, value(gauge)?));
        self.curve(name, color, |phase| {
            phase.gauges.iter().filter_map(point).collect()
        })
    }

    fn curve(
        &self,
        name: &'static str,
        color: RGBColor,
        points: impl Fn(&Seen) -> Vec<(u64, f64)>,
    ) -> Curve {
        let pieces = self.phases.iter().map(|(begins, phase)| {
            let second = |at_ms: u64| begins + at_ms.saturating_sub(phase.from_ms) as f64 / 1e3;
            let points = points(phase).into_iter();
            points.map(|(at_ms, y)| (second(at_ms), y)).collect()
        });
        Curve {
            name,
            color,
            pieces: pieces.collect(),
        }
    }

    fn panel(&self, area: &Area<'_>, axis: &str, curves: &[Curve]) -> Result<()> {
        let points = curves
            .iter()
            .flat_map(|curve| curve.pieces.iter().flatten());
        let highest = 1.25 * points.map(|point| point.1).fold(1.0, f64::max);
        let mut chart = framed(area, "").build_cartesian_2d(0.0..self.ends, 0.0..highest)?;
        for (count, (begins, phase)) in self.phases.iter().enumerate() {
            if count % 2 == 1 {
                let next = self.phases.get(count + 1);
                let to = next.map_or(self.ends, |(begins, _)| *begins);
                let band = [(*begins, 0.0), (to, highest)];
                chart.draw_series([Rectangle::new(band, GREY.mix(0.12).filled())])?;
            }
            let at = (begins + 0.004 * self.ends, highest * 0.97);
            chart.draw_series([Text::new(phase.name.clone(), at, (FONT, 13))])?;
        }
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_desc("seconds")
            .y_desc(axis)
            .light_line_style(TRANSPARENT)
            .draw()?;
        for curve in curves {
            let color = curve.color;
            for (count, piece) in curve.pieces.iter().enumerate() {
                let line = LineSeries::new(piece.iter().copied(), color.stroke_width(2));
                let drawn = chart.draw_series(line)?;
                if count == 0 {
                    drawn
                        .label(curve.name)
                        .legend(move |(x, y)| key(x, y, color));
                }
            }
        }
        legend(&mut chart, SeriesLabelPosition::UpperRight)
    }
}
