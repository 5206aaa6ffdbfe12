//! What is counted, and what a monitor tells.

#[path = "../common/mod.rs"]
mod common;
mod told;

use common::fixed;
use limiter_std::law::Fixed;
use limiter_std::telemetry::{Edge, Event, Monitor, Observer, Seen};
use limiter_std::{
    Breaker, BreakerConfig, CallOptions, Config, Dependency, DependencyConfig, Ending, Guarantee,
    Limiter, ManualClock, Outcome, Partitions, Priority, RejectReason, Request,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// Looks, after a tenth of a second, and returns what began or was over.
struct Looker {
    monitor: Monitor,
    clock: ManualClock,
    heard: mpsc::Receiver<(String, Edge)>,
}

impl Looker {
    fn new(clock: &ManualClock) -> Self {
        let (tell, heard) = mpsc::channel();
        let monitor = Monitor::new();
        monitor.observe(move |event: &Event<'_>| {
            let _ = tell.send((event.source.to_owned(), event.edge));
        });
        Self {
            monitor,
            clock: clock.clone(),
            heard,
        }
    }

    fn look(&self) -> Vec<&'static str> {
        self.edges().iter().map(Edge::name).collect()
    }

    fn words(&self) -> Vec<String> {
        self.edges().iter().map(Edge::to_string).collect()
    }

    fn edges(&self) -> Vec<Edge> {
        self.clock.advance(Duration::from_millis(100));
        self.monitor.look();
        self.heard.try_iter().map(|(_, edge)| edge).collect()
    }
}

/// The first look of a thread of its own comes when it comes.
#[test]
fn what_is_refused_between_the_registration_and_the_first_look_is_told() {
    let (limiter, clock) = fixed(1);
    let held = limiter.try_acquire().unwrap();
    assert!(limiter.try_acquire().is_err(), "before it was looked at");
    let looker = Looker::new(&clock);
    looker.monitor.limiter("api", &limiter);
    let quiet = Looker::new(&clock);
    quiet.monitor.limiter("api", &limiter);
    assert!(!quiet.look().contains(&"shedding"), "no news");
    for _ in 0..5 {
        assert!(limiter.try_acquire().is_err());
    }
    assert!(looker.look().contains(&"shedding"));
    drop(held);
}

#[test]
fn everything_that_became_of_a_request_is_counted_once() {
    let (limiter, _) = fixed(4);
    let permits = || limiter.try_acquire().unwrap();
    permits().finish(Outcome::Success);
    permits().finish(Outcome::Overload);
    permits().finish(Outcome::Failure);
    permits().finish(Outcome::Ignored);
    drop(permits());
    let hold = permits().into_hold();
    hold.record(Outcome::Success, hold.now());
    hold.record(Outcome::Failure, hold.now());
    drop(hold);
    permits().forget();
    let counts = limiter.counts();
    assert_eq!(counts.admitted, 7);
    assert_eq!((counts.succeeded, counts.overloaded), (2, 1));
    assert_eq!((counts.failed, counts.ignored, counts.cancelled), (1, 1, 1));
    assert_eq!(counts.refused.total(), 0);
}

#[test]
fn each_refusal_is_counted_by_its_reason_and_a_wait_that_ends_well_is_none() {
    let clock = ManualClock::new();
    let config = Config::new(Fixed).initial(1).queue_length(1);
    let limiter = Limiter::with_clock(config, clock.clone()).unwrap();
    let held = limiter.try_acquire().unwrap();
    let _ = limiter.try_acquire();
    let _ = limiter.try_acquire_for(Request::new().weight(0));
    let _ = limiter.try_acquire_for(Request::new().priority(Priority::Batch).weight(9_999));
    let mut waits = limiter.acquire_async();
    assert!(common::poll(&mut waits, std::task::Waker::noop()).is_pending());
    let mut second = limiter.acquire_async();
    assert!(common::poll(&mut second, std::task::Waker::noop()).is_ready());
    let _ = limiter.try_acquire();
    drop(held);
    assert!(common::poll(&mut waits, std::task::Waker::noop()).is_ready());
    limiter.close();
    let _ = limiter.acquire();
    let refused = limiter.counts().refused;
    let expected = [
        ("at_limit", 2),
        ("queue_full", 1),
        ("zero_weight", 1),
        ("too_heavy", 1),
        ("closed", 1),
    ];
    for (reason, count) in expected {
        let found = refused
            .by_reason()
            .into_iter()
            .find(|(name, _)| *name == reason);
        assert_eq!(found, Some((reason, count)));
    }
    assert_eq!(refused.total(), 6);
    assert_eq!(limiter.counts().admitted, 2);
}

