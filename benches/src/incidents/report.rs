//! Tables on the terminal.

use super::judge::Row;

/// The head of a table of rows.
pub const HEAD: &str = "  mode         seed  amplification   goodput  bystander  collapsed  well after  2nd window  refused  misses";

/// The name of a row's mode, with the share of callers that use the library where not all do.
pub fn mode(row: &Row) -> String {
    match row.adoption {
        _ if row.mode != "library" => String::from(row.mode),
        share if share >= 1.0 => String::from(row.mode),
        share => format!("library {share:.1}"),
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
    let yes = |is: bool| if is { "yes" } else { "no" };
    let well = if row.recovers {
        format!("{:.0} s", row.recover_s)
    } else {
        String::from("never")
    };
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
        well,
        yes(row.second_window),
        100.0 * row.refused_share,
        if row.mode == "library" && row.adoption >= 1.0 {
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
            row.amplification_max <= 1.25 && row.amplification_mean <= 1.12,
        ),
        ("goodput", row.goodput_share_fault >= 0.9),
        (
            "bystander",
            row.bystander_share_min.is_none_or(|kept| kept >= 0.9),
        ),
        ("recovery", row.recovered && !row.second_window),
        (
            "refusals",
            row.refusal_round_trips.is_none_or(|trips| trips <= 1.0),
        ),
        ("waste", row.wasted_share <= 0.0),
    ];
    asked
        .into_iter()
        .filter(|one| !one.1)
        .map(|one| one.0)
        .collect()
}
