//! Replays: what the models claim, on small ones, and what files of users may say.

use benches::incidents::judge::judge;
use benches::incidents::read::read;
use benches::incidents::scenario::Scenario;
use benches::incidents::setting::{Mode, Setting};
use benches::incidents::world::run;
use benches::incidents::{catalogue, sweep, yardstick};
use benches::program;
use std::ffi::OsStr;

const AS_IT_WAS: (Mode, f64) = (Mode::AsItWas, 0.0);
const LIBRARY: (Mode, f64) = (Mode::Library, 1.0);

fn small(rate: u32, attempts: u32) -> Scenario {
    let text = format!(
        "id = \"small\"\nabout = \"\"\nseconds = 30\nwarm-up = 5\nwatch = \"server\"\n\
         [[station]]\nname = \"server\"\nslots = 4\nservice-ms = 20\nqueue = 100\n\
         [[fleet]]\nname = \"callers\"\ncallers = 4\nrate = {rate}\npath = [\"server\"]\ndeadline-ms = 2000\n\
         calls = {{ attempts = {attempts}, timeout-ms = 1000 }}\n"
    );
    read(&text).expect("right")
}

fn setting((mode, adoption): (Mode, f64), seed: u64) -> Setting {
    Setting {
        mode,
        adoption,
        seed,
    }
}

#[test]
fn all_nine_incidents_are_files_that_can_be_read() {
    let all = catalogue::all().expect("right");
    assert_eq!(all.len(), 9);
    for scenario in all {
        let (begins, ends) = scenario.fault();
        assert!(begins >= scenario.warm_up, "{}", scenario.id);
        assert!(
            ends + 30.0 <= scenario.seconds,
            "{}: no time to recover",
            scenario.id
        );
        let refusing = scenario.station.iter().map(|one| one.refuse_cost);
        assert!(
            refusing
                .into_iter()
                .all(|cost| (0.01..=0.1).contains(&cost))
        );
    }
}

#[test]
fn the_scenario_of_the_readme_can_be_read_and_run() {
    let readme = include_str!("../README.md");
    let example = readme
        .split("```toml")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let scenario = read(example.expect("it has one")).expect("right");
    assert_eq!(
        (scenario.id.as_str(), scenario.fault()),
        ("orders", (40.0, 70.0))
    );
    assert!(run(&scenario, setting(AS_IT_WAS, 1)).is_ok());
}

#[test]
fn a_run_is_a_function_of_its_seed_in_every_mode() {
    let scenario = small(150, 3);
    for kind in [
        AS_IT_WAS,
        (Mode::ByHand, 0.0),
        LIBRARY,
        (Mode::Library, 0.5),
    ] {
        let figures = |seed| {
            let setting = setting(kind, seed);
            judge(
                &scenario,
                setting,
                &run(&scenario, setting).expect("clocks"),
            )
        };
        assert_eq!(figures(1), figures(1));
        assert_ne!(figures(1), figures(2));
    }
}

#[test]
fn a_load_far_below_capacity_is_served_as_it_is_in_every_mode() {
    let scenario = small(60, 3);
    for kind in [AS_IT_WAS, (Mode::ByHand, 0.0), LIBRARY] {
        let row = judge(
            &scenario,
            setting(kind, 1),
            &run(&scenario, setting(kind, 1)).expect("clocks"),
        );
        assert!(row.goodput_share_fault > 0.97, "{row:?}");
        assert!(row.amplification_max < 1.2 && !row.collapsed, "{row:?}");
    }
}

#[test]
fn no_mode_serves_more_than_the_yardstick_and_nothing_is_served_twice() {
    let scenario = small(400, 4);
    for kind in [AS_IT_WAS, (Mode::ByHand, 0.0), LIBRARY] {
        let tally = run(&scenario, setting(kind, 1)).expect("clocks");
        let possible: f64 = yardstick::attainable(&scenario, &tally)[0].iter().sum();
        let good: u32 = tally.fleets[0].good.iter().sum();
        let begun: u32 = tally.fleets[0].begun.iter().sum();
        // Service times are drawn: 6,000 of them are within 4 %.
        assert!(
            f64::from(good) < 1.04 * possible,
            "{kind:?}: {good} of {possible}"
        );
        assert!(good <= begun);
    }
}

#[test]
fn without_retries_attempts_are_requests() {
    let scenario = small(150, 1);
    let tally = run(&scenario, setting(AS_IT_WAS, 1)).expect("clocks");
    assert_eq!(tally.needs, tally.attempts);
}

#[test]
fn a_storm_of_plain_retries_outlives_the_fault_and_that_of_the_library_does_not() {
    let plain = sweep::point(AS_IT_WAS, 10.0, 3, 100).expect("right");
    let ours = sweep::point(LIBRARY, 10.0, 3, 100).expect("right");
    assert!(
        !plain.recovers && plain.amplification_max > 3.5,
        "{plain:?}"
    );
    assert!(ours.recovers, "{ours:?}");
}

#[test]
fn seeds_are_a_number_that_somebody_can_wait_for() {
    let seeds = |text: &str| program::seeds(OsStr::new(text));
    assert_eq!((seeds("1"), seeds("1000")), (Ok(1), Ok(1_000)));
    for wrong in ["0", "1001", "-1", "many", ""] {
        let said = format!("--seeds {wrong}: allowed is 1 to 1000");
        assert_eq!(seeds(wrong), Err(said));
    }
}

#[test]
fn every_error_has_the_line_and_the_field_or_the_name() {
    let good = "id = \"a\"\nabout = \"\"\nseconds = 30\nwatch = \"s\"\n\
                [[station]]\nname = \"s\"\nslots = 4\nservice-ms = 20\n\
                [[fleet]]\nname = \"f\"\ncallers = 4\nrate = 9\npath = [\"s\"]\ndeadline-ms = 2000\n";
    assert!(read(good).is_ok());
    for (from, to, line, said) in [
        ("slots = 4", "slots = 0", 7, "slots"),
        ("slots = 4", "slotz = 4", 7, "slotz"),
        ("service-ms = 20", "service-ms = -1", 8, "service-ms"),
        ("callers = 4", "callers = \"many\"", 11, "callers"),
        (
            "path = [\"s\"]",
            "path = [\"t\"]",
            13,
            "no station has the name t",
        ),
        (
            "watch = \"s\"",
            "watch = \"t\"",
            4,
            "no station has the name t",
        ),
        ("deadline-ms = 2000", "deadline-ms = 0", 14, "deadline-ms"),
        (
            "rate = 9\n",
            "",
            10,
            "it never calls: allowed is a rate above 0, session-s, or an event with a rate",
        ),
        (
            "2000\n",
            "2000\n[[station]]\nname = \"s\"\nslots = 4\nservice-ms = 20\n",
            16,
            "another has the name s too",
        ),
        (
            "2000\n",
            "2000\n[[event]]\nat = 3\nwhat = \"\"\nslots = 1\n",
            1,
            "slots of nothing: the event at 3 names no station",
        ),
    ] {
        let error = read(&good.replace(from, to)).expect_err(to);
        assert_eq!(error.line, line, "{error}");
        assert!(error.message.contains(said), "{error}");
    }
}
