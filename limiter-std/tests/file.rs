//! Settings from a file, and from another one while running.

use limiter_std::file::{Format, Settings};
use limiter_std::law::{Aimd, AnyLaw, Gradient, Knee, Vegas};
use limiter_std::{Config, DependencyConfig, Priority, RejectReason, Request};
use std::time::Duration;

/// Each field with a value that works and one that does not, and what is said of it after the path.
const FIELDS: [(&str, &str, &str, &str, &str); 66] = [
    (
        "limiter",
        "law",
        "\"aimd\"",
        "\"magic\"",
        "unknown variant `magic`",
    ),
    ("limiter", "initial", "20", "0", "got 0, allowed 1 to 1000"),
    ("limiter", "min", "5", "0", "got 0, allowed 1 to 1000"),
    (
        "limiter",
        "min",
        "11",
        "1001",
        "got 1001, allowed 1 to 1000: limiter.max is 1000 unless it is set",
    ),
    ("limiter", "max", "5", "0", "got 0, allowed 1 to 2147483647"),
    (
        "limiter",
        "min_samples",
        "20",
        "0",
        "got 0, allowed 1 to 16777216",
    ),
    (
        "limiter",
        "overload_tolerance",
        "30",
        "1001",
        "got 1001, allowed 0 to 1000",
    ),
    (
        "limiter",
        "urgent_overloads",
        "9",
        "0",
        "got 0, allowed 1 to 16777216",
    ),
    (
        "limiter",
        "beyond_may_use",
        "500",
        "0",
        "got 0, allowed 1 to 1000",
    ),
    (
        "limiter",
        "watch_only",
        "true",
        "1",
        "invalid type: integer `1`, expected a boolean",
    ),
    (
        "limiter.windows",
        "shortest",
        "\"20ms\"",
        "\"2s\"",
        "got 2s, allowed 0s to 1s: limiter.windows.longest is 1s unless it is set",
    ),
    (
        "limiter.windows",
        "longest",
        "\"2s\"",
        "\"0s\"",
        "got 0s, allowed 1ns to ",
    ),
    (
        "limiter.windows",
        "longest",
        "\"2s\"",
        "\"2 secs 5\"",
        "\"2 secs 5\" is no time",
    ),
    (
        "limiter.shares",
        "interactive",
        "800",
        "1001",
        "got 1001, allowed 1 to 1000",
    ),
    (
        "limiter.shares",
        "batch",
        "800",
        "901",
        "got 901, allowed 1 to 900: limiter.shares.interactive is 900 unless it is set",
    ),
    (
        "limiter.shares",
        "batch",
        "600",
        "100",
        "got 100, but limiter.shares.best_effort is 500 unless it is set",
    ),
    (
        "limiter.shares",
        "best_effort",
        "100",
        "0",
        "got 0, allowed 1 to 700",
    ),
    (
        "limiter.queue",
        "length",
        "5",
        "0",
        "got 0, allowed 1 to 1048576",
    ),
    (
        "limiter.queue",
        "length",
        "\"none\"",
        "\"many\"",
        "invalid type: string \"many\", expected a number, or \"none\"",
    ),
    (
        "limiter.queue",
        "longest_wait",
        "\"3s\"",
        "\"0s\"",
        "got 0s, allowed 1ns or more",
    ),
    (
        "limiter.queue",
        "longest_wait",
        "\"none\"",
        "\"soon\"",
        "\"soon\" is no time",
    ),
    (
        "limiter.queue",
        "target",
        "\"1ms\"",
        "\"0s\"",
        "got 0s, allowed 1ns or more",
    ),
    (
        "limiter.queue",
        "interval",
        "\"1s\"",
        "\"0 ms\"",
        "got 0 ms, allowed 1ns or more",
    ),
    (
        "limiter.knee",
        "target",
        "200",
        "1000",
        "got 1000, allowed 10 to 900",
    ),
    (
        "limiter.knee",
        "spread",
        "200",
        "10",
        "got 10, allowed 20 to 300",
    ),
    (
        "limiter.partitions.reads",
        "guarantee",
        "200",
        "901",
        "got 901, allowed 0 to 900",
    ),
    (
        "limiter.partitions.reads",
        "lend_after",
        "\"1s\"",
        "1",
        "invalid type: integer `1`, expected a time",
    ),
    (
        "dependency",
        "attempts",
        "5",
        "0",
        "got 0, allowed 1 to 1000",
    ),
    (
        "dependency",
        "total",
        "\"3s\"",
        "\"0s\"",
        "got 0s, allowed 1ms to ",
    ),
    (
        "dependency",
        "timeout",
        "\"3s\"",
        "\"0s\"",
        "got 0s, allowed 1ms to ",
    ),
    (
        "dependency",
        "waiting",
        "5",
        "65536",
        "got 65536, allowed 1 to 65535",
    ),
    (
        "dependency",
        "retry_cost_milli",
        "500",
        "0",
        "got 0, allowed 1 to 10000",
    ),
    (
        "dependency",
        "retry_cost_milli",
        "500",
        "20000",
        "got 20000, allowed 1 to 10000: dependency.budget.capacity_milli is 10000 unless it is set",
    ),
    (
        "dependency",
        "timeout_cost_milli",
        "2000",
        "0",
        "got 0, allowed 1 to 10000",
    ),
    (
        "dependency",
        "pushback_cost_milli",
        "500",
        "0",
        "got 0, allowed 1 to 10000",
    ),
    (
        "dependency.timeout_bounds",
        "least",
        "\"10ms\"",
        "\"0s\"",
        "got 0s, allowed 1ms to 5s",
    ),
    (
        "dependency.timeout_bounds",
        "most",
        "\"10s\"",
        "\"20ms\"",
        "got 20ms, but dependency.timeout_bounds.least is 50ms unless it is set",
    ),
    (
        "dependency.timeout_quantile",
        "per_mille",
        "900",
        "1001",
        "got 1001, allowed 1 to 1000",
    ),
    (
        "dependency.timeout_quantile",
        "margin",
        "1500",
        "999",
        "got 999, allowed 1000 to 100000",
    ),
    (
        "dependency.timeout_quantile",
        "samples",
        "20",
        "0",
        "got 0, allowed 1 to 1000",
    ),
    (
        "dependency.hedge",
        "per_mille",
        "990",
        "499",
        "got 499, allowed 500 to 1000",
    ),
    (
        "dependency.hedge",
        "delay",
        "\"50ms\"",
        "\"0s\"",
        "got 0s, allowed 1ms to ",
    ),
    (
        "dependency.backoff",
        "jitter",
        "\"full\"",
        "\"none\"",
        "unknown variant `none`",
    ),
    (
        "dependency.backoff",
        "base",
        "\"100ms\"",
        "\"5s\"",
        "got 5s, allowed 1ns to 4s: dependency.backoff.cap is 4s unless it is set",
    ),
    (
        "dependency.backoff",
        "cap",
        "\"3s\"",
        "\"5h\"",
        "got 5h, allowed 1ns to 4h",
    ),
    (
        "dependency.backoff",
        "most_hinted",
        "\"1s\"",
        "\"-1s\"",
        "\"-1s\" is no time",
    ),
    (
        "dependency.breaker",
        "consecutive",
        "5",
        "0",
        "got 0, allowed 1 to 4095",
    ),
    (
        "dependency.breaker",
        "consecutive",
        "\"none\"",
        "5000",
        "got 5000, allowed 1 to 4095",
    ),
    (
        "dependency.breaker",
        "failure_share",
        "\"none\"",
        "1001",
        "got 1001, allowed 1 to 1000",
    ),
    (
        "dependency.breaker",
        "slow_share",
        "{\"per_mille\":500,\"longest\":\"1s\"}",
        "{\"per_mille\":500}",
        "missing field `longest`",
    ),
    (
        "dependency.breaker",
        "volume",
        "50",
        "0",
        "got 0, allowed 1 to 1000",
    ),
    (
        "dependency.breaker",
        "window",
        "\"30s\"",
        "\"1ms\"",
        "got 1ms, allowed 10ms to 1h",
    ),
    (
        "dependency.breaker",
        "probes",
        "5",
        "64",
        "got 64, allowed 1 to 63",
    ),
    (
        "dependency.breaker",
        "probe_time",
        "\"30s\"",
        "\"2days\"",
        "got 2days, allowed 1ms to 1day",
    ),
    (
        "dependency.breaker.open",
        "first",
        "\"1s\"",
        "\"2m\"",
        "got 2m, allowed 1ms to 1m: dependency.breaker.open.most is 1m unless it is set",
    ),
    (
        "dependency.breaker.open",
        "most",
        "\"2m\"",
        "\"1s\"",
        "got 1s, but dependency.breaker.open.first is 5s unless it is set",
    ),
    (
        "dependency.throttle",
        "on",
        "false",
        "0",
        "invalid type: integer `0`, expected a boolean",
    ),
    (
        "dependency.throttle",
        "window",
        "\"30s\"",
        "\"2h\"",
        "got 2h, allowed 10ms to 1h",
    ),
    (
        "dependency.throttle",
        "slack_q8",
        "300",
        "256",
        "got 256, allowed 257 to 65535",
    ),
    (
        "dependency.throttle",
        "protect",
        "50",
        "0",
        "got 0, allowed 1 to 30000",
    ),
    (
        "dependency.throttle",
        "most",
        "800",
        "991",
        "got 991, allowed 1 to 990",
    ),
    (
        "dependency.budget",
        "ratio",
        "200",
        "2000",
        "got 2000, allowed 0 to 1000",
    ),
    (
        "dependency.budget",
        "capacity_milli",
        "20000",
        "999",
        "got 999, allowed 1000 to 1000000",
    ),
    (
        "dependency.budget",
        "floor_milli",
        "500",
        "0",
        "got 0, allowed 1 to 1000000",
    ),
    (
        "dependency.budget",
        "floor_period",
        "\"1s\"",
        "\"0s\"",
        "got 0s, allowed 1ms to ",
    ),
    (
        "dependency.budget",
        "floor_period",
        "\"none\"",
        "\"1 fortnight\"",
        "\"1 fortnight\" is no time",
    ),
];

