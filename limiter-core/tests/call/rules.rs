//! How the rules stand together: refused here is neither retried nor charged, and given back.

use super::*;
use limiter_core::{BreakerChange, BreakerState, Refusal, RejectReason, ThrottleConfig};

#[test]
fn a_local_refusal_makes_no_attempt_and_costs_nothing() {
    let dependency = fixed(1, plain_budget(plain()));
    let mut holder = begin(&dependency, 0);
    let held = attempt(&mut holder, 0);
    dependency
        .budget()
        .withdraw(limiter_core::Tokens::whole(5), at(0))
        .unwrap();
    let mut call = begin(&dependency, 0);
    for now in 0..100 {
        let why = gives_up(&mut call, now);
        assert!(
            matches!(why, GiveUp::Refused(Refusal::Limiter(refused)) if refused.reason == RejectReason::AtLimit)
        );
    }
    assert_eq!((call.attempts(), milli(&dependency, 0)), (0, 5_000));
    // Whoever waited for a slot goes on.
    end(&mut holder, held, Ending::success(), 100);
    assert_eq!(attempt(&mut call, 100).number, 1);
}

#[test]
fn a_retry_that_is_refused_here_is_not_charged() {
    let dependency = fixed(1, plain_budget(plain()));
    let mut call = begin(&dependency, 0);
    fail(&mut call, Ending::overload(), 0);
    let until = wait(&mut call, 0);
    let mut other = begin(&dependency, 0);
    let _held = attempt(&mut other, 0);
    let before = milli(&dependency, 0);
    assert!(matches!(gives_up(&mut call, until), GiveUp::Refused(_)));
    assert_eq!(milli(&dependency, 0), before);
}

#[test]
fn a_slot_that_was_waited_for_is_used_or_freed() {
    let dependency = fixed(1, plain());
    let mut call = begin(&dependency, 0);
    let slot = dependency.limiter().admit(at(0)).unwrap();
    let Step::Attempt(first) = call.step_with(slot, at(70), WORD) else {
        panic!("it has a slot");
    };
    end(&mut call, first, Ending::overload(), 90);
    assert_eq!(dependency.limiter().snapshot().inflight, 0);
    // In back-off there is no use for one.
    let slot = dependency.limiter().admit(at(90)).unwrap();
    assert!(matches!(call.step_with(slot, at(90), WORD), Step::Wait(_)));
    assert_eq!(dependency.limiter().snapshot().inflight, 0);
    assert!(!call.take_events().wake);
}

#[test]
fn a_slot_that_is_freed_tells_that_someone_waits_for_it() {
    let dependency = fixed(1, plain());
    let mut call = begin(&dependency, 0);
    let first = attempt(&mut call, 0);
    dependency.limiter().set_waiting();
    end(&mut call, first, Ending::success(), 10);
    assert!(call.take_events().wake);
    assert!(!call.take_events().wake);
}

/// Opens on the first failure, half-opens after 5 s for one probe.
fn fragile(config: DependencyConfig) -> DependencyConfig {
    config.breaker(BreakerConfig::new().consecutive(Some(1)).probes(1))
}

/// A server's own limit refuses, and its callers' limits and breakers do not refuse as much again.
#[test]
fn a_refusal_by_the_dependency_is_answered_by_the_throttle_alone() {
    let breaker = BreakerConfig::new().consecutive(Some(5));
    let config = plain()
        .breaker(breaker)
        .throttle(Some(ThrottleConfig::new()));
    let dependency = adaptive(config);
    let limit = dependency.limiter().snapshot().limit;
    let sent = (0..1_000)
        .filter(|&now| {
            let mut call = begin(&dependency, now);
            match step(&mut call, now) {
                Step::Attempt(attempt) => {
                    end(&mut call, attempt, Ending::refused().do_not_retry(), now);
                    assert_eq!(gives_up(&mut call, now), GiveUp::ToldNotTo);
                    true
                }
                Step::GiveUp(GiveUp::Refused(Refusal::Throttled)) => false,
                other => panic!("{other:?}"),
            }
        })
        .count();
    assert_eq!(dependency.limiter().snapshot().limit, limit);
    assert_eq!(dependency.breaker(at(1_000)), BreakerState::Closed);
    assert!(sent < 100, "{sent} of 1,000 were sent");
    assert_eq!(dependency.snapshot(at(1_000)).throttled, 899);
    // As many overloads open the breaker and cut.
    let dependency = adaptive(plain().breaker(breaker));
    for now in 0..5 {
        fail(&mut begin(&dependency, now), Ending::overload(), now);
    }
    assert!(dependency.limiter().snapshot().limit < limit);
    assert!(matches!(
        dependency.breaker(at(5)),
        BreakerState::Open { .. }
    ));
}

