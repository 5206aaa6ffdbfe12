//! Calls that say how much they matter.

use crate::support::{Bad, Calling, Lab, ms, poll};
use limiter_std::law::Fixed;
use limiter_std::{
    BreakerConfig, CallOptions, Config, Dependency, DependencyConfig, GiveUp, Priority, Refusal,
    RejectReason,
};
use std::task::Poll;

fn of(priority: Priority) -> CallOptions {
    CallOptions::new().priority(priority)
}

fn begun(lab: &Lab, options: CallOptions) -> Calling {
    let mut calling = lab.calling(options);
    assert!(poll(&mut calling).is_pending());
    calling
}

fn why(answer: Poll<crate::support::Answer>) -> GiveUp {
    match answer {
        Poll::Ready(Err(gave_up)) => gave_up.why,
        other => panic!("did not give up: {other:?}"),
    }
}

fn share_taken(why: GiveUp) -> bool {
    matches!(why, GiveUp::Refused(Refusal::Limiter(refused)) if refused.reason == RejectReason::ShareTaken)
}

#[test]
fn a_call_has_the_share_of_its_class() {
    let lab = Lab::new();
    let first = begun(&lab, CallOptions::new());
    // Half of two is one, and that is taken.
    let mut low = lab.calling(of(Priority::BestEffort));
    assert!(share_taken(why(poll(&mut low))));
    let batch = begun(&lab, of(Priority::Batch));
    assert_eq!(lab.inflight(), 2);
    drop((first, batch));
    lab.assert_idle();
}

#[test]
fn a_retry_is_one_class_lower_and_one_of_a_call_that_says_nothing_is_not() {
    for (options, refused) in [(of(Priority::Batch), true), (CallOptions::new(), false)] {
        let lab = Lab::new();
        let other = begun(&lab, CallOptions::new());
        let mut calling = begun(&lab, options);
        lab.server.answer(1, Err(Bad::Broken));
        assert!(poll(&mut calling).is_pending(), "in back-off");
        lab.clock.advance(ms(101));
        if refused {
            assert!(share_taken(why(poll(&mut calling))));
        } else {
            assert!(poll(&mut calling).is_pending());
            assert_eq!(lab.server.attempts().len(), 3);
        }
        drop((other, calling));
        lab.assert_idle();
    }
}

#[test]
fn calls_wait_in_line_by_their_class() {
    let queue = Config::new(Fixed).initial(1).queue_length(10);
    let lab = Lab::limited(queue, |config| config);
    let first = begun(&lab, CallOptions::new());
    let mut batch = begun(&lab, of(Priority::Batch));
    let mut critical = begun(&lab, of(Priority::Critical));
    assert_eq!(lab.store.queued(), 2);
    drop(first);
    assert!(poll(&mut batch).is_pending() && poll(&mut critical).is_pending());
    assert_eq!(
        lab.server.attempts().len(),
        2,
        "the critical one has the slot"
    );
    lab.server.answer(1, Ok(1));
    assert!(poll(&mut critical).is_ready());
    assert!(poll(&mut batch).is_pending());
    assert_eq!(lab.server.attempts().len(), 3);
    drop(batch);
    lab.assert_idle();
}

#[test]
fn an_open_breaker_refuses_before_the_limiter_is_asked() {
    let lab = Lab::with(|config| config.breaker(BreakerConfig::new().consecutive(Some(1))));
    let mut failing = begun(&lab, CallOptions::new().attempts(1));
    lab.server.answer(0, Err(Bad::Broken));
    assert!(poll(&mut failing).is_ready());
    let mut refused = lab.calling(of(Priority::BestEffort));
    let why = why(poll(&mut refused));
    assert!(matches!(why, GiveUp::Refused(Refusal::Breaker(_))));
    lab.assert_idle();
}

#[test]
fn a_call_that_is_dropped_after_any_poll_leaves_nothing() {
    for polls in 0..4 {
        let queue = Config::new(Fixed).initial(1).queue_length(10);
        let lab = Lab::limited(queue, |config| config);
        let other = begun(&lab, CallOptions::new());
        let mut calling = lab.calling(of(Priority::Batch));
        for turn in 0..polls {
            assert!(poll(&mut calling).is_pending());
            if turn == 0 {
                lab.server.answer_all(Err(Bad::Broken));
            }
        }
        drop((other, calling));
        lab.assert_idle();
    }
}

#[test]
fn threads_say_it_too() {
    let config = DependencyConfig::new(Config::new(Fixed).initial(2).without_queue());
    let store = Dependency::try_new(config).unwrap();
    let inner = store.clone();
    let judge = |_: Result<&(), &()>| limiter_std::Ending::success();
    let answer = store.call(of(Priority::BestEffort), judge, |_| {
        let low = inner.call(of(Priority::BestEffort), judge, |_| Ok::<_, ()>(()));
        assert!(share_taken(low.expect_err("one of one is taken").why));
        inner
            .call(of(Priority::Interactive), judge, |_| Ok::<_, ()>(()))
            .map_err(drop)
    });
    assert!(answer.is_ok());
    assert_eq!(store.snapshot().limiter.inflight, 0);
}