#[test]
fn what_gets_no_slot_in_its_time_is_refused_as_timed_out() {
    let limiter = Limiter::try_new(Config::new(Fixed).initial(1)).unwrap();
    let held = limiter.try_acquire().unwrap();
    let refused = limiter
        .acquire_timeout(Duration::from_nanos(1))
        .unwrap_err();
    assert_eq!(refused.reason, RejectReason::TimedOut);
    assert_eq!(limiter.counts().refused.timed_out, 1);
    drop(held);
}

#[test]
fn where_not_all_are_timed_admissions_and_successes_are_counted_within_a_hundredth() {
    let clock = ManualClock::new();
    let limiter = Limiter::with_clock(Config::new(Fixed).initial(10), clock.clone()).unwrap();
    for _ in 0..200_000_u64 {
        let permit = limiter.try_acquire().unwrap();
        clock.advance(Duration::from_micros(10));
        permit.finish(Outcome::Success);
    }
    let counts = limiter.counts();
    assert!(counts.admitted.abs_diff(200_000) < 2_000, "{counts:?}");
    assert!(counts.succeeded.abs_diff(200_000) < 2_000, "{counts:?}");
}

#[test]
fn the_queue_is_told_before_the_first_refusal_and_each_edge_once() {
    let clock = ManualClock::new();
    let looker = Looker::new(&clock);
    let limiter = Limiter::with_clock(Config::new(Fixed).initial(20), clock.clone()).unwrap();
    looker.monitor.limiter("api", &limiter);
    let mut held: Vec<_> = (0..17).map(|_| limiter.try_acquire().unwrap()).collect();
    assert_eq!(looker.look(), [""; 0]);
    held.extend((17..19).map(|_| limiter.try_acquire().unwrap()));
    assert_eq!(looker.look(), ["queue_building"]);
    held.push(limiter.try_acquire().unwrap());
    for _ in 0..1_000 {
        assert!(limiter.try_acquire().is_err());
    }
    assert_eq!(looker.look(), ["shedding"]);
    let mut later = Vec::new();
    for _ in 0..50 {
        assert!(limiter.try_acquire().is_err());
        later.extend(looker.look());
    }
    assert_eq!(later, ["saturated"]);
    held.clear();
    for _ in 0..60 {
        later.extend(looker.look());
    }
    assert_eq!(later, ["saturated", "recovered"]);
}

#[test]
fn a_limit_that_was_nearly_reached_between_two_looks_is_told_at_the_next() {
    let clock = ManualClock::new();
    let looker = Looker::new(&clock);
    let limiter = Limiter::with_clock(Config::new(Fixed).initial(2), clock.clone()).unwrap();
    looker.monitor.limiter("api", &limiter);
    assert_eq!(looker.look(), [""; 0]);
    drop([limiter.try_acquire(), limiter.try_acquire()]);
    assert_eq!(looker.look(), ["queue_building"]);
}

#[test]
fn f99_f100_the_peak_of_an_instant_is_seen_and_an_idle_limiter_shows_none() {
    let clock = ManualClock::new();
    let looker = Looker::new(&clock);
    let limiter = Limiter::with_clock(Config::new(Fixed).initial(5), clock.clone()).unwrap();
    looker.monitor.limiter("api", &limiter);
    let all: Vec<_> = (0..6).map(|_| limiter.try_acquire()).collect();
    drop(all);
    let seen = || {
        looker.look();
        looker.monitor.seen().remove(0).1
    };
    let first = seen();
    assert_eq!(first.limiter.unwrap().peak, 5);
    assert_eq!(first.requests.unwrap().refused.at_limit, 1);
    assert_eq!(seen().limiter.unwrap().peak, 0);
}

#[test]
fn a_limit_that_falls_to_what_is_in_flight_is_told_also_when_those_have_left_by_the_next_look() {
    let (limiter, clock) = fixed(10);
    let looker = Looker::new(&clock);
    looker.monitor.limiter("api", &limiter);
    let held: Vec<_> = (0..5).map(|_| limiter.try_acquire().unwrap()).collect();
    assert_eq!(looker.look(), [""; 0]);
    limiter.set_limit(5).unwrap();
    drop(held);
    assert_eq!(looker.look(), ["queue_building", "limit_moved"]);
}

#[test]
fn guarantees_that_nobody_uses_are_no_queue() {
    let clock = ManualClock::new();
    let looker = Looker::new(&clock);
    let partitions = Partitions::new().partition("writes", Guarantee::of(500));
    let config = Config::new(Fixed).initial(10);
    let limiter = Limiter::partitioned_with_clock(config, &partitions, clock.clone()).unwrap();
    looker.monitor.limiter("api", &limiter);
    assert_eq!(looker.look(), [""; 0]);
    drop(limiter.try_acquire().unwrap());
    assert_eq!(looker.look(), [""; 0]);
    let writes = limiter.partition("writes").unwrap();
    let write = || {
        limiter
            .try_acquire_for(Request::new().partition(writes))
            .unwrap()
    };
    let all: Vec<_> = (0..10).map(|_| write()).collect();
    assert_eq!(looker.look(), ["queue_building"]);
    drop(all);
}

