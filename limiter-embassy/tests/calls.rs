//! Logical calls on embassy's timers: attempts, back-off, timeouts, and what survives a reset.

mod common;

use common::{Clock, Count};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_time::{Duration, Instant, Timer};
use limiter_embassy::law::Fixed;
use limiter_embassy::{
    Attempt, BreakerConfig, BreakerState, BudgetConfig, CallOptions, Dependency, Ending, GaveUp,
    GiveUp, Policy, RecordError, Refusal, RejectReason, Retained, Tokens, config, policy,
};
use std::cell::RefCell;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

type Cloud = Dependency<CriticalSectionRawMutex, Fixed, (), 2>;

const SECOND: std::time::Duration = std::time::Duration::from_secs(1);

fn leaked(policy: limiter_embassy::DependencyConfig) -> &'static Policy {
    Box::leak(Box::new(Policy::try_new(policy).expect("it works")))
}

fn cloud(limit: u32) -> Cloud {
    let policy = policy()
        .breaker(BreakerConfig::new().consecutive(None).failure_share(None))
        .throttle(None)
        .timeout(2 * SECOND)
        .total(20 * SECOND);
    Dependency::new(config(Fixed).initial(limit), leaked(policy), 17)
}

/// Polls a future when it was woken, and moves the clock on by a centisecond when it was not.
fn run<F: Future>(clock: &Clock, future: F) -> F::Output {
    let mut future = pin!(future);
    let (woken, waker) = Count::new();
    let mut seen = usize::MAX;
    for _ in 0..100_000 {
        if woken.get() != seen {
            seen = woken.get();
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return output;
            }
        }
        clock.advance(Duration::from_millis(10));
    }
    panic!("it waits for ever");
}

fn overload(_: &u16) -> Ending {
    Ending::overload()
}

#[test]
fn a_call_that_succeeds_makes_one_attempt_and_leaves_nothing_behind() {
    let clock = Clock::take();
    let cloud = cloud(1);
    let answer = run(
        &clock,
        cloud.call(CallOptions::new(), overload, async |attempt: Attempt| {
            Timer::after_millis(30).await;
            Ok(attempt.number)
        }),
    );
    assert_eq!(answer, Ok(1));
    let seen = cloud.snapshot();
    assert_eq!((seen.limiter.inflight, seen.backing_off), (0, 0));
    assert_eq!(seen.balance, seen.capacity, "a first attempt costs nothing");
}

#[test]
fn a_failed_attempt_is_tried_again_after_a_back_off_within_its_budget() {
    let clock = Clock::take();
    let cloud = cloud(1);
    let started = RefCell::new(Vec::new());
    let answer = run(
        &clock,
        cloud.call(CallOptions::new(), overload, async |attempt: Attempt| {
            started.borrow_mut().push(Instant::now());
            if attempt.number < 3 { Err(503) } else { Ok(()) }
        }),
    );
    assert_eq!(answer, Ok(()));
    let started = started.into_inner();
    assert_eq!(started.len(), 3);
    for pair in started.windows(2) {
        let waited = pair[1].duration_since(pair[0]);
        assert!(waited >= Duration::from_secs(1), "{waited:?}");
    }
    assert_eq!(cloud.budget().capacity(), Tokens::whole(10));
    assert!(
        cloud.snapshot().balance < Tokens::whole(9),
        "two retries were charged"
    );
}

#[test]
fn an_attempt_without_an_answer_is_dropped_at_its_timeout() {
    let clock = Clock::take();
    let cloud = cloud(1);
    let start = Instant::now();
    let options = CallOptions::new().attempts(1);
    let gave_up = run(
        &clock,
        cloud.call(options, overload, async |_| {
            std::future::pending::<Result<(), u16>>().await
        }),
    );
    assert_eq!(
        gave_up,
        Err(GaveUp {
            why: GiveUp::Attempts,
            last: None
        })
    );
    let took = start.elapsed().as_millis();
    assert!((2_000..2_100).contains(&took), "{took}");
    assert_eq!(cloud.snapshot().limiter.inflight, 0);
}