fn toml(section: &str, field: &str, value: &str) -> String {
    // An object is written as a table in one line.
    let value = value.replace("\":", "\" = ");
    format!("[{section}]\n{field} = {value}\n")
}

fn json(section: &str, field: &str, value: &str) -> String {
    let open: String = section
        .split('.')
        .map(|name| format!("{{\"{name}\":"))
        .collect();
    let close = "}".repeat(section.split('.').count());
    format!("{open}{{\"{field}\":{value}}}{close}")
}

/// Of all guarantees together the sum is wrong, of a table without a field the table.
fn path(section: &str, field: &str) -> String {
    match field {
        "guarantee" => "limiter.partitions".to_owned(),
        _ => format!("{section}.{field}"),
    }
}

#[test]
fn every_field_is_read_in_both_formats_and_a_bad_value_is_told_by_its_path_its_line_and_as_it_is_written()
 {
    for (section, field, good, bad, said) in FIELDS {
        let from_toml = Settings::parse(&toml(section, field, good), Format::Toml);
        let from_json = Settings::parse(&json(section, field, good), Format::Json);
        assert_ne!(
            from_toml,
            Ok(Settings::default()),
            "{section}.{field} changes nothing"
        );
        assert_eq!(from_toml, from_json, "{section}.{field} = {good}");

        let path = path(section, field);
        let error = Settings::parse(&toml(section, field, bad), Format::Toml).expect_err(&path);
        assert_eq!(error.path(), path, "{error}");
        let line = error.line().expect("a line");
        assert!((1..=2).contains(&line), "{error}");
        let begins = format!("{path} (line {line}): {said}");
        assert!(error.to_string().starts_with(&begins), "{error}\n{begins}");

        let error = Settings::parse(&json(section, field, bad), Format::Json).expect_err(&path);
        assert_eq!(error.path(), path, "{error}");
        assert!(error.to_string().contains(&format!(": {said}")), "{error}");
    }
}