#[test]
fn a_monitor_in_a_thread_is_woken_by_the_limiter() {
    let (limiter, _) = fixed(1);
    let (tell, heard) = mpsc::channel();
    let monitor = Monitor::new();
    monitor
        .limiter("api", &limiter)
        .observe(move |event: &Event<'_>| {
            let _ = tell.send(event.edge);
        });
    let running = monitor.start().unwrap();
    let permit = limiter.try_acquire().unwrap();
    assert!(matches!(heard.recv().unwrap(), Edge::QueueBuilding { .. }));
    assert!(limiter.try_acquire().is_err());
    assert!(matches!(heard.recv().unwrap(), Edge::Shedding { .. }));
    drop((permit, running));
}

#[test]
fn a_dependency_tells_of_its_breaker_and_of_its_budget() {
    let clock = ManualClock::new();
    let looker = Looker::new(&clock);
    let breaker = BreakerConfig::new().consecutive(Some(3));
    let config = DependencyConfig::default().breaker(breaker).attempts(1);
    let store = Dependency::with_clock(config, clock.clone(), 7).unwrap();
    looker.monitor.dependency("store", &store);
    assert_eq!(looker.look(), [""; 0]);
    let judge = |_: Result<&(), &()>| Ending::failure();
    for _ in 0..3 {
        let _ = store.call(CallOptions::new(), judge, |_| Err::<(), _>(()));
    }
    assert_eq!(looker.look(), ["breaker_opened"]);
    let _ = store.call(CallOptions::new(), judge, |_| Err::<(), _>(()));
    // No slot is missing: what is refused is the breaker's doing.
    assert_eq!(looker.look(), ["shedding"]);
    while store.budget().withdraw(limiter_std::Tokens::ONE).is_ok() {}
    assert_eq!(looker.look(), ["budget_empty"]);
    clock.advance(Duration::from_secs(3_600));
    let over = looker.look();
    for edge in ["breaker_half_open", "recovered", "budget_covers"] {
        assert!(over.contains(&edge), "{over:?}");
    }
}

#[test]
fn what_nobody_has_any_more_disappears_and_what_is_forgotten_too() {
    let clock = ManualClock::new();
    let looker = Looker::new(&clock);
    let names = || {
        looker.look();
        let seen = looker.monitor.seen().into_iter();
        seen.map(|(name, _)| name).collect::<Vec<_>>()
    };
    let (one, other) = (Limiter::default(), Limiter::default());
    let breaker = Breaker::try_new(BreakerConfig::new()).unwrap();
    looker.monitor.limiter("one", &one).limiter("other", &other);
    looker.monitor.breaker("breaker", &breaker);
    assert_eq!(names(), ["one", "other", "breaker"]);
    drop(one);
    assert_eq!(names(), ["other", "breaker"]);
    looker.monitor.forget("other");
    assert_eq!(names(), ["breaker"]);
}

#[test]
fn a_name_that_is_given_again_is_that_of_the_new_one() {
    let monitor = Monitor::new();
    let (first, _) = fixed(1);
    let (second, _) = fixed(2);
    monitor.limiter("api", &first).limiter("api", &second);
    monitor.look();
    let [(_, seen)] = &monitor.seen()[..] else {
        panic!("{monitor:?}")
    };
    assert_eq!(seen.limiter.unwrap().snapshot.limit, 2);
}

/// Panics when it is told anything.
struct Panics(Arc<AtomicUsize>);

impl Observer for Panics {
    fn edge(&mut self, _: &Event<'_>) {}

    fn seen(&mut self, _: &str, _: &Seen) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("on purpose");
    }
}

#[test]
fn an_observer_that_panics_is_not_called_again_and_the_others_are() {
    let (limiter, _) = fixed(1);
    let calls = Arc::new(AtomicUsize::new(0));
    let heard = Arc::new(Mutex::new(0));
    let count = Arc::clone(&heard);
    let monitor = Monitor::new();
    monitor
        .limiter("api", &limiter)
        .observe(Panics(Arc::clone(&calls)))
        .observe(move |_: &Event<'_>| *count.lock().unwrap() += 1);
    monitor.look();
    let permit = limiter.try_acquire();
    monitor.look();
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(*heard.lock().unwrap(), 1);
    drop(permit);
}

#[test]
fn an_observer_may_use_its_monitor() {
    let (limiter, _) = fixed(1);
    let monitor = Monitor::new();
    let inner = monitor.clone();
    monitor
        .limiter("api", &limiter)
        .observe(move |event: &Event<'_>| {
            inner.look();
            inner.observe(|_: &Event<'_>| ());
            inner.forget(event.source);
            assert!(inner.seen().is_empty());
        });
    let _permit = limiter.try_acquire();
    monitor.look();
    monitor.look();
    assert!(monitor.seen().is_empty());
}