#[test]
fn a_permanent_error_is_the_answer_at_once() {
    let clock = Clock::take();
    let cloud = cloud(1);
    let start = Instant::now();
    let gave_up: Result<(), _> = run(
        &clock,
        cloud.call(
            CallOptions::new(),
            |_| Ending::permanent(),
            async |_| Err(400),
        ),
    );
    let last = Some(400);
    assert_eq!(
        gave_up,
        Err(GaveUp {
            why: GiveUp::Permanent,
            last
        })
    );
    assert!(start.elapsed() < Duration::from_millis(50));
}

#[test]
fn at_the_limit_a_call_waits_in_line_no_longer_than_it_may_last() {
    let clock = Clock::take();
    let cloud = cloud(1);
    let hold = async |_: Attempt| -> Result<(), u16> {
        Timer::after_millis(500).await;
        Ok(())
    };
    let (mut first, mut second, mut third) = (
        pin!(cloud.call(CallOptions::new(), overload, hold)),
        pin!(cloud.call(CallOptions::new(), overload, hold)),
        pin!(cloud.call(
            CallOptions::new().total(limiter_embassy::RATE.ticks(SECOND / 10)),
            overload,
            hold
        )),
    );
    let mut context = Context::from_waker(Waker::noop());
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    assert!(third.as_mut().poll(&mut context).is_pending());
    assert_eq!(cloud.queued(), 2);
    clock.advance(Duration::from_millis(150));
    match third.as_mut().poll(&mut context) {
        Poll::Ready(Err(GaveUp {
            why: GiveUp::Refused(Refusal::Limiter(refused)),
            ..
        })) => {
            assert_eq!(refused.reason, RejectReason::TimedOut);
        }
        other => panic!("late, and then {other:?}"),
    }
    clock.advance(Duration::from_millis(400));
    assert_eq!(first.as_mut().poll(&mut context), Poll::Ready(Ok(())));
    assert!(
        second.as_mut().poll(&mut context).is_pending(),
        "its attempt runs"
    );
    assert_eq!(cloud.snapshot().limiter.inflight, 1);
    clock.advance(Duration::from_millis(510));
    assert_eq!(second.as_mut().poll(&mut context), Poll::Ready(Ok(())));
    assert_eq!(cloud.snapshot().limiter.inflight, 0);
}

/// Cancelled at every await, and the next in line is served.
#[test]
fn a_call_dropped_at_any_point_frees_what_it_took() {
    let clock = Clock::take();
    for polls in 0..40 {
        let cloud = cloud(1);
        let fails = async |_: Attempt| -> Result<(), u16> {
            Timer::after_millis(100).await;
            Err(503)
        };
        let waits = async |_: Attempt| -> Result<(), u16> { Ok(()) };
        let mut context = Context::from_waker(Waker::noop());
        let mut next = pin!(cloud.call(CallOptions::new(), overload, waits));
        {
            let mut call = pin!(cloud.call(CallOptions::new(), overload, fails));
            for poll in 0..polls {
                if call.as_mut().poll(&mut context).is_ready() {
                    break;
                }
                if poll == 0 {
                    assert!(next.as_mut().poll(&mut context).is_pending());
                }
                clock.advance(Duration::from_millis(77));
            }
        }
        // Freed between its attempts too: then the next one was served long ago.
        let _ = next.as_mut().poll(&mut context);
        let seen = cloud.snapshot();
        assert_eq!((seen.limiter.inflight, cloud.queued()), (0, 0), "{polls}");
        assert_eq!(seen.backing_off, 0, "{polls}");
    }
}