#[test]
fn parameters_of_every_law_are_read_and_only_those_of_the_chosen_one_may_be_written() {
    let law = |name: &str, terms: &str| {
        let text = format!("[limiter]\nlaw = \"{name}\"\n[limiter.{name}]\n{terms}\n");
        let settings = Settings::parse(&text, Format::Toml);
        settings.map(|settings| settings.limiter_config().expect("checked"))
    };
    let aimd = Aimd::new()
        .without_ramp()
        .increase(2)
        .and_then(|law| law.keep(500));
    let vegas = Vegas::new().queue(2, 9).and_then(|law| law.keep(800));
    let second = Duration::from_secs(1);
    let gradient = Gradient::new()
        .tolerance(2_000)
        .and_then(|law| law.max_rtt(second));
    let knee = Knee::new().target(200).and_then(|law| law.spread(50));
    for (name, terms, expected) in [
        (
            "aimd",
            "increase = 2\nkeep = 500\nramp = false",
            aimd.map(AnyLaw::Aimd),
        ),
        (
            "vegas",
            "alpha = 2\nbeta = 9\nkeep = 800",
            vegas.map(AnyLaw::Vegas),
        ),
        (
            "gradient",
            "tolerance = 2000\nmax_rtt = \"1s\"",
            gradient.map(AnyLaw::Gradient),
        ),
        ("knee", "target = 200\nspread = 50", knee.map(AnyLaw::Knee)),
    ] {
        assert_eq!(law(name, terms), Ok(Config::new(expected.unwrap())));
        assert_eq!(
            law(name, "ramps = true").unwrap_err().path(),
            format!("limiter.{name}.ramps")
        );
    }
    for (name, terms, said) in [
        (
            "aimd",
            "keep = 1000",
            "limiter.aimd.keep (line 4): got 1000, allowed 1 to 999",
        ),
        (
            "vegas",
            "alpha = 7",
            "limiter.vegas.alpha (line 4): got 7, allowed 1 to 6: limiter.vegas.beta is 6 unless it is set",
        ),
        (
            "vegas",
            "beta = 2",
            "limiter.vegas.beta (line 4): got 2, but limiter.vegas.alpha is 3 unless it is set",
        ),
        (
            "gradient",
            "max_rtt = \"2h\"",
            "limiter.gradient.max_rtt (line 4): got 2h, allowed 1us to 1h",
        ),
    ] {
        assert_eq!(law(name, terms).unwrap_err().to_string(), said);
    }
    let other = Settings::parse(
        "limiter.law = \"aimd\"\n[limiter.knee]\ntarget = 200",
        Format::Toml,
    );
    let said = "limiter.knee (line 2): the law is another; leave it out, or choose its law";
    assert_eq!(other.unwrap_err().to_string(), said);
}

