//! Another text while running.

use super::fields::fields;
use super::toml;
use limiter_std::file::{Format, Settings};
use limiter_std::law::AnyLaw;
use limiter_std::{Limiter, ManualClock, Outcome, Priority, RejectReason, Request};
use std::time::Duration;

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

/// The limit after more overloads than are tolerated.
fn overloaded(limiter: &Limiter<AnyLaw, ManualClock>, clock: &ManualClock) -> u32 {
    let permits: Vec<_> = std::iter::from_fn(|| limiter.try_acquire().ok()).collect();
    clock.advance(Duration::from_secs(2));
    for permit in permits {
        permit.finish(Outcome::Overload);
    }
    limiter.snapshot().limit
}

#[test]
fn a_reload_changes_the_law_and_its_parameters_and_a_failed_one_leaves_them() {
    const TEXT: &str =
        "[limiter]\nlaw = \"aimd\"\ninitial = 100\n[limiter.aimd]\nramp = false\nkeep = 900";
    let mut settings = Settings::parse(TEXT, Format::Toml).unwrap();
    let clock = ManualClock::new();
    let limiter = Limiter::with_clock(settings.limiter_config().unwrap(), clock.clone()).unwrap();
    let mut reload = |text: &str| settings.reload_limiter(text, Format::Toml, &limiter);
    assert_eq!(overloaded(&limiter, &clock), 90);
    reload(&TEXT.replace("900", "500")).unwrap();
    assert_eq!(limiter.snapshot().limit, 90);
    assert_eq!(overloaded(&limiter, &clock), 45);

    for (wrong, said) in [
        (
            "keep = 100\nincrease = 0",
            "limiter.aimd.increase (line 7): ",
        ),
        (
            "keep = 100\n[limiter.queue]\nlength = 0",
            "limiter.queue.length (line 8): ",
        ),
        (
            "keep = 100\n[limiter.windows]\nlongest = \"2s\"",
            "limiter.windows",
        ),
        (
            "keep = 100\n[limiter.knee]\ntarget = 200",
            "limiter.knee (line 7): ",
        ),
    ] {
        let error = reload(&TEXT.replace("keep = 900", wrong)).unwrap_err();
        assert!(error.to_string().starts_with(said), "{error}");
    }
    assert_eq!(overloaded(&limiter, &clock), 22, "still half");

    // In a bad hour: it stays where it is.
    reload("limiter.law = \"fixed\"\nlimiter.initial = 100").unwrap();
    assert_eq!(overloaded(&limiter, &clock), 22);
    reload(TEXT).unwrap();
    assert_eq!(overloaded(&limiter, &clock), 19);
}

#[test]
fn a_failed_reload_leaves_everything_as_it_was() {
    let text = "[limiter]\nmax = 500\n[dependency.budget]\nratio = 300";
    let mut settings = Settings::parse(text, Format::Toml).unwrap();
    let before = settings.clone();
    let store = settings.dependency().unwrap();
    let seen = store.snapshot().limiter;
    for (section, field, _, bad, _) in fields() {
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
        assert_eq!(error.path(), format!("{section}.{field}"));
        assert_eq!(settings, before);
        assert_eq!(store.snapshot().limiter, seen);
    }
}

/// What a reload of a limiter or of a dependency changes.
const RUNNING: [&str; 9] = [
    "limiter.law",
    "limiter.initial",
    "limiter.min",
    "limiter.max",
    "limiter.beyond_may_use",
    "limiter.watch_only",
    "limiter.shares",
    "limiter.queue",
    "limiter.knee",
];

#[test]
fn every_field_changes_with_a_reload_or_is_refused_by_its_own_name() {
    for (section, field, good, ..) in fields() {
        let path = format!("{section}.{field}");
        if section.starts_with("limiter.partitions") {
            continue;
        }
        let mut settings = match section.strip_prefix("dependency.") {
            // Sections that there need not be: within them fields have names.
            Some(part @ ("hedge" | "breaker.slow_share")) => {
                let there = format!("dependency.{part} = {{ per_mille = 600, delay = \"1s\" }}");
                Settings::parse(&there, Format::Toml).unwrap()
            }
            _ => Settings::default(),
        };
        let before = settings.clone();
        let running = RUNNING.contains(&path.as_str())
            || RUNNING.contains(&section)
            || section == "dependency.budget";
        let text = toml(section, field, good);
        let done = if section.starts_with("limiter") {
            let limiter = settings.limiter().unwrap();
            settings.reload_limiter(&text, Format::Toml, &limiter)
        } else {
            let store = settings.dependency().unwrap();
            settings.reload_dependency(&text, Format::Toml, &store)
        };
        if running {
            assert_eq!(done, Ok(()), "{path}");
            assert_ne!(settings, before, "{path}");
            continue;
        }
        let error = done.expect_err(&path);
        assert_eq!(settings, before, "{path}");
        let whole = path == "dependency.breaker.slow_share";
        let of = error.mistakes().find(|mistake| mistake.path() == path);
        let of = of.unwrap_or_else(|| panic!("{path}: {error}"));
        assert_eq!(of.why(), "changes at a restart only");
        assert!(of.line().is_some() || whole, "{error}");
    }
}

