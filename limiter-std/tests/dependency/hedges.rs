//! Hedges: a second attempt beside one that takes long.

use crate::support::{Bad, Lab, Outcome, ms, poll};
use limiter_std::law::Fixed;
use limiter_std::{BudgetConfig, CallOptions, Config, DependencyConfig, GiveUp, Tokens};
use std::task::Poll;

fn hedging(config: DependencyConfig<Fixed>) -> DependencyConfig<Fixed> {
    config.hedge(950, ms(10)).attempts(2)
}

/// A call with both of its attempts on their way.
fn hedged(lab: &Lab) -> crate::support::Calling {
    let mut calling = lab.calling(CallOptions::new().hedge());
    assert!(poll(&mut calling).is_pending());
    lab.clock.advance(ms(10));
    assert!(poll(&mut calling).is_pending());
    assert_eq!((lab.server.running(), lab.inflight()), (2, 2));
    let attempts = lab.server.attempts();
    assert!(!attempts[0].hedge && attempts[1].hedge);
    calling
}

#[test]
fn whichever_answers_first_is_the_answer_and_the_other_is_dropped_and_accounted_for() {
    for winner in [0, 1] {
        let lab = Lab::with(hedging);
        let mut calling = hedged(&lab);
        lab.server.answer(winner, Ok(5));
        assert_eq!(poll(&mut calling), Poll::Ready(Ok(5)));
        lab.assert_idle();
        let counts = lab.store.counts();
        assert_eq!((counts.attempts, counts.hedges, counts.retries), (2, 1, 0));
        assert_eq!(
            lab.store.budget().balance(),
            Tokens::milli(9_000),
            "one hedge of a full budget"
        );
    }
}

#[test]
fn f85_a_hedge_that_is_throttled_leaves_the_original_alone_and_both_failed_is_the_last_failure() {
    let ends: [(usize, Outcome, Outcome); 3] = [
        (1, Err(Bad::Stop), Ok(4)),
        (1, Err(Bad::Stop), Err(Bad::Broken)),
        (0, Err(Bad::Broken), Err(Bad::Stop)),
    ];
    for (first, fails, then) in ends {
        let lab = Lab::with(hedging);
        let mut calling = hedged(&lab);
        lab.server.answer(first, fails);
        assert!(poll(&mut calling).is_pending(), "the other still runs");
        assert_eq!(lab.server.running(), 1);
        lab.server.answer(1 - first, then);
        match (poll(&mut calling), then) {
            (Poll::Ready(Ok(value)), Ok(sent)) => assert_eq!(value, sent),
            (Poll::Ready(Err(gave_up)), Err(_)) => {
                assert_eq!(gave_up.last, Some(then));
                assert_eq!(gave_up.why, GiveUp::ToldNotTo);
            }
            (other, _) => panic!("{other:?} after {then:?}"),
        }
        lab.assert_idle();
    }
}

#[test]
fn f86_when_every_call_is_slow_hedges_stay_within_the_upper_half_of_the_budget() {
    let budget = BudgetConfig::new()
        .capacity(Tokens::whole(8))
        .without_floor()
        .ratio(0);
    let limit = Config::new(Fixed).initial(64);
    let lab = Lab::limited(limit, |config| hedging(config).budget(budget));
    let mut calls: Vec<_> = (0..32)
        .map(|_| lab.calling(CallOptions::new().hedge()))
        .collect();
    assert!(calls.iter_mut().all(|calling| poll(calling).is_pending()));
    lab.clock.advance(ms(10));
    assert!(calls.iter_mut().all(|calling| poll(calling).is_pending()));
    assert_eq!(lab.server.running(), 32 + 4, "no more than half of 8");
    lab.server.answer_all(Ok(1));
    assert!(
        calls.iter_mut().all(|calling| poll(calling).is_ready()),
        "nobody is lost"
    );
    lab.assert_idle();
}

#[test]
fn f86_at_the_limit_there_is_no_hedge_and_the_original_goes_on() {
    let lab = Lab::limited(Config::new(Fixed).initial(1), hedging);
    let mut calling = lab.calling(CallOptions::new().hedge());
    for _ in 0..50 {
        assert!(poll(&mut calling).is_pending());
        lab.clock.advance(ms(10));
    }
    assert_eq!((lab.server.running(), lab.store.counts().hedges), (1, 0));
    lab.server.answer(0, Ok(3));
    assert_eq!(poll(&mut calling), Poll::Ready(Ok(3)));
}

#[test]
fn an_exhausted_budget_touches_no_attempt_that_runs() {
    let budget = BudgetConfig::new()
        .capacity(Tokens::ONE)
        .without_floor()
        .ratio(0);
    let lab = Lab::with(|config| hedging(config).budget(budget));
    let mut calling = lab.calling(CallOptions::new().hedge());
    assert!(poll(&mut calling).is_pending());
    lab.store.budget().withdraw(Tokens::ONE).unwrap();
    for _ in 0..10 {
        lab.clock.advance(ms(10));
        assert!(poll(&mut calling).is_pending());
    }
    assert_eq!(lab.server.attempts().len(), 1);
    lab.server.answer(0, Ok(3));
    assert_eq!(poll(&mut calling), Poll::Ready(Ok(3)));
}

#[test]
fn calls_that_do_not_ask_for_hedges_have_none() {
    let lab = Lab::with(hedging);
    let mut calling = lab.calling(CallOptions::new());
    for _ in 0..10 {
        assert!(poll(&mut calling).is_pending());
        lab.clock.advance(ms(10));
    }
    assert_eq!(lab.server.attempts().len(), 1);
}
