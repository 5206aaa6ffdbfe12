//! Retries: bounded in number, time and tokens.

use crate::support::{Bad, Lab, judge, ms, poll};
use limiter_std::{
    Budget, BudgetConfig, CallOptions, Config, Ending, Fallbacks, GiveUp, ManualClock, Refusal,
    RejectReason, Tokens, law::Fixed,
};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

#[test]
fn an_attempt_that_fails_is_followed_by_another_after_its_back_off_and_tells_its_number() {
    let lab = Lab::with(|config| config.total(Duration::from_secs(1_000_000)));
    let numbers = RefCell::new(Vec::new());
    let over = AtomicBool::new(false);
    let answer = std::thread::scope(|scope| {
        let (clock, over) = (lab.clock.clone(), &over);
        // The thread sleeps on a clock that somebody else moves.
        scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                clock.advance(ms(1));
                std::thread::yield_now();
            }
        });
        let answer = lab.store.call(CallOptions::new(), judge, |attempt| {
            numbers.borrow_mut().push((attempt.number, attempt.hedge));
            if attempt.number < 3 {
                Err(Bad::Broken)
            } else {
                Ok(1)
            }
        });
        over.store(true, Ordering::Relaxed);
        answer
    });
    assert_eq!(answer.ok(), Some(1));
    assert_eq!(*numbers.borrow(), [(1, false), (2, false), (3, false)]);
    let counts = lab.store.counts();
    assert_eq!(
        (counts.attempts, counts.retries, counts.succeeded),
        (3, 2, 1)
    );
    lab.assert_idle();
}

#[test]
fn f84_no_attempt_begins_once_the_total_time_is_over() {
    let lab = Lab::with(|config| {
        config
            .backoff(limiter_std::Jitter::Decorrelated, ms(1_000), ms(1_000))
            .total(Duration::from_secs(5))
            .attempts(1_000)
    });
    let mut calling = lab.calling(CallOptions::new());
    let mut began = Vec::new();
    let mut millis = 0;
    let gave_up = loop {
        let before = lab.server.attempts().len();
        let polled = poll(&mut calling);
        if lab.server.attempts().len() > before {
            began.push(millis);
            lab.clock.advance(ms(1));
            millis += 1;
            lab.server.answer_all(Err(Bad::Broken));
            continue;
        }
        if let Poll::Ready(answer) = polled {
            break answer.unwrap_err();
        }
        lab.clock.advance(ms(1));
        millis += 1;
    };
    // Delays are rounded up to 33 µs, and looked at once in a millisecond.
    assert_eq!(began, [0, 1_002, 2_004, 3_006, 4_008]);
    assert_eq!(gave_up.why, GiveUp::WaitTooLong);
    assert_eq!(gave_up.last, Some(Err(Bad::Broken)));
}

#[test]
fn permanent_errors_and_the_callers_own_are_never_tried_again() {
    for (bad, why) in [
        (Bad::Wrong, GiveUp::Permanent),
        (Bad::Mine, GiveUp::Permanent),
        (Bad::Stop, GiveUp::ToldNotTo),
    ] {
        let lab = Lab::new();
        let gave_up = lab.call(CallOptions::new(), |_| Err(bad)).unwrap_err();
        assert_eq!((gave_up.why, gave_up.last), (why, Some(Err(bad))));
        assert_eq!(lab.store.counts().attempts, 1);
        assert_eq!(
            lab.store.budget().balance(),
            Tokens::whole(10),
            "nothing was charged"
        );
    }
}

#[test]
fn f88_refusals_of_this_process_are_not_tried_again_and_cost_nothing() {
    let lab = Lab::new();
    let mut held: Vec<_> = (0..2).map(|_| lab.calling(CallOptions::new())).collect();
    assert!(held.iter_mut().all(|calling| poll(calling).is_pending()));
    let gave_up = lab.call(CallOptions::new(), |_| Ok(1)).unwrap_err();
    let GiveUp::Refused(Refusal::Limiter(refused)) = gave_up.why else {
        panic!("{gave_up:?}");
    };
    assert_eq!(refused.reason, RejectReason::AtLimit);
    assert_eq!((gave_up.last, gave_up.carried.attempts), (None, 0));
    assert_eq!(lab.store.budget().balance(), Tokens::whole(10));
    let counts = lab.store.counts();
    assert_eq!((counts.attempts, counts.refused_by_limiter), (2, 1));
    drop(held);
    lab.assert_idle();
}