#[test]
fn a_limit_that_is_not_written_starts_within_the_bounds_that_are() {
    for (text, initial) in [
        ("min = 20", 20),
        ("max = 5", 5),
        ("min = 2\nmax = 50", 10),
        ("", 10),
    ] {
        let settings = Settings::parse(&format!("[limiter]\n{text}"), Format::Toml).unwrap();
        assert_eq!(
            settings.limiter().unwrap().snapshot().limit,
            initial,
            "{text}"
        );
    }
    let wrong = Settings::parse("[limiter]\nmin = 20\ninitial = 10", Format::Toml);
    let said = "limiter.initial (line 3): got 10, allowed 20 to 1000";
    assert_eq!(wrong.unwrap_err().to_string(), said);
}

#[test]
fn unknown_fields_are_refused_in_every_section() {
    let sections = FIELDS.iter().map(|(section, ..)| *section);
    let mut sections: Vec<_> = sections.chain(["dependency.breaker.slow_share"]).collect();
    sections.dedup();
    for section in sections {
        for error in [
            Settings::parse(&toml(section, "typo", "1"), Format::Toml),
            Settings::parse(&json(section, "typo", "1"), Format::Json),
        ] {
            let error = error.expect_err("unknown");
            assert_eq!(error.path(), format!("{section}.typo"));
            assert!(error.line().is_some(), "{error}");
            assert!(
                error.to_string().contains("unknown field `typo`"),
                "{error}"
            );
        }
    }
}

#[test]
fn text_that_is_no_toml_or_json_and_text_after_it_are_errors_and_no_panics() {
    for (text, format) in [
        ("[", Format::Toml),
        ("{", Format::Json),
        ("{} x", Format::Json),
        ("{}", Format::Toml),
    ] {
        assert!(Settings::parse(text, format).is_err(), "{text}");
    }
    assert_eq!(Settings::parse("", Format::Toml), Ok(Settings::default()));
    assert_eq!(Settings::parse("{}", Format::Json), Ok(Settings::default()));
}