#[test]
fn an_empty_budget_ends_the_retries_and_not_the_first_attempts() {
    let clock = Clock::take();
    let budget = BudgetConfig::new()
        .capacity(Tokens::whole(2))
        .without_floor();
    let policy = policy()
        .budget(budget)
        .throttle(None)
        .breaker(BreakerConfig::new().consecutive(None).failure_share(None));
    let cloud: Cloud = Dependency::new(config(Fixed).initial(4), leaked(policy), 3);
    let mut attempts = 0;
    let mut exhausted = 0;
    for _ in 0..20 {
        let gave_up: Result<(), _> = run(
            &clock,
            cloud.call(CallOptions::new(), overload, async |_| {
                attempts += 1;
                Err(503)
            }),
        );
        exhausted += u32::from(matches!(gave_up.unwrap_err().why, GiveUp::Exhausted(_)));
    }
    // Capacity 2 and a tenth of twenty first attempts.
    assert!((20..=24).contains(&attempts), "{attempts}");
    assert!(exhausted >= 16, "{exhausted}");
}

#[test]
fn what_was_kept_goes_on_in_the_next_life_and_garbage_does_not() {
    let clock = Clock::take();
    let kept: &'static Retained = Box::leak(Box::default());
    let limits = config(Fixed).initial(4);
    let policy = leaked(policy().throttle(None));
    let life = || -> Cloud { Dependency::new(limits, policy, 9).keeping(kept) };

    let first = life();
    assert_eq!(
        first.restore(std::time::Duration::ZERO),
        Err(RecordError::Blank)
    );
    assert!(
        first.snapshot().balance < Tokens::ONE,
        "nothing was saved up"
    );
    // A minute later the floor has filled it a little; an attempt leaves and the device dies with it.
    clock.advance(Duration::from_secs(60));
    let before = first.snapshot().balance;
    assert!(before >= Tokens::whole(5), "{before:?}");
    let mut call = Box::pin(first.call(CallOptions::new(), overload, async |_| {
        std::future::pending::<Result<(), u16>>().await
    }));
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..300 {
        assert!(call.as_mut().poll(&mut context).is_pending());
        clock.advance(Duration::from_millis(10));
    }
    std::mem::forget(call);

    let second = life();
    assert_eq!(second.restore(std::time::Duration::ZERO), Ok(()));
    let after = second.snapshot().balance;
    assert!(
        after > Tokens::ONE && after <= Tokens::milli(6_500),
        "{after:?}"
    );
    // The attempt that was on its way makes the first one of this life a retry.
    let answer = run(
        &clock,
        second.call(CallOptions::new(), overload, async |_| Ok(())),
    );
    assert_eq!(answer, Ok(()));
    assert!(second.snapshot().balance < after, "it was charged");

    // Saved when the call ended: a third life owes nothing, and has slept ten seconds for one token more.
    let third = life();
    let saved = second.snapshot().balance;
    assert_eq!(third.restore(10 * SECOND), Ok(()));
    assert!(third.snapshot().balance > saved);
    assert_eq!(third.snapshot().breaker, BreakerState::Closed);
}

#[test]
fn the_seconds_that_a_device_stays_up_count_for_the_floor_of_the_next_life() {
    let clock = Clock::take();
    let kept: &'static Retained = Box::leak(Box::default());
    let policy = leaked(policy());
    let life = || -> Cloud { Dependency::new(config(Fixed).initial(4), policy, 9).keeping(kept) };
    let first = life();
    assert_eq!(
        first.restore(std::time::Duration::ZERO),
        Err(RecordError::Blank)
    );
    {
        let mut time = pin!(first.keep_time());
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..300 {
            assert!(time.as_mut().poll(&mut context).is_pending());
            clock.advance(Duration::from_millis(100));
        }
    }
    let second = life();
    assert_eq!(second.restore(std::time::Duration::ZERO), Ok(()));
    // One for ten seconds.
    let balance = second.snapshot().balance;
    assert!(
        balance >= Tokens::milli(2_500) && balance <= Tokens::milli(3_100),
        "{balance:?}"
    );
}