#[test]
fn a_probe_that_the_dependency_refuses_tells_that_it_is_alive() {
    let dependency = fixed(9, fragile(plain()));
    fail_for_long(&mut begin(&dependency, 0), 0);
    fail(&mut begin(&dependency, 5_000), Ending::refused(), 5_000);
    assert_eq!(dependency.breaker(at(5_000)), BreakerState::Closed);
}

#[test]
fn a_probe_may_last_as_long_as_when_nothing_was_measured() {
    let config = fragile(plain()).timeout_bounds(Duration::from_millis(10), Duration::from_secs(5));
    let dependency: Dependency<Fixed, limiter_core::LatencyHistogram> =
        Dependency::new(Config::new(Fixed, RATE), config);
    for now in 0..100 {
        fail(&mut begin(&dependency, now), Ending::success(), now);
    }
    assert_eq!(
        attempt(&mut begin(&dependency, 100), 100).timeout,
        ticks(10)
    );
    fail_for_long(&mut begin(&dependency, 100), 100);
    let probe = attempt(&mut begin(&dependency, 5_100), 5_100);
    assert_eq!(probe.timeout, ticks(2_000));
}

/// A random word for which the open time is as long as it may be.
fn fail_for_long<D: Depends>(call: &mut Call<D>, now: u64) {
    let attempt = attempt(call, now);
    call.finish(attempt.number, Ending::failure(), at(now), u32::MAX);
}

#[test]
fn a_probe_that_the_limiter_refuses_gives_its_lease_back() {
    let dependency = fixed(1, fragile(plain()));
    fail_for_long(&mut begin(&dependency, 0), 0);
    let mut refused = begin(&dependency, 0);
    assert!(
        matches!(gives_up(&mut refused, 0), GiveUp::Refused(Refusal::Breaker(open)) if open.left == ticks(5_000))
    );

    let slot = dependency.limiter().admit(at(5_000)).unwrap();
    for _ in 0..10 {
        assert!(matches!(
            gives_up(&mut refused, 5_000),
            GiveUp::Refused(Refusal::Limiter(_))
        ));
    }
    let _ = dependency.limiter().release(slot);
    let probe = attempt(&mut refused, 5_001);
    end(&mut refused, probe, Ending::success(), 5_010);
    assert_eq!(dependency.breaker(at(5_010)), BreakerState::Closed);
}

#[test]
fn a_probe_that_the_budget_refuses_gives_its_lease_and_its_slot_back() {
    let dependency = fixed(1, fragile(plain_budget(plain())).attempts(10));
    let mut call = dependency.call(at(0), CallOptions::new().total(ticks(60_000)));
    fail_for_long(&mut call, 0);
    let all = dependency.budget().balance(at(0));
    let until = wait(&mut call, 0);
    assert!(matches!(
        gives_up(&mut call, until),
        GiveUp::Refused(Refusal::Breaker(_))
    ));
    dependency.budget().withdraw(all, at(0)).unwrap();
    assert!(matches!(gives_up(&mut call, 5_000), GiveUp::Exhausted(_)));
    assert_eq!(dependency.limiter().snapshot().inflight, 0);
    let mut next = begin(&dependency, 5_000);
    let _ = attempt(&mut next, 5_000);
}

#[test]
fn a_hanging_dependency_is_bounded_by_the_limiter_before_the_breaker_knows() {
    let dependency = fixed(20, plain());
    let mut calls: Vec<_> = (0..1_000).map(|_| begin(&dependency, 0)).collect();
    let sent = calls
        .iter_mut()
        .map(|call| step(call, 0))
        .filter(|step| matches!(step, Step::Attempt(_)))
        .count();
    assert_eq!(sent, 20);
    assert_eq!(dependency.breaker(at(0)), BreakerState::Closed);
}

