//! Settings from a file, and from another one while running.

use limiter_std::file::{Format, Settings};
use limiter_std::law::{AnyLaw, Knee};
use limiter_std::{Config, Dependency, DependencyConfig, Limiter, Priority, RejectReason, Request};

/// Each field with a value that works and one that does not, and what is said of it.
const FIELDS: [(&str, &str, &str, &str, &str); 24] = [
    (
        "limiter",
        "law",
        "\"aimd\"",
        "\"magic\"",
        "limiter.law: unknown variant `magic`",
    ),
    (
        "limiter",
        "initial",
        "20",
        "0",
        "limiter.initial: got 0, allowed 1..=1000",
    ),
    (
        "limiter",
        "min",
        "5",
        "11",
        "limiter.initial: got 10, allowed 11..=1000",
    ),
    (
        "limiter",
        "min",
        "5",
        "0",
        "limiter.min: got 0, allowed 1..=1000",
    ),
    (
        "limiter",
        "max",
        "50",
        "0",
        "limiter.max: got 0, allowed 1..=",
    ),
    (
        "limiter",
        "min_samples",
        "20",
        "0",
        "limiter.min_samples: got 0, allowed 1..=16777216",
    ),
    (
        "limiter",
        "overload_tolerance",
        "30",
        "1001",
        "limiter.overload_tolerance: got 1001, allowed 0..=1000",
    ),
    (
        "limiter",
        "urgent_overloads",
        "9",
        "0",
        "limiter.urgent_overloads: got 0, allowed 1..=16777216",
    ),
    (
        "limiter.windows",
        "shortest",
        "\"20ms\"",
        "\"2s\"",
        "limiter.windows.shortest: got 2000000000, allowed 0..=1000000000",
    ),
    (
        "limiter.windows",
        "longest",
        "\"2s\"",
        "\"0s\"",
        "limiter.windows.longest: got 0, allowed 1..=",
    ),
    (
        "limiter.shares",
        "interactive",
        "800",
        "1001",
        "limiter.shares.interactive: got 1001, allowed 1..=1000",
    ),
    (
        "limiter.shares",
        "batch",
        "800",
        "901",
        "limiter.shares.batch: got 901, allowed 1..=900",
    ),
    (
        "limiter.shares",
        "best_effort",
        "100",
        "0",
        "limiter.shares.best_effort: got 0, allowed 1..=700",
    ),
    (
        "limiter.queue",
        "length",
        "5",
        "0",
        "limiter.queue.length: got 0, allowed 1..=1048576",
    ),
    (
        "limiter.queue",
        "longest_wait",
        "\"3s\"",
        "\"0s\"",
        "limiter.queue.longest_wait: got 0, allowed 1..=",
    ),
    (
        "limiter.queue",
        "longest_wait",
        "\"3s\"",
        "\"soon\"",
        "limiter.queue.longest_wait: ",
    ),
    (
        "limiter.queue",
        "target",
        "\"1ms\"",
        "\"0s\"",
        "limiter.queue.target: got 0, allowed 1..=",
    ),
    (
        "limiter.queue",
        "interval",
        "\"1s\"",
        "\"0s\"",
        "limiter.queue.interval: got 0, allowed 1..=",
    ),
    (
        "dependency",
        "attempts",
        "5",
        "0",
        "dependency.attempts: got 0, allowed 1..=1000",
    ),
    (
        "dependency",
        "total",
        "\"3s\"",
        "\"0s\"",
        "dependency.total: got 0, allowed 1..=",
    ),
    (
        "dependency.budget",
        "ratio",
        "200",
        "2000",
        "dependency.budget.ratio: got 2000, allowed 0..=1000",
    ),
    (
        "dependency.budget",
        "capacity_milli",
        "20000",
        "999",
        "dependency.budget.capacity_milli: got 999, allowed 1000..=1000000",
    ),
    (
        "dependency.budget",
        "floor_milli",
        "500",
        "0",
        "dependency.budget.floor_milli: got 0, allowed 1..=1000000",
    ),
    (
        "dependency.budget",
        "floor_period",
        "\"1s\"",
        "\"0s\"",
        "dependency.budget.floor_period: got 0, allowed 1..=500000000",
    ),
];

fn toml(section: &str, field: &str, value: &str) -> String {
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

#[test]
fn every_field_is_read_in_both_formats_and_a_bad_value_is_told_by_its_path() {
    for (section, field, good, bad, said) in FIELDS {
        let from_toml = Settings::parse(&toml(section, field, good), Format::Toml);
        let from_json = Settings::parse(&json(section, field, good), Format::Json);
        assert_ne!(
            from_toml,
            Ok(Settings::default()),
            "{section}.{field} changes nothing"
        );
        assert_eq!(from_toml, from_json);
        for wrong in [
            Settings::parse(&toml(section, field, bad), Format::Toml),
            Settings::parse(&json(section, field, bad), Format::Json),
        ] {
            let error = wrong.expect_err(field).to_string();
            assert!(error.starts_with(said), "{error}\n{said}");
        }
    }
}

#[test]
fn unknown_fields_are_refused_in_every_section() {
    for section in [
        "limiter",
        "limiter.windows",
        "limiter.shares",
        "limiter.queue",
        "dependency",
        "dependency.budget",
    ] {
        for error in [
            Settings::parse(&toml(section, "typo", "1"), Format::Toml),
            Settings::parse(&json(section, "typo", "1"), Format::Json),
        ] {
            let error = error.expect_err("unknown");
            assert_eq!(error.path(), format!("{section}.typo"));
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
    assert_eq!(Settings::default().dependency_config(), config);
}

#[test]
fn a_reload_changes_bounds_shares_and_queue_and_keeps_the_limit_that_was_learned() {
    let mut settings = Settings::default();
    let limiter = Limiter::try_new(settings.limiter_config()).unwrap();
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
    let store = Dependency::try_new(settings.dependency_config()).unwrap();
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
    let store = Dependency::try_new(settings.dependency_config()).unwrap();
    let seen = store.snapshot().limiter;
    for (section, field, _, bad, said) in FIELDS {
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
        assert_eq!(error.path(), said.split(": ").next().unwrap());
        assert_eq!(settings, before);
        assert_eq!(store.snapshot().limiter, seen);
    }
}

#[test]
fn what_changes_at_a_restart_only_is_refused_by_name() {
    let mut settings = Settings::default();
    let store = Dependency::try_new(settings.dependency_config()).unwrap();
    for (text, path) in [
        ("limiter.law = \"aimd\"", "limiter.law"),
        ("limiter.windows.longest = \"2s\"", "limiter.windows"),
        ("limiter.min_samples = 11", "limiter.min_samples"),
        (
            "limiter.overload_tolerance = 21",
            "limiter.overload_tolerance",
        ),
        ("limiter.urgent_overloads = 6", "limiter.urgent_overloads"),
        ("dependency.attempts = 4", "dependency.attempts"),
        ("dependency.total = \"9s\"", "dependency.total"),
    ] {
        let error = settings
            .reload_dependency(text, Format::Toml, &store)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{path}: changes at a restart only")
        );
    }
}
