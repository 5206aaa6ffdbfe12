//! A limiter that only watches: it decides and counts as one that enforces, and refuses nobody.

mod common;

use common::{Fixture, Taken, Task, assert_idle, fixed, with};
use limiter_std::law::{Aimd, Fixed};
use limiter_std::{
    Caller, Config, Guarantee, Limiter, ManualClock, Outcome, Partitions, Permit, Priority,
    RejectReason, Request,
};
use proptest::prelude::*;
use std::task::Poll;
use std::time::Duration;

fn watching(limit: u32) -> (Fixture, ManualClock) {
    with(Config::new(Fixed).initial(limit).watch_only(true))
}

#[test]
fn nobody_is_refused_and_what_would_have_been_is_counted_by_its_reason() {
    let (limiter, _) = watching(4);
    let slots: Vec<_> = (0..4).map(|_| limiter.try_acquire().unwrap()).collect();
    assert!(slots.iter().all(Permit::has_slot));
    let low = Request::new().priority(Priority::BestEffort);
    let others = [
        limiter.try_acquire(),
        limiter.try_acquire_for(Request::new().weight(0)),
        limiter.try_acquire_for(Request::new().weight(5_000)),
        limiter.acquire_timeout(Duration::from_secs(3_600)),
        limiter.acquire_for(Request::new().weight(2)),
    ];
    assert!(others.iter().flatten().count() == 5 && !others.iter().flatten().any(Permit::has_slot));
    drop(slots);
    let share = [0, 1, 2].map(|_| limiter.try_acquire_for(low).unwrap().into_hold());
    let seen = limiter.watched();
    assert_eq!(
        (seen.at_limit, seen.impossible, seen.share_taken),
        (3, 2, 1)
    );
    assert_eq!((seen.over_share, seen.all()), (0, 6));
    assert_eq!(limiter.counts().refused.total(), 0, "nobody was refused");
    assert_eq!(limiter.snapshot().inflight, 2, "those that have a slot");
    drop((others, share));
    limiter.set_watch_only(false);
    assert_idle(&limiter);
}

#[test]
fn nobody_waits_and_who_waits_goes_on_when_it_begins_to_watch() {
    let (limiter, _) = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let low = Request::new().priority(Priority::Batch);
    let mut waiting = [Request::new(), low].map(|request| Task::queued_for(&limiter, request));
    limiter.set_watch_only(true);
    for task in &mut waiting {
        assert!(!task.permit().has_slot());
    }
    assert_eq!(limiter.watched().all(), 2);
    let mut later = Task::of(limiter.acquire_async());
    assert!(matches!(later.poll(), Poll::Ready(Ok(permit)) if !permit.has_slot()));
    limiter.set_watch_only(false);
    let mut waits = Task::queued(&limiter);
    drop(held);
    drop(waits.permit());
    assert_idle(&limiter);
}

#[test]
fn a_closed_limiter_refuses_all_the_same() {
    let (limiter, _) = watching(1);
    limiter.close();
    assert_eq!(
        limiter.try_acquire().unwrap_err().reason,
        RejectReason::Closed
    );
    assert_eq!(limiter.acquire().unwrap_err().reason, RejectReason::Closed);
    // Also what an open one would have let through for whatever else is wrong with it.
    let impossible = Request::new().weight(0);
    assert!(limiter.try_acquire_for(impossible).is_err());
    assert!(limiter.acquire_for(impossible).is_err());
    assert_eq!(limiter.watched().all(), 0);
}

#[test]
fn partitions_and_callers_are_watched_too() {
    let clock = ManualClock::new();
    let partitions = Partitions::new().partition("writes", Guarantee::of(500));
    let config = Config::new(Fixed).initial(4).watch_only(true);
    let limiter = Limiter::partitioned_with_clock(config, &partitions, clock.clone()).unwrap();
    let caller = Request::new().caller(Caller::new("one"));
    let pool: Vec<_> = (0..3)
        .map(|_| limiter.try_acquire_for(caller).unwrap())
        .collect();
    assert!(pool[1].has_slot() && !pool[2].has_slot());
    let write = caller.partition(limiter.partition("writes").unwrap());
    let writes: Vec<_> = (0..3)
        .map(|_| limiter.try_acquire_for(write).unwrap())
        .collect();
    assert!(writes[1].has_slot() && !writes[2].has_slot());
    let seen = &limiter.partitions()[0].seen;
    assert_eq!((seen.inflight, seen.refused), (2, 0), "nobody was");
    let watched = limiter.watched();
    assert_eq!((watched.at_limit, watched.partition_full), (1, 1));
    assert_eq!(watched.all(), 2);
    writes
        .into_iter()
        .for_each(|permit| permit.finish(Outcome::Success));
    assert_eq!(
        limiter.partitions()[0].seen.successes,
        2,
        "of those that had a slot"
    );
}

