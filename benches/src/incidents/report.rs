//! Tables on the terminal.

use super::judge::Row;

/// The head of a table of rows.
pub const HEAD: &str = "  mode         seed  amplification   goodput  bystander  collapsed  well after  2nd window  refused  misses";

/// What the columns say that their names do not.
pub const LEGEND: &str = "\
amplification  attempts for a request, in the worst second / over the fault
goodput        what was served in the fault, in parts of what could have been; of a bystander that uses none of what fails, the least
collapsed      in some ten seconds from the beginning of the fault on less than half of that was served
well after     the END of the fault, until 95 % of what could succeed did, for good: so one that collapsed within the fault, and
               was well as soon as it was over, is well after 0 s
2nd window     it collapsed again when the traffic was brought back
misses         what is asked of the library where all use it, and this run does not reach";

/// What is asked of the library everywhere: attempts for a request in the worst second, and over the fault.
pub(super) const WORST: f64 = 1.25;
pub(super) const MEAN: f64 = 1.12;
/// The share of what could have been served, and of a bystander's requests that are.
pub(super) const SERVED: f64 = 0.9;
/// The share of the work that is done for nobody.
pub(super) const WASTED: f64 = 0.0;

/// Whether a run is held to what is asked of the library.
pub(super) fn is_judged(row: &Row) -> bool {
    row.mode == "library" && row.adoption >= 1.0
}

/// When service was well again.
pub(super) fn well(row: &Row) -> String {
    if row.recovers {
        format!("{:.0} s", row.recover_s)
    } else {
        String::from("never")
    }
}

pub(super) const fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

/// The name of a row's mode, with the share of callers that use the library where not all do.
pub fn mode(row: &Row) -> String {
    match row.adoption {
        share if row.mode == "library" && share < 1.0 => format!("library {share:.1}"),
        _ => String::from(row.mode),
    }
}

/// Which share of each fleet's requests was served in the fault.
pub fn who(row: &Row) -> String {
    let fleets = row.fleets.iter();
    let fleets: Vec<String> = fleets
        .map(|one| format!("{} {:.2}", one.0, one.1))
        .collect();
    fleets.join(", ")
}

/// One line for one run.
pub fn line(row: &Row) -> String {
    format!(
        "  {:<12} {:>4}  {:>6.2} / {:<6.2} {:>7.2}  {:>9}  {:>9}  {:>10}  {:>10}  {:>6.1}%  {}",
        mode(row),
        row.seed,
        row.amplification_max,
        row.amplification_mean,
        row.goodput_share_fault,
        row.bystander_share_min
            .map_or(String::from("-"), |kept| format!("{kept:.2}")),
        yes(row.collapsed),
        well(row),
        yes(row.second_window),
        100.0 * row.refused_share,
        if is_judged(row) {
            misses(row).join(" ")
        } else {
            String::new()
        },
    )
}

/// What is asked of the library everywhere, and this run does not reach.
pub fn misses(row: &Row) -> Vec<&'static str> {
    let asked = [
        (
            "amplification",
            row.amplification_max <= WORST && row.amplification_mean <= MEAN,
        ),
        ("goodput", row.goodput_share_fault >= SERVED),
        (
            "bystander",
            row.bystander_share_min.is_none_or(|kept| kept >= SERVED),
        ),
        ("recovery", row.recovered && !row.second_window),
        (
            "refusals",
            row.refusal_round_trips.is_none_or(|trips| trips <= 1.0),
        ),
        ("waste", row.wasted_share <= WASTED),
    ];
    asked
        .into_iter()
        .filter(|one| !one.1)
        .map(|one| one.0)
        .collect()
}
