//! What a monitor says, in words.

use crate::Looker;
use crate::common::fixed;
use limiter_std::law::Fixed;
use limiter_std::telemetry::{Event, Monitor, Observer, Seen};
use limiter_std::{
    CallOptions, Config, Dependency, DependencyConfig, Ending, Guarantee, Limiter, ManualClock,
    Partitions, Priority, Request,
};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn a_limiter_that_only_watches_says_so_and_what_it_lets_through_is_no_refusal() {
    let clock = ManualClock::new();
    let looker = Looker::new(&clock);
    let config = Config::new(Fixed).initial(1).watch_only(true);
    let limiter = Limiter::with_clock(config, clock.clone()).unwrap();
    looker.monitor.limiter("api", &limiter);
    assert_eq!(looker.words(), ["only watches: refuses nobody"]);
    let both = [
        limiter.try_acquire().unwrap(),
        limiter.try_acquire().unwrap(),
    ];
    assert_eq!(
        looker.words(),
        [
            "limit nearly reached: 1 in flight, limit 1",
            "would refuse, but only watches: at_limit, 1 in flight, limit 1",
        ]
    );
    let seen = looker.monitor.seen().remove(0).1;
    assert!(seen.watches_only && seen.overload.would_shed && !seen.overload.shedding);
    assert_eq!(seen.watched.map(|watched| watched.at_limit), Some(1));
    assert_eq!(limiter.counts().refused.total(), 0, "nobody was refused");

    limiter.set_watch_only(false);
    assert!(limiter.try_acquire().is_err());
    assert_eq!(
        looker.words(),
        [
            "enforces: refuses what it only watched",
            "refusing: at_limit, 1 in flight, limit 1",
        ]
    );
    drop(both);
    clock.advance(Duration::from_secs(600));
    assert_eq!(
        looker.words(),
        [
            "recovered: refused 1, and would have refused 1 while it only watched, in 600.2s and stopped"
        ]
    );
}

#[test]
fn what_is_guaranteed_and_idle_is_told_apart_from_what_is_in_flight() {
    let clock = ManualClock::new();
    let looker = Looker::new(&clock);
    let partitions = Partitions::new()
        .partition("reads", Guarantee::NONE)
        .partition("writes", Guarantee::of(300));
    let config = Config::new(Fixed).initial(10);
    let limiter = Limiter::partitioned_with_clock(config, &partitions, clock.clone()).unwrap();
    looker.monitor.limiter("api", &limiter);
    assert_eq!(looker.look(), [""; 0]);
    let read = Request::new().partition(limiter.partition("reads").unwrap());
    let held: Vec<_> = std::iter::from_fn(|| limiter.try_acquire_for(read).ok()).collect();
    let slots = "7 in flight, 3 idle of what is guaranteed to partitions, limit 10";
    assert_eq!(
        looker.words(),
        [
            format!("limit nearly reached: {slots}"),
            format!("refusing: partition_full, {slots}"),
        ]
    );
    let seen = looker.monitor.seen().remove(0).1.limiter.unwrap();
    assert_eq!((seen.snapshot.inflight, seen.snapshot.idle), (7, 3));
    // All that others may use is in use.
    let later = (0..150).flat_map(|_| {
        clock.advance(Duration::from_millis(200));
        looker.look()
    });
    assert!(later.collect::<Vec<_>>().contains(&"saturated"));
    let seen = looker.monitor.seen().remove(0).1.limiter.unwrap();
    assert!(seen.utilisation > 850, "{}", seen.utilisation);
    drop(held);
}

#[test]
fn who_asks_for_more_than_its_share_is_no_sign_of_a_full_limit() {
    let (limiter, clock) = fixed(10);
    let looker = Looker::new(&clock);
    looker.monitor.limiter("api", &limiter);
    let low = Request::new().priority(Priority::BestEffort);
    let held: Vec<_> = std::iter::from_fn(|| limiter.try_acquire_for(low).ok()).collect();
    assert_eq!(
        looker.words(),
        ["refusing: share_taken, 5 in flight, limit 10"]
    );
    drop(held);
}

#[test]
fn a_closed_limiter_says_so_before_it_says_that_it_refuses() {
    let (limiter, clock) = fixed(1);
    let looker = Looker::new(&clock);
    looker.monitor.limiter("api", &limiter);
    looker.look();
    limiter.close();
    assert!(limiter.try_acquire().is_err());
    let words = looker.words();
    assert_eq!(words, ["closed", "refusing: closed, 0 in flight, limit 0"]);
}

#[test]
fn a_dependency_that_refuses_by_a_limit_of_its_own_is_not_calm() {
    let clock = ManualClock::new();
    let looker = Looker::new(&clock);
    let store = Dependency::with_clock(DependencyConfig::default(), clock.clone(), 7).unwrap();
    looker.monitor.dependency("store", &store);
    assert_eq!(looker.look(), [""; 0]);
    let busy = |_: Result<&(), &()>| Ending::refused().retry_after(Duration::from_secs(2));
    let once = CallOptions::new().attempts(1);
    store.call(once, busy, |_| Err::<(), _>(())).unwrap_err();
    assert_eq!(
        looker.words(),
        ["the dependency refuses by a limit of its own"]
    );
    assert!(looker.monitor.seen()[0].1.overload.dependency_refuses);
    clock.advance(Duration::from_secs(5));
    assert_eq!(looker.words(), ["the dependency refuses no more"]);
}

/// Keeps what it was told: of what, and whether it is there.
struct Kept(Arc<Mutex<Vec<String>>>);

impl Observer for Kept {
    fn edge(&mut self, _: &Event<'_>) {}

    fn seen(&mut self, source: &str, _: &Seen) {
        self.0.lock().unwrap().push(format!("{source} seen"));
    }

    fn gone(&mut self, source: &str) {
        self.0.lock().unwrap().push(format!("{source} gone"));
    }
}

#[test]
fn what_is_gone_forgotten_or_replaced_is_told_once_and_before_what_takes_its_name() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let monitor = Monitor::new();
    monitor.observe(Kept(Arc::clone(&told)));
    let look = || {
        monitor.look();
        core::mem::take(&mut *told.lock().unwrap())
    };
    let [a, b, c, d] = [(); 4].map(|()| fixed(1).0);
    monitor.limiter("a", &a).limiter("b", &b).limiter("c", &c);
    assert_eq!(look(), ["a seen", "b seen", "c seen"]);
    drop(a);
    monitor.limiter("b", &d);
    monitor.forget("c");
    // Never seen.
    monitor.limiter("e", &c);
    monitor.forget("e");
    assert_eq!(look(), ["b gone", "c gone", "a gone", "b seen"]);
    assert_eq!(look(), ["b seen"]);
}