#[test]
fn nothing_is_learned_from_what_has_no_slot() {
    let clock = ManualClock::new();
    let config = Config::new(Aimd::new()).initial(2).watch_only(true);
    let limiter = Limiter::with_clock(config, clock.clone()).unwrap();
    let slots = [0, 1].map(|_| limiter.try_acquire().unwrap());
    let before = limiter.snapshot();
    for _ in 0..1_000 {
        let mut permit = limiter.try_acquire().unwrap();
        assert!(permit.age().is_none() && permit.record(Outcome::Overload, limiter.now()));
        clock.advance(Duration::from_millis(1));
    }
    assert_eq!(limiter.snapshot(), before);
    drop(slots);
}

#[test]
fn a_reload_switches_it() {
    let config = Config::new(Fixed).initial(1);
    let (limiter, _) = with(config);
    let _held = limiter.try_acquire().unwrap();
    limiter.reconfigure(&config.watch_only(true)).unwrap();
    assert!(limiter.watched().on && limiter.try_acquire().is_ok());
    limiter.reconfigure(&config).unwrap();
    assert!(!limiter.watched().on && limiter.try_acquire().is_err());
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Try(usize, u32),
    End(usize, Outcome),
    Pass(u64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let outcome = prop_oneof![
        Just(Outcome::Success),
        Just(Outcome::Overload),
        Just(Outcome::Ignored),
        Just(Outcome::Cancelled)
    ];
    let event = prop_oneof![
        5 => (0_usize..4, 1_u32..4).prop_map(|(class, weight)| Event::Try(class, weight)),
        4 => (0_usize..8, outcome).prop_map(|(index, outcome)| Event::End(index, outcome)),
        2 => (1_u64..30).prop_map(Event::Pass),
    ];
    proptest::collection::vec(event, 1..300)
}

type Adapting = Limiter<Aimd, ManualClock>;

fn adapting(watch: bool) -> (Adapting, ManualClock) {
    let clock = ManualClock::new();
    let config = Config::new(Aimd::new())
        .initial(4)
        .min_samples(2)
        .watch_only(watch);
    let limiter = Limiter::with_clock(config, clock.clone());
    (limiter.expect("a configuration that works"), clock)
}

proptest! {
    /// In lockstep with one that enforces, as long as what has no slot changes nothing outside.
    #[test]
    fn limit_and_counts_are_those_of_a_limiter_that_enforces(events in events()) {
        let (watching, clock) = adapting(true);
        let (enforcing, other) = adapting(false);
        let mut held: Vec<(Permit<Aimd, ManualClock>, Permit<Aimd, ManualClock>)> = Vec::new();
        let mut refused = 0;
        for event in events {
            match event {
                Event::Try(class, weight) => {
                    let request = Request::new().priority(Priority::ALL[class]).weight(weight);
                    let through = watching.try_acquire_for(request).expect("refuses nobody");
                    match enforcing.try_acquire_for(request) {
                        Ok(permit) => {
                            prop_assert!(through.has_slot());
                            held.push((through, permit));
                        }
                        Err(_) => {
                            prop_assert!(!through.has_slot());
                            refused += 1;
                        }
                    }
                }
                Event::End(index, outcome) if index < held.len() => {
                    let (one, two) = held.swap_remove(index);
                    one.finish(outcome);
                    two.finish(outcome);
                }
                Event::End(..) => {}
                Event::Pass(ms) => {
                    clock.advance(Duration::from_millis(ms));
                    other.advance(Duration::from_millis(ms));
                }
            }
            prop_assert_eq!(watching.snapshot(), enforcing.snapshot());
            prop_assert_eq!(watching.watched().all(), refused);
        }
    }
}

#[test]
fn a_wait_that_is_cancelled_when_it_begins_to_watch_leaves_nothing() {
    let (limiter, _) = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let task = Task::queued(&limiter);
    limiter.set_watch_only(true);
    drop(task);
    limiter.set_watch_only(false);
    drop::<Taken>(held);
    assert_idle(&limiter);
}
