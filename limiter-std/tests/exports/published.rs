//! What the feature `metrics` publishes.

use crate::recorder::Kept;
use limiter_std::law::Fixed;
use limiter_std::telemetry::metrics::{ALL, Kind};
use limiter_std::telemetry::{Edge, Metrics, Monitor};
use limiter_std::{
    Breaker, BreakerConfig, CallOptions, Config, Dependency, Ending, Guarantee, Limiter, Outcome,
    Partitions, Request,
};
use std::collections::BTreeSet;
use std::time::Duration;

/// A limiter, a dependency and a breaker in use, looked at twice.
fn published() -> Kept {
    let kept = Kept::default();
    metrics::with_local_recorder(&kept, || {
        let limiter = Limiter::try_new(Config::new(Fixed).initial(2)).unwrap();
        let (store, breaker) = (
            Dependency::default(),
            Breaker::try_new(BreakerConfig::new()),
        );
        let monitor = Monitor::new();
        monitor.limiter("api", &limiter).dependency("store", &store);
        monitor.breaker("alone", &breaker.unwrap());
        let partitions = Partitions::new().partition("writes", Guarantee::of(500));
        let parted = Limiter::partitioned(Config::new(Fixed).initial(4), &partitions).unwrap();
        monitor.limiter("parted", &parted);
        let write = Request::new().partition(parted.partition("writes").unwrap());
        parted
            .try_acquire_for(write)
            .unwrap()
            .finish(Outcome::Failure);
        let config = Config::new(Fixed).initial(1).watch_only(true);
        let watching = Limiter::try_new(config).unwrap();
        monitor.limiter("watching", &watching);
        monitor.look();
        let through = [
            watching.try_acquire().unwrap(),
            watching.try_acquire().unwrap(),
        ];
        limiter.try_acquire().unwrap().finish(Outcome::Overload);
        let held = [limiter.try_acquire(), limiter.try_acquire()];
        assert!(limiter.try_acquire().is_err());
        let judge = |_: Result<&(), &()>| Ending::success();
        store.call(CallOptions::new(), judge, |_| Ok(())).unwrap();
        let busy = |_: Result<&(), &()>| Ending::refused().retry_after(Duration::from_secs(2));
        let once = CallOptions::new().attempts(1);
        store.call(once, busy, |_| Err::<(), _>(())).unwrap_err();
        monitor.observe(Metrics::new()).look();
        drop((held, through));
    });
    kept
}

#[test]
fn what_happened_is_published_under_the_name_of_its_source() {
    let kept = published();
    for (name, label, value) in [
        ("limiter_limit", None, 2.0),
        ("limiter_inflight", None, 2.0),
        ("limiter_admitted_total", None, 3.0),
        ("limiter_refused_total", Some(("reason", "at_limit")), 1.0),
        ("limiter_refused_total", Some(("reason", "queue_full")), 0.0),
        ("limiter_outcomes_total", Some(("outcome", "overload")), 1.0),
        ("limiter_state", Some(("state", "shedding")), 1.0),
        ("limiter_state", Some(("state", "budget_empty")), 0.0),
        ("limiter_edges_total", Some(("edge", "queue_building")), 1.0),
    ] {
        let labels: Vec<_> = [("limiter", "api")].into_iter().chain(label).collect();
        assert_eq!(kept.value(name, &labels), Some(value), "{name} {label:?}");
    }
    for (name, label, value) in [
        ("limiter_refused_total", ("reason", "at_limit"), 0.0),
        ("limiter_would_refuse_total", ("reason", "at_limit"), 1.0),
        (
            "limiter_would_refuse_total",
            ("reason", "partition_full"),
            0.0,
        ),
        ("limiter_state", ("state", "watches_only"), 1.0),
        ("limiter_state", ("state", "would_shed"), 1.0),
        ("limiter_state", ("state", "shedding"), 0.0),
    ] {
        let labels = [("limiter", "watching"), label];
        assert_eq!(kept.value(name, &labels), Some(value), "{name} {label:?}");
    }
    let idle = kept.value("limiter_idle", &[("limiter", "parted")]);
    assert_eq!(idle, Some(2.0));
    let first = [("limiter", "store"), ("kind", "first")];
    assert_eq!(kept.value("limiter_attempts_total", &first), Some(2.0));
    let store = [("limiter", "store")];
    let refusals = kept.value("limiter_attempt_refusals_total", &store);
    assert_eq!(refusals, Some(1.0));
    for (name, value) in [
        ("limiter_partition_quota", 2.0),
        ("limiter_partition_inflight", 0.0),
        ("limiter_partition_failed_total", 1.0),
    ] {
        let writes = [("limiter", "parted"), ("partition", "writes")];
        assert_eq!(kept.value(name, &writes), Some(value), "{name}");
    }
    let closed = [("limiter", "alone"), ("state", "closed")];
    assert_eq!(kept.value("limiter_breaker_state", &closed), Some(1.0));
}

