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

#[test]
fn what_changes_at_a_restart_only_is_refused_by_name() {
    let mut settings = Settings::default();
    let store = settings.dependency().unwrap();
    for (text, path) in [
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
            "limiter.partitions.writes.guarantee (line 5): got 901, allowed 0 to 900",
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
