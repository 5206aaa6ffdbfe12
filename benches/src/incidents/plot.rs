//! The picture of an incident: the three modes over each other, with the timeline.

use super::judge::{View, good};
use super::scenario::Scenario;
use super::tally::{Tally, at};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Line<'a> = (&'a str, RGBColor, Vec<(f64, f64)>);

/// One colour for each mode, and one for what could have been served.
const COLORS: [RGBColor; 3] = [
    RGBColor(200, 60, 50),
    RGBColor(215, 150, 30),
    RGBColor(25, 110, 180),
];
const POSSIBLE: RGBColor = RGBColor(150, 150, 150);

/// An SVG of the runs in `tallies`, named.
///
/// # Errors
///
/// When it cannot be drawn.
pub fn draw(scenario: &Scenario, tallies: &[(&str, &Tally)]) -> Result<String, Box<dyn Error>> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (1_000, 620)).into_drawing_area();
        root.fill(&WHITE)?;
        let (top, bottom) = root.split_vertically(330);
        let lines = |of: &dyn Fn(&Tally) -> Vec<f64>| -> Vec<Line<'_>> {
            let runs = tallies.iter().zip(COLORS);
            runs.map(|((name, tally), color)| (*name, color, points(&of(tally))))
                .collect()
        };
        let mut served = lines(&|tally| good(scenario, tally));
        if let Some((_, last)) = tallies.last() {
            let possible = View::new(scenario, last).attainable;
            served.insert(0, ("could have been", POSSIBLE, points(&possible)));
        }
        panel(&top, "served in time, a second", scenario, &served, true)?;
        let end = scenario.seconds as usize;
        let arrived = lines(&|tally| (0..end).map(|second| at(&tally.arrived, second)).collect());
        let name = format!("attempts at {}, a second", scenario.watch.as_ref());
        panel(&bottom, &name, scenario, &arrived, false)?;
        root.present()?;
    }
    Ok(svg)
}

/// Means of three seconds.
fn points(values: &[f64]) -> Vec<(f64, f64)> {
    let windows = values.windows(3).enumerate();
    windows
        .map(|(index, window)| (index as f64 + 1.5, window.iter().sum::<f64>() / 3.0))
        .collect()
}

fn panel(
    area: &Area<'_>,
    name: &str,
    scenario: &Scenario,
    lines: &[Line<'_>],
    labels: bool,
) -> Result<(), Box<dyn Error>> {
    let values = lines
        .iter()
        .flat_map(|line| line.2.iter().map(|point| point.1));
    // Room for what happened, above the lines.
    let head = if labels { 1.45 } else { 1.08 };
    let top = values.fold(1.0, f64::max) * head;
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .margin_right(20)
        .x_label_area_size(if labels { 18 } else { 32 })
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..scenario.seconds, 0.0..top)?;
    let (begins, ends) = scenario.fault();
    let shade = Rectangle::new([(begins, 0.0), (ends, top)], BLACK.mix(0.05).filled());
    chart.draw_series([shade])?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh()
        .light_line_style(WHITE.mix(0.0))
        .y_desc(name);
    if !labels {
        mesh.x_desc("seconds");
    }
    mesh.draw()?;
    let named = scenario.event.iter().filter(|event| !event.what.is_empty());
    for (index, event) in named.enumerate() {
        chart.draw_series([PathElement::new(
            [(event.at, 0.0), (event.at, top)],
            BLACK.mix(0.3),
        )])?;
        if labels {
            let at = (
                event.at + scenario.seconds * 0.004,
                top * (0.98 - 0.07 * (index % 4) as f64),
            );
            chart.draw_series([Text::new(event.what.clone(), at, ("sans-serif", 13))])?;
        }
    }
    for (name, color, points) in lines {
        let color = *color;
        chart
            .draw_series(LineSeries::new(
                points.iter().copied(),
                color.stroke_width(2),
            ))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
    }
    if labels {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.2))
            .draw()?;
    }
    Ok(())
}