#[test]
fn what_is_listed_is_described_and_published_with_its_labels_and_nothing_else_is() {
    let kept = published();
    let values = kept.values.lock().unwrap();
    let published: BTreeSet<_> = values
        .keys()
        .map(|(name, labels)| {
            let mut keys = labels.iter().map(|(key, _)| key.as_str());
            assert_eq!(keys.next(), Some("limiter"), "{name}");
            let label = keys.next().map(str::to_owned);
            assert_eq!(keys.next(), None, "{name}");
            (name.clone(), label)
        })
        .collect();
    let listed: BTreeSet<_> = ALL
        .iter()
        .map(|metric| (metric.name.to_owned(), metric.label.map(str::to_owned)))
        .collect();
    assert_eq!(published, listed);
    let described = kept.described.lock().unwrap();
    let as_listed = ALL
        .iter()
        .map(|metric| (metric.name.to_owned(), metric.kind));
    assert_eq!(*described, as_listed.collect());
}

#[test]
fn names_are_those_of_prometheus_conventions() {
    for metric in ALL {
        let counts = metric.name.ends_with("_total");
        assert_eq!(counts, metric.kind == Kind::Counter, "{}", metric.name);
        let sign = |sign: char| sign.is_ascii_lowercase() || sign == '_';
        assert!(metric.name.chars().all(sign), "{}", metric.name);
    }
}

#[test]
fn a_label_has_few_values_whatever_is_asked_for() {
    let kept = published();
    let values = kept.values.lock().unwrap();
    // Five sources, and no label with more values than there are reasons.
    let most = limiter_std::RefusedCounts::REASONS.max(Edge::NAMES.len());
    for metric in ALL {
        let series = values
            .keys()
            .filter(|(name, _)| name == metric.name)
            .count();
        assert!(series <= 5 * most, "{}: {series}", metric.name);
    }
}

/// One that takes the name of another goes on where that one ended, also when it has counted less.
#[test]
fn counters_go_on_under_a_name_that_another_takes_and_gauges_of_what_is_gone_are_zero() {
    let kept = Kept::default();
    let api = [("limiter", "api")];
    let value = |name| kept.value(name, &api).unwrap();
    metrics::with_local_recorder(&kept, || {
        let monitor = Monitor::new();
        monitor.observe(Metrics::new());
        let full = |times: usize| {
            let limiter = Limiter::try_new(Config::new(Fixed).initial(1)).unwrap();
            monitor.limiter("api", &limiter);
            for _ in 0..times {
                let held = limiter.try_acquire().unwrap();
                assert!(limiter.try_acquire().is_err());
                held.finish(Outcome::Success);
            }
            let held = limiter.try_acquire().unwrap();
            monitor.look();
            assert_eq!(value("limiter_inflight"), 1.0);
            drop(held);
            limiter
        };
        drop(full(9));
        assert_eq!(value("limiter_admitted_total"), 10.0);
        let second = full(4);
        assert_eq!(value("limiter_admitted_total"), 15.0);
        let refused = [("limiter", "api"), ("reason", "at_limit")];
        let counted = kept.value("limiter_refused_total", &refused);
        assert_eq!(counted, Some(13.0));
        let state = [("limiter", "api"), ("state", "shedding")];
        assert_eq!(kept.value("limiter_state", &state), Some(1.0));
        drop(second);
        monitor.look();
        assert_eq!(value("limiter_limit"), 0.0);
        assert_eq!(kept.value("limiter_state", &state), Some(0.0));
        assert_eq!(value("limiter_admitted_total"), 15.0);
    });
}
