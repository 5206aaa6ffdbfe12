//! Breaker and limiter together: probes that get lost, come late, or are refused by a later rule.

use crate::support::{Bad, Calling, Lab, ms, never, poll};
use limiter_std::law::Fixed;
use limiter_std::{BreakerConfig, BreakerState, CallOptions, Config, GiveUp, Refusal};
use std::task::Poll;
use std::time::Duration;

const ONCE: CallOptions = CallOptions::new().attempts(1);

/// Opened by one failure, and half open since a moment.
fn half_open(breaker: BreakerConfig, limit: u32) -> Lab {
    let limiter = Config::new(Fixed).initial(limit).without_queue();
    let lab = Lab::limited(limiter, |config| config.breaker(breaker));
    lab.call(ONCE, |_| Err(Bad::Broken)).unwrap_err();
    assert!(matches!(state(&lab), BreakerState::Open { .. }));
    lab.clock.advance(Duration::from_secs(5));
    assert_eq!(state(&lab), BreakerState::HalfOpen);
    lab
}

const fn trips(probes: u32) -> BreakerConfig {
    never().consecutive(Some(1)).probes(probes)
}

fn state(lab: &Lab) -> BreakerState {
    lab.store.snapshot().breaker
}

fn is_refused(lab: &Lab) -> bool {
    let answer = lab.call(ONCE, |_| Err(Bad::Mine)).unwrap_err();
    matches!(answer.why, GiveUp::Refused(Refusal::Breaker(_)))
}

/// A probe that is on its way.
fn probe(lab: &Lab) -> Calling {
    let mut calling = lab.calling(ONCE);
    assert!(poll(&mut calling).is_pending());
    calling
}

#[test]
fn f89_an_ignored_error_frees_the_probe() {
    let lab = half_open(trips(1), 8);
    for _ in 0..3 {
        let gave_up = lab.call(ONCE, |_| Err(Bad::Mine)).unwrap_err();
        assert_eq!(gave_up.why, GiveUp::Permanent, "it left");
    }
    assert_eq!(lab.call(ONCE, |_| Ok(1)), Ok(1));
    assert_eq!(state(&lab), BreakerState::Closed);
}

#[test]
fn f90_a_probe_whose_future_is_dropped_comes_back_and_one_that_hangs_is_lost_in_the_end() {
    let lab = half_open(trips(1), 8);
    let lost = probe(&lab);
    assert!(is_refused(&lab));
    drop(lost);
    assert_eq!(lab.call(ONCE, |_| Ok(1)), Ok(1), "it came back");

    let lab = half_open(trips(1), 8);
    let hanging = probe(&lab);
    assert!(is_refused(&lab));
    lab.clock.advance(Duration::from_secs(11));
    assert_eq!(lab.call(ONCE, |_| Ok(1)), Ok(1), "another may try");
    drop(hanging);
    lab.assert_idle();
}

#[test]
fn f91_a_probe_that_the_limiter_refuses_gives_its_lease_back() {
    let limiter = Config::new(Fixed).initial(2).without_queue();
    let lab = Lab::limited(limiter, |config| {
        config
            .breaker(trips(1))
            .timeout(Duration::from_secs(60))
            .timeout_bounds(ms(50), Duration::from_secs(60))
            .total(Duration::from_secs(60))
    });
    let mut old = probe(&lab);
    lab.call(ONCE, |_| Err(Bad::Broken)).unwrap_err();
    lab.store.set_limit(1).unwrap();
    lab.clock.advance(Duration::from_secs(5));
    for _ in 0..3 {
        let gave_up = lab.call(ONCE, |_| Ok(1)).unwrap_err();
        assert!(
            matches!(gave_up.why, GiveUp::Refused(Refusal::Limiter(_))),
            "{gave_up:?}"
        );
    }
    lab.server.answer(0, Ok(1));
    assert!(poll(&mut old).is_ready());
    assert_eq!(lab.call(ONCE, |_| Ok(1)), Ok(1));
    assert_eq!(state(&lab), BreakerState::Closed);
}

#[test]
fn f92_of_a_thousand_calls_at_the_moment_of_half_open_exactly_the_probes_leave() {
    let lab = half_open(trips(3), 1_000);
    let mut calls: Vec<_> = (0..1_000).map(|_| lab.calling(ONCE)).collect();
    let refused = calls.iter_mut().filter_map(|calling| match poll(calling) {
        Poll::Ready(answer) => answer.err(),
        Poll::Pending => None,
    });
    let by_breaker = |why| matches!(why, GiveUp::Refused(Refusal::Breaker(_)));
    assert_eq!(
        refused.filter(|gave_up| by_breaker(gave_up.why)).count(),
        997
    );
    assert_eq!((lab.server.running(), lab.inflight()), (3, 3));
}

#[test]
fn f93_the_late_result_of_an_older_time_changes_nothing() {
    let limiter = Config::new(Fixed).initial(8).without_queue();
    let lab = Lab::limited(limiter, |config| {
        config
            .breaker(trips(1))
            .timeout(Duration::from_secs(60))
            .timeout_bounds(ms(50), Duration::from_secs(60))
            .total(Duration::from_secs(60))
    });
    let mut old = [probe(&lab), probe(&lab)];
    lab.call(ONCE, |_| Err(Bad::Broken)).unwrap_err();
    lab.clock.advance(Duration::from_secs(5));
    assert_eq!(state(&lab), BreakerState::HalfOpen);
    lab.server.answer(0, Ok(1));
    lab.server.answer(1, Err(Bad::Broken));
    for calling in &mut old {
        assert!(poll(calling).is_ready());
        assert_eq!(
            state(&lab),
            BreakerState::HalfOpen,
            "neither closed nor opened"
        );
    }
    let probing = probe(&lab);
    assert!(is_refused(&lab), "one probe, no more");
    drop(probing);
    lab.assert_idle();
}

#[test]
fn f94_a_probe_that_fails_opens_it_at_once_whatever_the_others_do() {
    let lab = half_open(trips(4), 8);
    let mut others: Vec<_> = (0..3).map(|_| probe(&lab)).collect();
    lab.call(ONCE, |_| Err(Bad::Broken)).unwrap_err();
    assert!(matches!(state(&lab), BreakerState::Open { .. }));
    lab.server.answer_all(Ok(1));
    assert!(others.iter_mut().all(|calling| poll(calling).is_ready()));
    assert!(matches!(state(&lab), BreakerState::Open { .. }));
    assert_eq!(lab.store.counts().opened, 2);
}

#[test]
fn f95_a_dependency_that_hangs_has_as_many_in_flight_as_the_limit_says_before_the_breaker_knows() {
    let limiter = Config::new(Fixed).initial(20).without_queue();
    let lab = Lab::limited(limiter, |config| config.breaker(BreakerConfig::new()));
    let mut calls: Vec<_> = (0..1_000).map(|_| lab.calling(ONCE)).collect();
    let refused = calls
        .iter_mut()
        .filter_map(|calling| poll(calling).is_ready().then_some(()))
        .count();
    assert_eq!((lab.server.running(), refused), (20, 980));
    assert_eq!(state(&lab), BreakerState::Closed);
}