#[test]
fn a_breaker_that_closes_starts_the_limiter_from_a_quarter() {
    let dependency = adaptive(fragile(plain()));
    dependency.limiter().set_limit(80, at(0)).unwrap();
    fail_for_long(&mut begin(&dependency, 0), 0);
    let mut call = begin(&dependency, 5_000);
    fail(&mut call, Ending::success(), 5_000);
    let events = call.take_events();
    assert_eq!(events.breaker, Some(BreakerChange::Closed));
    assert_eq!(
        events.limit.map(|change| (change.from, change.to)),
        Some((80, 20))
    );
    // Never below its bound, and no law that cannot grow it again.
    dependency
        .limiter()
        .set_bounds(15, 1_000, at(5_000))
        .unwrap();
    fail_for_long(&mut begin(&dependency, 5_001), 5_001);
    fail(&mut begin(&dependency, 12_000), Ending::success(), 12_000);
    assert_eq!(dependency.limiter().snapshot().limit, 15);
    let still = fixed(80, fragile(plain()));
    fail_for_long(&mut begin(&still, 0), 0);
    fail(&mut begin(&still, 5_000), Ending::success(), 5_000);
    assert_eq!(still.limiter().snapshot().limit, 80);
}

#[test]
fn stress_is_answered_by_degrees_and_a_probe_is_not_throttled() {
    let throttled = fragile(plain())
        .breaker(
            BreakerConfig::new()
                .consecutive(Some(60))
                .failure_share(None)
                .probes(1),
        )
        .throttle(Some(ThrottleConfig::new()));
    let dependency = fixed(100, throttled);
    let mut sent = 0;
    for call in 0..50 {
        let mut call = dependency.call(at(call), CallOptions::new().attempts(1));
        if let Step::Attempt(first) = call.step(at(0), 0) {
            sent += 1;
            end(&mut call, first, Ending::overload(), 0);
        }
    }
    assert_eq!(sent, 20, "then it refuses, for a word of 0");
    let refused = dependency.call(at(0), CallOptions::new()).step(at(0), 0);
    assert_eq!(refused, Step::GiveUp(GiveUp::Refused(Refusal::Throttled)));
    // A tenth passes; those open the breaker.
    while dependency.breaker(at(0)) == BreakerState::Closed {
        let mut call = dependency.call(at(0), CallOptions::new().attempts(1));
        let Step::Attempt(first) = call.step(at(0), u32::MAX) else {
            panic!("a tenth passes");
        };
        call.finish(first.number, Ending::overload(), at(0), u32::MAX);
    }
    let mut probe = dependency.call(at(5_000), CallOptions::new());
    let Step::Attempt(first) = probe.step(at(5_000), 0) else {
        panic!("the throttle is for a closed breaker");
    };
    end(&mut probe, first, Ending::success(), 5_000);
    // What was refused before counts no more.
    assert_eq!(dependency.snapshot(at(5_000)).throttled, 0);
}

#[test]
fn an_rtt_contains_neither_back_off_nor_another_attempt() {
    for options in [CallOptions::new(), CallOptions::new().hold_slot()] {
        let config = Config::new(Fixed, RATE)
            .min_samples(1)
            .windows(Duration::ZERO, Duration::from_secs(60));
        let dependency: Dependency<Fixed> =
            Dependency::new(config, plain().total(Duration::from_secs(60)));
        let mut call = dependency.call(at(0), options);
        let first = attempt(&mut call, 0);
        end(
            &mut call,
            first,
            Ending::overload().retry_after(ticks(5_000)),
            100,
        );
        let until = wait(&mut call, 100);
        let second = attempt(&mut call, until);
        end(&mut call, second, Ending::success(), until + 100);
        assert_eq!(dependency.limiter().snapshot().usual_rtt, ticks(100));
    }
}

#[test]
fn a_slot_is_held_during_back_off_only_on_request() {
    for (options, held) in [(CallOptions::new(), 0), (CallOptions::new().hold_slot(), 1)] {
        let dependency = fixed(10, plain());
        let mut call = dependency.call(at(0), options);
        fail(&mut call, Ending::overload(), 0);
        let until = wait(&mut call, 0);
        assert_eq!(dependency.limiter().snapshot().inflight, held);
        let second = attempt(&mut call, until);
        assert_eq!(dependency.limiter().snapshot().inflight, 1);
        end(&mut call, second, Ending::success(), until);
        assert_eq!(dependency.limiter().snapshot().inflight, 0);
    }
}