#[test]
fn f80_what_first_attempts_pay_in_is_what_retries_take_out() {
    let budget = BudgetConfig::new().without_floor();
    let lab = Lab::with(|config| config.budget(budget).attempts(2));
    let failed = |_| Err(Bad::Broken);
    let one = CallOptions::new();
    // Ten tokens, and a tenth for each first attempt but the one that found the budget full.
    let sleeping = || {
        let mut calling = lab.calling(one);
        while poll(&mut calling).is_pending() {
            lab.server.answer_all(Err(Bad::Broken));
            lab.clock.advance(ms(25));
        }
    };
    for _ in 0..28 {
        sleeping();
    }
    let counts = lab.store.counts();
    assert_eq!(counts.calls, 28);
    assert_eq!(counts.retries, 10 + 2, "capacity and a tenth of 27");
    assert_eq!(counts.refused_by_budget, 28 - 12);
    let gave_up = lab.call(one, failed).unwrap_err();
    assert!(matches!(gave_up.why, GiveUp::Exhausted(_)));
}

#[test]
fn f81_a_budget_belongs_to_one_dependency_and_is_shared_by_its_clones() {
    let (one, other) = (Lab::new(), Lab::new());
    let budget = one.store.budget();
    for _ in 0..5 {
        budget.withdraw(Tokens::ONE).unwrap();
        one.store.clone().budget().withdraw(Tokens::ONE).unwrap();
    }
    assert!(budget.clone().withdraw(Tokens::ONE).is_err());
    assert_eq!(other.store.budget().balance(), Tokens::whole(10));
}

#[test]
fn f82_and_f83_a_budget_is_clamped_to_a_capacity_of_which_the_largest_is_allowed() {
    let whole = |tokens| {
        BudgetConfig::new()
            .capacity(Tokens::whole(tokens))
            .without_floor()
    };
    assert!(Budget::try_new(whole(1_000)).is_ok());
    let refused = Budget::try_new(whole(1_001)).unwrap_err();
    assert_eq!((refused.value(), refused.most()), (1_001_000, 1_000_000));
    let budget = Budget::with_clock(whole(10), ManualClock::new()).unwrap();
    for _ in 0..10_000 {
        budget.deposit();
    }
    let spent = (0..20).filter(|_| budget.withdraw(Tokens::ONE).is_ok());
    assert_eq!(spent.count(), 10);
}

#[test]
fn a_call_in_line_waits_for_a_slot_and_gives_up_with_its_time() {
    let lab = Lab::limited(Config::new(Fixed).initial(1), |config| config.total(ms(50)));
    let mut first = lab.calling(CallOptions::new());
    let (mut second, mut third) = (
        lab.calling(CallOptions::new()),
        lab.calling(CallOptions::new()),
    );
    for calling in [&mut first, &mut second, &mut third] {
        assert!(poll(calling).is_pending());
    }
    assert_eq!((lab.store.queued(), lab.server.running()), (2, 1));
    lab.server.answer(0, Ok(1));
    assert_eq!(poll(&mut first), Poll::Ready(Ok(1)));
    assert!(poll(&mut second).is_pending());
    assert_eq!((lab.store.queued(), lab.server.running()), (1, 1));
    lab.clock.advance(ms(50));
    let Poll::Ready(Err(gave_up)) = poll(&mut third) else {
        panic!("its time is over");
    };
    let GiveUp::Refused(Refusal::Limiter(refused)) = gave_up.why else {
        panic!("{gave_up:?}");
    };
    assert_eq!(refused.reason, RejectReason::TimedOut);
    drop(second);
    lab.assert_idle();
}

