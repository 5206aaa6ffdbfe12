//! The table of metrics in the documentation.

use limiter_std::telemetry::metrics::{ALL, Kind};
use std::fmt::Write as _;

#[test]
fn the_table_in_the_documentation_has_what_is_published() {
    let mut table = String::new();
    for metric in ALL {
        let kind = match metric.kind {
            Kind::Counter => "counter",
            _ => "gauge",
        };
        let label = metric
            .label
            .map_or(String::new(), |label| format!("`{label}`"));
        let _ = writeln!(
            table,
            "| `{}` | {kind} | {label} | {} |",
            metric.name, metric.says
        );
    }
    let documented = include_str!("../../src/telemetry/metrics/table.md");
    let (_, rows) = documented
        .split_once("| --- | --- | --- | --- |\n")
        .unwrap();
    assert_eq!(
        rows, table,
        "put these rows into metrics/table.md:\n{table}"
    );
}
