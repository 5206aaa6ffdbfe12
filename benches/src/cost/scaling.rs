//! How the hot word scales to more cores than there are here, by a model.
//!
//! A request works for a while and then has the word's cache line to itself, for its admission and its end. Cores and line
//! are a closed queueing network with one server, solved by mean value analysis (Reiser and Lavenberg, 1980). The line's
//! time is measured: on two threads that do nothing else it is never free, so an operation holds it for half of what
//! one takes. Within one socket that hardly grows with the number of cores; between sockets a line takes two to four
//! times as long to travel, so that there the table is for that many times the work.

use super::report::Row;
use std::fmt::Write;

const CORES: [u32; 5] = [2, 8, 16, 32, 64];
/// Nanoseconds that a request works.
const WORK: [f64; 4] = [1e3, 1e4, 1e5, 1e6];

/// Mean nanoseconds until a request has had the line for `line`, when so many cores work for `work` in between.
fn response(cores: u32, work: f64, line: f64) -> f64 {
    let (mut response, mut queue) = (line, 0.0);
    for cores in 1..=cores {
        response = line * (1.0 + queue);
        let throughput = f64::from(cores) / (work + response);
        queue = throughput * response;
    }
    response
}

/// The table for what was measured on two threads; `None` when it was not.
pub fn table(rows: &[Row]) -> Option<String> {
    let measured = |row: &&Row| {
        (row.op, row.who, row.threads) == ("acquire-finish", "limiter", 2) && row.nanos > 0.0
    };
    let line = rows.iter().find(measured)?.nanos / 2.0;
    let mut text = format!(
        "\nOn more cores, by a queueing model: an admission and its end have the cache line for {line:.0} ns, as\n\
         measured on two threads. Nanoseconds for both, by what a request works besides:\n\n{:>7}",
        "cores"
    );
    for work in WORK {
        let _ = write!(text, "{:>10}", format!("{} us", work / 1e3));
    }
    text.push('\n');
    for cores in CORES {
        let _ = write!(text, "{cores:>7}");
        for work in WORK {
            let _ = write!(text, "{:>10.0}", response(cores, work, line));
        }
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "The line is the bottleneck of 64 cores for requests shorter than {:.1} us.",
        64.0 * line / 1e3
    );
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_core_waits_for_nobody_and_many_without_work_for_all_the_others() {
        assert_eq!(response(1, 5.0, 50.0), 50.0);
        assert!((response(64, 0.0, 50.0) - 64.0 * 50.0).abs() < 1e-6);
    }

    #[test]
    fn two_cores_are_as_the_closed_formula_says() {
        // S (1 + S / (Z + S))
        let exact = 50.0 * (1.0 + 50.0 / 1_050.0);
        assert!((response(2, 1_000.0, 50.0) - exact).abs() < 1e-9);
    }

    #[test]
    fn there_is_no_table_without_the_measurement() {
        assert_eq!(table(&[]), None);
    }
}
