//! What is tried again, when, and what it costs.

use super::*;
use limiter_core::Tokens;

#[test]
fn attempts_are_numbered_and_the_first_success_ends_the_call() {
    let dependency = fixed(10, plain());
    let mut call = begin(&dependency, 0);
    let first = attempt(&mut call, 0);
    assert_eq!(
        (first.number, first.hedge, first.timeout),
        (1, false, ticks(2_000))
    );
    assert_eq!(first.deadline, at(2_000));
    end(&mut call, first, Ending::failure(), 20);
    assert_eq!(wait(&mut call, 20), 1_020);
    assert_eq!(wait(&mut call, 1_019), 1_020);
    let second = attempt(&mut call, 1_020);
    assert_eq!(second.number, 2);
    end(&mut call, second, Ending::success(), 1_040);
    assert_eq!(step(&mut call, 1_040), Step::Done);
    assert_eq!(step(&mut call, 9_999), Step::Done);
}

#[test]
fn no_attempt_starts_at_or_after_the_end_of_the_total_time() {
    // Total 5 s, attempts fail in 1 ms, back-off 1 s.
    let dependency = fixed(10, plain().attempts(1_000).total(Duration::from_secs(5)));
    let mut call = begin(&dependency, 0);
    let (mut starts, mut now) = (Vec::new(), 0);
    let why = loop {
        match step(&mut call, now) {
            Step::Attempt(attempt) => {
                starts.push(now);
                now += 1;
                end(&mut call, attempt, Ending::failure(), now);
            }
            Step::Wait(until) => now = until.ticks(),
            Step::GiveUp(why) => break why,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(starts, [0, 1_001, 2_002, 3_003, 4_004]);
    assert_eq!(why, GiveUp::WaitTooLong);
    assert_eq!(now, 4_005, "it does not wait for nothing");
}

#[test]
fn permanent_errors_and_the_callers_own_are_never_retried() {
    for ending in [Ending::permanent(), Ending::ignored()] {
        let dependency = fixed(10, plain());
        let mut call = begin(&dependency, 0);
        fail(&mut call, ending, 0);
        assert_eq!(gives_up(&mut call, 0), GiveUp::Permanent);
        assert_eq!(call.attempts(), 1);
    }
}

#[test]
fn being_told_not_to_retry_is_final() {
    for ending in [Ending::overload(), Ending::failure(), Ending::timeout()] {
        let dependency = fixed(10, plain());
        let mut call = begin(&dependency, 0);
        fail(&mut call, ending.do_not_retry(), 0);
        assert_eq!(gives_up(&mut call, 0), GiveUp::ToldNotTo);
    }
}

#[test]
fn as_many_attempts_are_made_as_are_allowed() {
    let dependency = fixed(10, plain().attempts(4));
    let mut call = begin(&dependency, 0);
    for number in 0..4 {
        fail(&mut call, Ending::overload(), number * 1_000);
    }
    assert_eq!(gives_up(&mut call, 3_000), GiveUp::Attempts);
    let mut once = dependency.call(at(0), CallOptions::new().attempts(1));
    fail(&mut once, Ending::overload(), 0);
    assert_eq!(gives_up(&mut once, 0), GiveUp::Attempts);
}

#[test]
fn what_the_server_asks_for_is_obeyed_up_to_its_bound() {
    let total = Duration::from_secs(7_200);
    let told = |hint: u64| {
        let dependency = fixed(10, plain().total(total));
        let mut call = begin(&dependency, 0);
        fail(&mut call, Ending::overload().retry_after(ticks(hint)), 0);
        wait(&mut call, 0)
    };
    assert_eq!(told(0), 1_000);
    assert_eq!(told(3_000), 3_500);
    assert_eq!(told(3_600_000), 6_500);
    // Not even a hint goes beyond the call's time, and nobody comes back before one that would.
    let dependency = fixed(10, plain());
    let mut call = begin(&dependency, 0);
    fail(&mut call, Ending::refused().retry_after(ticks(20_000)), 0);
    assert_eq!(gives_up(&mut call, 0), GiveUp::WaitTooLong);
    let dependency = fixed(10, plain().total(Duration::from_secs(3)));
    let mut call = begin(&dependency, 0);
    fail(&mut call, Ending::overload().retry_after(ticks(3_000)), 0);
    assert_eq!(gives_up(&mut call, 0), GiveUp::WaitTooLong);
}

#[test]
fn first_attempts_deposit_and_retries_withdraw_when_they_leave() {
    let dependency = fixed(10, plain_budget(plain()));
    dependency
        .budget()
        .withdraw(Tokens::whole(5), at(0))
        .unwrap();
    let mut call = begin(&dependency, 0);
    assert_eq!(
        milli(&dependency, 0),
        5_000,
        "a call that sent nothing paid nothing"
    );
    fail(&mut call, Ending::overload(), 0);
    assert_eq!(milli(&dependency, 0), 5_100);
    let until = wait(&mut call, 0);
    assert_eq!(milli(&dependency, 0), 5_100);
    fail(&mut call, Ending::success(), until);
    assert_eq!(milli(&dependency, 0), 4_100);
}

#[test]
fn a_timeout_may_cost_more_and_an_answer_with_push_back_less() {
    let costs = plain_budget(plain())
        .timeout_cost(Tokens::whole(2))
        .pushback_cost(Tokens::milli(500));
    for (ending, cost) in [
        (Ending::failure(), 1_000),
        (Ending::timeout(), 2_000),
        (Ending::overload().retry_after(ticks(1)), 500),
    ] {
        let dependency = fixed(10, costs);
        let mut call = begin(&dependency, 0);
        fail(&mut call, ending, 0);
        let until = wait(&mut call, 0);
        attempt(&mut call, until);
        assert_eq!(milli(&dependency, 0), 10_000 - cost, "{ending:?}");
    }
    assert!(
        plain().timeout_cost(Tokens::whole(11)).check().is_err(),
        "more than fits"
    );
    assert!(plain().retry_cost(Tokens::milli(0)).check().is_err());
}

#[test]
fn an_exhausted_budget_ends_the_retries_and_no_attempt_that_is_running() {
    let dependency = fixed(10, plain_budget(plain()));
    let mut running = begin(&dependency, 0);
    let first = attempt(&mut running, 0);
    let mut retried = begin(&dependency, 0);
    fail(&mut retried, Ending::overload(), 0);
    let until = wait(&mut retried, 0);
    let second = attempt(&mut retried, until);

    let all = dependency.budget().balance(at(until));
    dependency.budget().withdraw(all, at(until)).unwrap();
    let mut failed = begin(&dependency, until);
    fail(&mut failed, Ending::overload(), until);
    assert!(matches!(gives_up(&mut failed, until), GiveUp::Exhausted(_)));

    assert!(matches!(step(&mut retried, until), Step::Running(_)));
    assert!(matches!(step(&mut running, until), Step::Running(_)));
    end(&mut running, first, Ending::success(), until);
    end(&mut retried, second, Ending::success(), until);
    assert_eq!(step(&mut running, until), Step::Done);
    assert_eq!(step(&mut retried, until), Step::Done);
}

#[test]
fn a_budget_that_empties_during_back_off_ends_the_call_before_it_sends() {
    let dependency = fixed(10, plain_budget(plain()));
    let mut call = begin(&dependency, 0);
    fail(&mut call, Ending::overload(), 0);
    let until = wait(&mut call, 0);
    let all = dependency.budget().balance(at(0));
    dependency.budget().withdraw(all, at(0)).unwrap();
    assert!(matches!(gives_up(&mut call, until), GiveUp::Exhausted(_)));
    let seen = dependency.snapshot(at(until));
    assert_eq!((seen.limiter.inflight, seen.backing_off), (0, 0));
}

#[test]
fn calls_in_back_off_are_bounded_and_leave_their_place() {
    let dependency = fixed(10, plain().waiting(2));
    let mut calls: Vec<_> = (0..3).map(|_| begin(&dependency, 0)).collect();
    for call in &mut calls {
        fail(call, Ending::overload(), 0);
    }
    assert_eq!(dependency.snapshot(at(0)).backing_off, 2);
    assert_eq!(gives_up(&mut calls[2], 0), GiveUp::Crowded);
    drop(calls.remove(0));
    assert_eq!(dependency.snapshot(at(0)).backing_off, 1);
    let _ = attempt(&mut calls[0], 1_000);
    assert_eq!(dependency.snapshot(at(0)).backing_off, 0);
}

#[test]
fn attempts_and_time_travel_with_the_job() {
    let dependency = fixed(10, plain_budget(plain()));
    let mut call = begin(&dependency, 0);
    fail(&mut call, Ending::overload(), 500);
    let carried = call.carried(at(1_500));
    drop(call);
    assert_eq!(
        (carried.attempts, carried.left),
        (1, Duration::from_millis(8_500))
    );

    // In another process, whose clock is elsewhere.
    let other = fixed(10, plain_budget(plain()));
    let carried = limiter_core::Carried::from_bytes(carried.to_bytes());
    let mut call = other.call(at(77_000_000), CallOptions::new().carried(carried));
    let second = attempt(&mut call, 77_000_000);
    assert_eq!(second.number, 2);
    assert_eq!(
        milli(&other, 77_000_000),
        9_000,
        "a retry, not a first attempt"
    );
    end(&mut call, second, Ending::overload(), 77_000_000);
    let _ = attempt(&mut call, 77_001_000);
    assert_eq!(step(&mut call, 77_008_500), Step::Cancel(3));
    assert_eq!(gives_up(&mut call, 77_008_500), GiveUp::Attempts);
}