#[test]
fn all_that_changes_at_a_restart_only_is_told_in_the_order_of_the_file() {
    let mut settings = Settings::default();
    let store = settings.dependency().unwrap();
    let text = "[dependency]\nattempts = 4\n[dependency.timeout_bounds]\nmost = \"9s\"\n[dependency.budget]\nratio = 50\n\
                [dependency.hedge]\n[limiter.windows]\nlongest = \"2s\"";
    let error = settings
        .reload_dependency(text, Format::Toml, &store)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "dependency.attempts (line 2): changes at a restart only\n\
         dependency.timeout_bounds.most (line 4): changes at a restart only\n\
         dependency.hedge (line 7): changes at a restart only\n\
         limiter.windows.longest (line 9): changes at a restart only"
    );
    assert_eq!(store.snapshot().capacity.get(), 10_000);
}

#[test]
fn a_file_that_says_nothing_is_no_reload_and_one_that_means_the_defaults_is() {
    let text = "[limiter]\nmax = 60";
    for (nothing, format) in [
        ("", Format::Toml),
        (" \n\t\r\n", Format::Toml),
        ("# Limits of the shop.\n\n", Format::Toml),
        ("", Format::Json),
        ("\n", Format::Json),
    ] {
        let mut settings = Settings::parse(text, Format::Toml).unwrap();
        let (limiter, store) = (settings.limiter().unwrap(), settings.dependency().unwrap());
        for error in [
            settings.reload_limiter(nothing, format, &limiter),
            settings.reload_dependency(nothing, format, &store),
        ] {
            let said = error.unwrap_err().to_string();
            assert!(said.contains("write another file and rename it"), "{said}");
        }
        assert_eq!(
            (limiter.snapshot().max, store.snapshot().limiter.max),
            (60, 60)
        );
        // At the start there is nothing to lose by it.
        if format == Format::Toml {
            assert_eq!(Settings::parse(nothing, format), Ok(Settings::default()));
        }
    }
    for (defaults, format) in [("[limiter]", Format::Toml), ("{}", Format::Json)] {
        let mut settings = Settings::parse(text, Format::Toml).unwrap();
        let limiter = settings.limiter().unwrap();
        settings.reload_limiter(defaults, format, &limiter).unwrap();
        assert_eq!(limiter.snapshot().max, 1_000);
    }
}

#[test]
fn a_reload_of_what_was_closed_says_that_it_changes_nothing() {
    let mut settings = Settings::default();
    let (limiter, store) = (settings.limiter().unwrap(), settings.dependency().unwrap());
    limiter.close();
    store.close();
    let text = "[limiter]\nmax = 60";
    let error = settings
        .reload_limiter(text, Format::Toml, &limiter)
        .unwrap_err();
    let said = "the limiter was closed, for good: nothing can change it any more";
    assert_eq!(error.to_string(), said);
    let error = settings
        .reload_dependency(text, Format::Toml, &store)
        .unwrap_err();
    assert_eq!(error.to_string(), said.replace("limiter", "dependency"));
    assert_eq!(settings, Settings::default());
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
            "limiter.partitions.writes.guarantee (line 5): got 901, allowed 0 to 900",
        ),
        (
            larger.replace("writes", "write"),
            "limiter.partitions.write (line 4): there are only reads, writes: names change at a restart only\n\
             limiter.partitions.writes: is left out, and there is this partition: names change at a restart only",
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
    let why = "the limiter has no such partition: names change at a restart only";
    let said = format!(
        "limiter.partitions.reads (line 3): {why}\nlimiter.partitions.writes (line 4): {why}"
    );
    assert_eq!(error.to_string(), said);
    drop(held);
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
}