#[test]
fn f97_an_empty_file_says_what_the_defaults_of_the_builders_are() {
    let config = DependencyConfig::new(Config::new(AnyLaw::Knee(Knee::new())));
    assert_eq!(Settings::default().dependency_config(), Ok(config));
}

#[test]
fn a_reload_changes_bounds_shares_and_queue_and_keeps_the_limit_that_was_learned() {
    let mut settings = Settings::default();
    let limiter = settings.limiter().unwrap();
    limiter.set_limit(40).unwrap();
    let text = "[limiter]\nmin = 2\nmax = 60\n[limiter.shares]\nbest_effort = 25\n[limiter.queue]\nlength = 1";
    settings
        .reload_limiter(text, Format::Toml, &limiter)
        .unwrap();
    let seen = limiter.snapshot();
    assert_eq!((seen.limit, seen.min, seen.max), (40, 2, 60));
    let low = Request::new().priority(Priority::BestEffort);
    let held = limiter.try_acquire_for(low).expect("one of 40");
    assert_eq!(
        limiter.try_acquire_for(low).unwrap_err().reason,
        RejectReason::ShareTaken
    );
    drop(held);

    settings
        .reload_limiter("[limiter]\nmax = 30", Format::Toml, &limiter)
        .unwrap();
    assert_eq!(limiter.snapshot().limit, 30);
    settings
        .reload_limiter("[limiter]\ninitial = 25", Format::Toml, &limiter)
        .unwrap();
    assert_eq!(limiter.snapshot().limit, 25, "set by hand");
}

#[test]
fn f64_a_reload_changes_the_budget_of_handles_that_are_out() {
    let mut settings = Settings::default();
    let store = settings.dependency().unwrap();
    let old = store.clone();
    let text = "[dependency.budget]\ncapacity_milli = 20000";
    settings
        .reload_dependency(text, Format::Toml, &store)
        .unwrap();
    for handle in [&old, &store] {
        assert_eq!(handle.snapshot().capacity.get(), 20_000);
        assert!(handle.snapshot().balance.get() <= 20_000);
    }
}

#[test]
fn a_failed_reload_leaves_everything_as_it_was() {
    let text = "[limiter]\nmax = 500\n[dependency.budget]\nratio = 300";
    let mut settings = Settings::parse(text, Format::Toml).unwrap();
    let before = settings.clone();
    let store = settings.dependency().unwrap();
    let seen = store.snapshot().limiter;
    for (section, field, _, bad, _) in FIELDS {
        // A change that works comes with the one that does not.
        let other = if section == "limiter" {
            ""
        } else {
            "[limiter]\nmax = 77\n"
        };
        let wrong = format!("{other}{}", toml(section, field, bad));
        let error = settings
            .reload_dependency(&wrong, Format::Toml, &store)
            .unwrap_err();
        assert_eq!(error.path(), path(section, field));
        assert_eq!(settings, before);
        assert_eq!(store.snapshot().limiter, seen);
    }
}

#[test]
fn what_changes_at_a_restart_only_is_refused_by_name() {
    let mut settings = Settings::default();
    let store = settings.dependency().unwrap();
    for (text, path) in [
        ("limiter.law = \"aimd\"", "limiter.law"),
        ("limiter.knee.target = 200", "limiter.knee"),
        ("limiter.windows.longest = \"2s\"", "limiter.windows"),
        ("limiter.min_samples = 11", "limiter.min_samples"),
        (
            "limiter.overload_tolerance = 21",
            "limiter.overload_tolerance",
        ),
        ("limiter.urgent_overloads = 6", "limiter.urgent_overloads"),
        (
            "limiter.partitions.writes.guarantee = 1",
            "limiter.partitions",
        ),
        ("dependency.attempts = 4", "dependency.attempts"),
        ("dependency.total = \"9s\"", "dependency.total"),
        ("dependency.timeout = \"9s\"", "dependency.timeout"),
        (
            "dependency.timeout_bounds.most = \"9s\"",
            "dependency.timeout_bounds",
        ),
        (
            "dependency.timeout_quantile.margin = 3000",
            "dependency.timeout_quantile",
        ),
        ("dependency.hedge.per_mille = 990", "dependency.hedge"),
        (
            "dependency.retry_cost_milli = 500",
            "dependency.retry_cost_milli",
        ),
        (
            "dependency.timeout_cost_milli = 500",
            "dependency.timeout_cost_milli",
        ),
        (
            "dependency.pushback_cost_milli = 500",
            "dependency.pushback_cost_milli",
        ),
        ("dependency.waiting = 9", "dependency.waiting"),
        ("dependency.backoff.base = \"9ms\"", "dependency.backoff"),
        ("dependency.breaker.probes = 9", "dependency.breaker"),
        ("dependency.throttle.on = false", "dependency.throttle"),
    ] {
        let error = settings
            .reload_dependency(text, Format::Toml, &store)
            .unwrap_err();
        assert_eq!(error.path(), path);
        let said = error.to_string();
        assert!(
            said.ends_with("change at a restart only")
                || said.ends_with("changes at a restart only")
        );
    }
}

