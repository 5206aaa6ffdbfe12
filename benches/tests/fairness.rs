//! What `fairness` claims, on a tenth of its length.

use benches::fairness::{Row, SCENARIOS, measure};

fn row(name: &str) -> Row {
    let scenario = SCENARIOS.iter().find(|one| one.name == name);
    measure(scenario.expect("it is listed"), 0.1)
}

fn protects(name: &str) {
    let row = row(name);
    assert!(row.share_kept >= 0.9, "{row:?}");
    assert!(row.innocent_below <= 0.01, "{row:?}");
    assert!(row.unprotected_share_kept < 0.6, "{row:?}");
    assert!(row.utilisation > 0.6, "{row:?}");
}

#[test]
fn a_caller_with_ten_times_its_share_takes_little_from_nine_others() {
    protects("callers-10");
}

#[test]
fn guaranteed_writes_do_not_feel_a_flood_of_reads() {
    protects("partitions");
}

#[test]
fn critical_and_interactive_requests_do_not_feel_a_flood_of_others() {
    protects("priorities");
}

/// By fewer requests each: only together.
#[test]
fn a_caller_that_changes_its_name_is_known_by_its_origin() {
    let row = row("callers-changing-names");
    assert!(row.share_kept >= 0.95, "{row:?}");
    assert!(row.others_kept < 0.2, "{row:?}");
}
