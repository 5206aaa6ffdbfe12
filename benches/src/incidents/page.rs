//! The report as one page of HTML, without anything from outside.

use super::judge::Row;
use super::report::{MEAN, SERVED, WASTED, WORST, is_judged, mode, well, who, yes};
use super::scenario::Scenario;
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.45 sans-serif;max-width:1040px;margin:2em auto;padding:0 1em;color:#222}\
table{border-collapse:collapse;font-size:13px;margin:1em 0}\
td,th{padding:2px 9px;text-align:right;border-bottom:1px solid #ddd}\
td:first-child,th:first-child{text-align:left;white-space:nowrap}.miss{color:#b00020;font-weight:bold}\
svg{max-width:100%;height:auto}h2{margin-top:2.2em}";

/// One incident of the page.
#[derive(Debug)]
pub struct Section<'a> {
    /// What was run.
    pub scenario: &'a Scenario,
    /// Its runs with the first seed in pictures.
    pub svg: String,
    /// All its runs.
    pub rows: Vec<&'a Row>,
}

/// The page. `extra` is HTML that comes last.
pub fn page(sections: &[Section<'_>], extra: &str) -> String {
    let mut out = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Incidents, replayed</title>\
         <style>{STYLE}</style><h1>Incidents, replayed</h1><p>Nine public incidents as models in virtual time: \
         as it was, with what is set by hand, and with the library. The fault is grey. Numbers in red miss \
         what is asked of the library everywhere."
    );
    for section in sections {
        let scenario = section.scenario;
        // Writing into a string cannot fail.
        let _ = write!(
            out,
            "<h2 id={0}>{0}</h2><p>{1}.</p>{2}",
            text(&scenario.id),
            text(&scenario.about),
            section.svg
        );
        out.push_str(
            "<table><tr><th>mode<th>seed<th>attempts a request, worst<th>in the fault<th>goodput in the \
             fault<th>bystander kept<th>collapsed<th>well after<th>second window<th>refused<th>work for \
             nobody<th>served of each fleet",
        );
        for row in &section.rows {
            out.push_str(&line(row));
        }
        out.push_str("</table>");
    }
    out.push_str(extra);
    out.push_str("</html>\n");
    out
}

fn line(row: &Row) -> String {
    let judged = is_judged(row);
    let cell = |value: String, good: bool| {
        let miss = if judged && !good { " class=miss" } else { "" };
        format!("<td{miss}>{value}")
    };
    let kept = row.bystander_share_min;
    [
        format!("<tr><td>{}<td>{}", mode(row), row.seed),
        cell(
            format!("{:.2}", row.amplification_max),
            row.amplification_max <= WORST,
        ),
        cell(
            format!("{:.2}", row.amplification_mean),
            row.amplification_mean <= MEAN,
        ),
        cell(
            format!("{:.2}", row.goodput_share_fault),
            row.goodput_share_fault >= SERVED,
        ),
        cell(
            kept.map_or(String::from("-"), |kept| format!("{kept:.2}")),
            kept.is_none_or(|kept| kept >= SERVED),
        ),
        cell(yes(row.collapsed).into(), !row.collapsed),
        cell(well(row), row.recovered),
        cell(yes(row.second_window).into(), !row.second_window),
        format!("<td>{:.1} %", 100.0 * row.refused_share),
        cell(
            format!("{:.1} %", 100.0 * row.wasted_share),
            row.wasted_share <= WASTED,
        ),
        format!("<td>{}", text(&who(row))),
    ]
    .concat()
}

fn text(raw: &str) -> String {
    raw.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
