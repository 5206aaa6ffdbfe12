//! Hedges: when one goes, and what becomes of the other.

use super::*;
use limiter_core::{BreakerState, LatencyHistogram, Tokens};

fn hedged() -> DependencyConfig {
    plain_budget(plain()).hedge(950, Duration::from_millis(100))
}

fn begin_hedged(dependency: &Dependency<Fixed>, now: u64) -> Call<&Dependency<Fixed>> {
    dependency.call(at(now), CallOptions::new().hedge())
}

fn runs_until<D: Depends>(call: &mut Call<D>, now: u64) -> u64 {
    match step(call, now) {
        Step::Running(until) => until.ticks(),
        other => panic!("{other:?} at {now}"),
    }
}

#[test]
fn a_hedge_goes_beside_an_attempt_that_takes_long_and_the_loser_is_accounted() {
    let dependency = fixed(10, hedged());
    let mut call = begin_hedged(&dependency, 0);
    let first = attempt(&mut call, 0);
    assert_eq!(runs_until(&mut call, 0), 100);
    assert_eq!(runs_until(&mut call, 99), 100);
    let hedge = attempt(&mut call, 100);
    assert_eq!((hedge.number, hedge.hedge), (2, true));
    assert_eq!(milli(&dependency, 100), 9_000);
    assert_eq!(dependency.limiter().snapshot().inflight, 2);
    // One is enough.
    assert_eq!(runs_until(&mut call, 500), 2_000);
    end(&mut call, hedge, Ending::success(), 600);
    assert_eq!(step(&mut call, 600), Step::Done);
    assert_eq!(dependency.limiter().snapshot().inflight, 0);
    end(&mut call, first, Ending::overload(), 700);
    assert_eq!(step(&mut call, 700), Step::Done);
    assert_eq!(dependency.limiter().snapshot().window_overloads, 0);
}

#[test]
fn there_is_none_without_configuration_or_without_the_calls_wish() {
    let dependency = fixed(10, plain());
    let mut call = begin_hedged(&dependency, 0);
    attempt(&mut call, 0);
    assert_eq!(runs_until(&mut call, 1_000), 2_000);
    let dependency = fixed(10, hedged());
    let mut call = begin(&dependency, 0);
    attempt(&mut call, 0);
    assert_eq!(runs_until(&mut call, 1_000), 2_000);
}

#[test]
fn a_hedge_that_fails_leaves_the_call_to_the_first_attempt() {
    let dependency = fixed(10, hedged());
    let mut call = begin_hedged(&dependency, 0);
    let first = attempt(&mut call, 0);
    let hedge = attempt(&mut call, 100);
    let all = dependency.budget().balance(at(100));
    dependency.budget().withdraw(all, at(100)).unwrap();
    end(
        &mut call,
        hedge,
        Ending::overload().retry_after(ticks(9)),
        150,
    );
    assert_eq!(runs_until(&mut call, 150), 2_000);
    end(&mut call, first, Ending::success(), 200);
    assert_eq!(step(&mut call, 200), Step::Done);
}

#[test]
fn when_both_fail_the_call_goes_on_with_the_last_failure() {
    let dependency = fixed(10, hedged());
    let mut call = begin_hedged(&dependency, 0);
    let first = attempt(&mut call, 0);
    let hedge = attempt(&mut call, 100);
    end(&mut call, first, Ending::overload(), 150);
    assert_eq!(runs_until(&mut call, 150), 2_100);
    end(&mut call, hedge, Ending::failure(), 200);
    let until = wait(&mut call, 200);
    assert_eq!(attempt(&mut call, until).number, 3);
    // Told by one of them not to retry, it does not, but hears the other out.
    let mut call = begin_hedged(&dependency, 0);
    let first = attempt(&mut call, 0);
    let hedge = attempt(&mut call, 100);
    end(&mut call, first, Ending::overload().do_not_retry(), 150);
    assert_eq!(runs_until(&mut call, 150), 2_100);
    end(&mut call, hedge, Ending::failure(), 200);
    assert_eq!(gives_up(&mut call, 200), GiveUp::ToldNotTo);
}

#[test]
fn a_permanent_error_of_one_ends_the_other() {
    let dependency = fixed(10, hedged());
    let mut call = begin_hedged(&dependency, 0);
    attempt(&mut call, 0);
    let hedge = attempt(&mut call, 100);
    end(&mut call, hedge, Ending::permanent(), 150);
    assert_eq!(gives_up(&mut call, 150), GiveUp::Permanent);
    assert_eq!(dependency.limiter().snapshot().inflight, 0);
}

#[test]
fn when_every_call_is_slow_hedges_end_with_half_of_the_budget() {
    let budget = BudgetConfig::new()
        .capacity(Tokens::whole(16))
        .ratio(0)
        .without_floor();
    let dependency = fixed(1_000, hedged().budget(budget));
    let mut calls: Vec<_> = (0..32).map(|_| begin_hedged(&dependency, 0)).collect();
    for call in &mut calls {
        attempt(call, 0);
    }
    let hedges = calls
        .iter_mut()
        .map(|call| step(call, 100))
        .filter(|step| matches!(step, Step::Attempt(_)))
        .count();
    assert_eq!(hedges, 8);
    for call in &mut calls {
        assert_eq!(runs_until(call, 101).min(2_000), 2_000);
    }
}