#[test]
fn a_thread_in_line_is_granted_the_slot_that_a_future_gives_back() {
    let lab = Lab::limited(Config::new(Fixed).initial(1), |config| config);
    let mut first = lab.calling(CallOptions::new());
    assert!(poll(&mut first).is_pending());
    let store = lab.store.clone();
    let thread = std::thread::spawn(move || store.call(CallOptions::new(), judge, |_| Ok(2)));
    while lab.store.queued() == 0 {
        std::thread::yield_now();
    }
    drop(first);
    assert_eq!(thread.join().unwrap(), Ok(2));
    lab.assert_idle();
}

#[test]
fn an_attempt_over_its_time_is_dropped_and_tried_again() {
    let lab = Lab::with(|config| config.timeout(ms(20)));
    let mut calling = lab.calling(CallOptions::new());
    assert!(poll(&mut calling).is_pending());
    assert_eq!(lab.server.attempts()[0].timeout, ms(20));
    lab.clock.advance(ms(20));
    assert!(poll(&mut calling).is_pending());
    assert_eq!(
        (lab.server.running(), lab.inflight()),
        (0, 0),
        "nothing during back-off"
    );
    assert_eq!(lab.store.snapshot().backing_off, 1);
    lab.clock.advance(ms(101));
    assert!(poll(&mut calling).is_pending());
    lab.server.answer(1, Ok(7));
    assert_eq!(poll(&mut calling), Poll::Ready(Ok(7)));
    assert_eq!(lab.store.counts().timeouts, 1);
}

#[test]
fn what_the_dependency_refused_itself_is_counted_whatever_it_said_of_coming_back() {
    let lab = Lab::new();
    for ending in [
        Ending::refused(),
        Ending::refused().retry_after(ms(50)),
        Ending::refused().do_not_retry(),
        Ending::overload(),
    ] {
        let once = CallOptions::new().attempts(1);
        let answer = lab.store.call(once, |_| ending, |_| Err::<(), _>(()));
        answer.unwrap_err();
    }
    let counts = lab.store.counts();
    assert_eq!((counts.attempts, counts.refused_by_dependency), (4, 3));
}

#[test]
fn a_job_that_is_put_back_goes_on_where_it_was() {
    let lab = Lab::with(|config| config.attempts(3));
    let gave_up = lab
        .call(CallOptions::new().attempts(1), |_| Err(Bad::Broken))
        .unwrap_err();
    assert_eq!(gave_up.carried.attempts, 1);
    let number = Cell::new(0);
    let again = CallOptions::new().carried(gave_up.carried);
    let answer = lab.call(again, |attempt| {
        number.set(attempt.number);
        assert_eq!(attempt.carried.attempts, attempt.number);
        Ok(3)
    });
    assert_eq!((answer, number.get()), (Ok(3), 2));
    assert_eq!(
        lab.store.counts().retries,
        1,
        "a second attempt wherever it is made"
    );
}

#[test]
fn a_fallback_is_taken_while_its_budget_lasts_and_never_for_errors_of_the_request() {
    let lab = Lab::with(|config| config.attempts(1));
    let one = BudgetConfig::new()
        .capacity(Tokens::ONE)
        .ratio(0)
        .without_floor();
    let fallbacks = Fallbacks::with_clock(&[one, one], lab.clock.clone()).unwrap();
    let ask = |bad| {
        let taken = RefCell::new(Vec::new());
        let answer = fallbacks.call(
            || lab.call(CallOptions::new(), |_| Err(bad)),
            |index, gave_up| {
                taken.borrow_mut().push(index);
                if index == 0 { Err(gave_up) } else { Ok(9) }
            },
        );
        (answer.ok(), taken.into_inner())
    };
    assert_eq!(ask(Bad::Wrong), (None, vec![]));
    assert_eq!(ask(Bad::Broken), (Some(9), vec![0, 1]));
    assert_eq!(ask(Bad::Broken), (None, vec![]), "both budgets are empty");
    assert_eq!(fallbacks.balances(), [Tokens::milli(0); 2]);
}