const STORE: &str = "[limiter]\ninitial = 10\n[limiter.partitions.reads]\n[limiter.partitions.writes]\nguarantee = 300\nlend_after = \"1s\"\n";

#[test]
fn quotas_come_from_a_file_by_name_and_change_with_it() {
    let mut settings = Settings::parse(STORE, Format::Toml).unwrap();
    let store = settings.limiter().unwrap();
    let quotas = || {
        store
            .partitions()
            .iter()
            .map(|each| each.seen.quota)
            .collect::<Vec<_>>()
    };
    let write = Request::new().partition(store.partition("writes").unwrap());
    let held = store.try_acquire_for(write).unwrap();
    assert_eq!(quotas(), [0, 3]);
    let larger = STORE.replace("guarantee = 300", "guarantee = 500");
    settings
        .reload_limiter(&larger, Format::Toml, &store)
        .unwrap();
    assert_eq!(quotas(), [0, 5]);

    for (wrong, said) in [
        (
            larger.replace("= 500", "= 901"),
            "limiter.partitions (line 3): got 901, allowed 0 to 900",
        ),
        (
            larger.replace("writes", "write"),
            "limiter.partitions (line 3): names change at a restart only",
        ),
        (
            larger.replace("guarantee =", "share ="),
            "limiter.partitions.writes.share (line 5): unknown field `share`",
        ),
    ] {
        let error = settings
            .reload_limiter(&wrong, Format::Toml, &store)
            .unwrap_err();
        assert!(error.to_string().starts_with(said), "{error}");
        assert_eq!(quotas(), [0, 5]);
    }
    let other = Settings::default().limiter().unwrap();
    let error = settings
        .reload_limiter(&larger, Format::Toml, &other)
        .unwrap_err();
    assert_eq!(error.path(), "limiter.partitions.reads");
    drop(held);
    let error = settings.dependency().unwrap_err();
    assert_eq!(error.to_string(), "partitions = 2: allowed are 0 to 0");
}

#[test]
fn watching_is_switched_by_a_reload() {
    let mut settings =
        Settings::parse("[limiter]\nmax = 1\nwatch_only = true", Format::Toml).unwrap();
    let limiter = settings.limiter().unwrap();
    let held = (
        limiter.try_acquire().unwrap(),
        limiter.try_acquire().unwrap(),
    );
    assert_eq!(limiter.watched().at_limit, 1);
    settings
        .reload_limiter("[limiter]\nmax = 1", Format::Toml, &limiter)
        .unwrap();
    assert!(limiter.try_acquire().is_err());
    drop(held);

    let watching = Settings::parse("limiter.watch_only = true", Format::Toml).unwrap();
    let error = watching.dependency().unwrap_err();
    assert_eq!(error.to_string(), "watch_only = 1: allowed are 0 to 0");
}

#[test]
fn the_example_names_every_field_with_its_default() {
    let text = include_str!("../examples/defaults.toml");
    assert_eq!(
        Settings::parse(text, Format::Toml)
            .unwrap()
            .dependency_config(),
        Settings::default().dependency_config()
    );
    let mut section = "";
    let mut fields = Vec::new();
    for line in text.lines().map(|line| line.trim_start_matches("# ")) {
        match line
            .strip_prefix('[')
            .and_then(|line| line.split(']').next())
        {
            Some(name) => section = name,
            None => fields.extend(line.split_once(" =").map(|(name, _)| (section, name))),
        }
    }
    for (section, field, ..) in FIELDS {
        assert!(fields.contains(&(section, field)), "{section}.{field}");
    }
}