#[test]
fn at_the_limit_there_are_no_hedges() {
    let dependency = fixed(4, hedged());
    let mut calls: Vec<_> = (0..4).map(|_| begin_hedged(&dependency, 0)).collect();
    let first: Vec<_> = calls.iter_mut().map(|call| attempt(call, 0)).collect();
    for call in &mut calls {
        assert!(matches!(step(call, 100), Step::Running(_)));
    }
    // Nor just after it, while the window that saw it is open.
    end(&mut calls[0], first[0], Ending::success(), 101);
    let mut late = begin_hedged(&dependency, 0);
    attempt(&mut late, 110);
    assert!(matches!(step(&mut late, 300), Step::Running(_)));
}

#[test]
fn there_are_no_hedges_while_the_breaker_is_not_closed() {
    let breaker = BreakerConfig::new().consecutive(Some(1)).probes(3);
    let dependency = fixed(10, hedged().breaker(breaker));
    let mut call = begin_hedged(&dependency, 0);
    attempt(&mut call, 0);
    let mut other = begin(&dependency, 0);
    fail(&mut other, Ending::failure(), 50);
    assert!(matches!(
        dependency.breaker(at(100)),
        BreakerState::Open { .. }
    ));
    assert!(matches!(step(&mut call, 100), Step::Running(_)));
    let mut probe = begin_hedged(&dependency, 6_000);
    attempt(&mut probe, 6_000);
    assert!(matches!(step(&mut probe, 6_100), Step::Running(_)));
    assert_eq!(milli(&dependency, 6_100), 10_000);
}

#[test]
fn timeouts_and_hedges_follow_the_measured_latency_within_their_bounds() {
    let config = hedged().timeout_bounds(Duration::from_millis(50), Duration::from_millis(800));
    let dependency: Dependency<Fixed, LatencyHistogram> =
        Dependency::new(Config::new(Fixed, RATE), config);
    assert_eq!(
        dependency.timeout(),
        ticks(2_000),
        "as configured, for nothing is known"
    );
    let serve = |millis: u64, count: u64| {
        for _ in 0..count {
            let mut call = begin(&dependency, 0);
            let first = attempt(&mut call, 0);
            end(&mut call, first, Ending::success(), millis);
        }
    };
    serve(60, 100);
    let timeout = dependency.timeout().get();
    assert!((120..=160).contains(&timeout), "{timeout}");
    let mut call = dependency.call(at(0), CallOptions::new().hedge());
    attempt(&mut call, 0);
    let due = runs_until(&mut call, 0);
    assert!((60..=79).contains(&due), "{due}");
    drop(call);
    // Failures, however fast, are no latencies.
    for _ in 0..1_000 {
        let mut call = dependency.call(at(0), CallOptions::new().attempts(1));
        fail(&mut call, Ending::failure(), 0);
    }
    assert_eq!(dependency.timeout().get(), timeout);
    serve(2, 5_000);
    assert_eq!(dependency.timeout(), ticks(50));
    serve(700, 2_000);
    assert_eq!(dependency.timeout(), ticks(800));
}

#[test]
fn an_attempt_that_timed_out_makes_the_next_timeout_longer() {
    let dependency: Dependency<Fixed, LatencyHistogram> =
        Dependency::new(Config::new(Fixed, RATE), plain().attempts(1));
    for _ in 0..100 {
        let mut call = begin(&dependency, 0);
        let first = attempt(&mut call, 0);
        end(&mut call, first, Ending::success(), 40);
    }
    let mut before = dependency.timeout().get();
    for _ in 0..6 {
        for _ in 0..20 {
            let mut call = begin(&dependency, 0);
            let first = attempt(&mut call, 0);
            let over = first.deadline.ticks();
            assert_eq!(step(&mut call, over), Step::Cancel(1));
        }
        let now = dependency.timeout().get();
        assert!(now > before || now == 5_000, "{before} to {now}");
        before = now;
    }
}

/// The loser is older than usual by nature: counted as slowness, hedges would cut the limit of a dependency that is
/// well. What the call's own deadline cuts off is slow indeed.
#[test]
fn the_loser_of_a_hedge_is_no_overload_and_what_the_deadline_cuts_off_is_one() {
    let config = Config::new(Aimd::new().without_ramp(), RATE)
        .initial(10)
        .max(10)
        .windows(Duration::from_millis(10), Duration::from_millis(10))
        .min_samples(1);
    let dependency = Dependency::<Aimd>::new(config, hedged());
    let seen = || dependency.limiter().snapshot();
    for start in (0..200).step_by(20) {
        let mut call = begin(&dependency, start);
        let first = attempt(&mut call, start);
        end(&mut call, first, Ending::success(), start + 10);
        assert_eq!(step(&mut call, start + 10), Step::Done);
    }
    assert_eq!(seen().usual_rtt, Ticks::new(10));
    for start in (1_000..2_500).step_by(300) {
        let mut call = dependency.call(at(start), CallOptions::new().hedge());
        attempt(&mut call, start);
        let hedge = attempt(&mut call, start + 100);
        end(&mut call, hedge, Ending::success(), start + 110);
        assert_eq!(step(&mut call, start + 110), Step::Done);
    }
    assert_eq!((seen().limit, seen().cuts), (10, 0));

    let short = CallOptions::new().total(Ticks::new(50));
    for start in (5_000..8_000).step_by(300) {
        let mut call = dependency.call(at(start), short);
        attempt(&mut call, start);
        assert_eq!(step(&mut call, start + 50), Step::Cancel(1));
    }
    assert!(seen().cuts > 0, "{:?}", seen());
}
