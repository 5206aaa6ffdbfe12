//! Random calls against a plain reference, at honest and at hostile clocks.

use core::time::Duration;
use limiter_core::law::Fixed;
use limiter_core::{
    BudgetConfig, CallOptions, Config, Dependency, DependencyConfig, Ending, GiveUp, Step,
    TickRate, Ticks, Timestamp, Tokens,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

pub(crate) const RATE: TickRate = TickRate::MILLIS;

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_ticks(millis)
}

pub(crate) fn fixed(limit: u32, config: DependencyConfig) -> Dependency<Fixed> {
    // One window for a whole test.
    let windows = (Duration::from_millis(10), Duration::from_secs(60));
    let limiter = Config::new(Fixed, RATE).initial(limit);
    Dependency::new(limiter.windows(windows.0, windows.1), config)
}

pub(crate) fn milli(dependency: &Dependency<Fixed>, now: u64) -> u32 {
    dependency.budget().balance(at(now)).get()
}

/// Without a floor, so that balances are easy to read.
pub(crate) fn plain_budget(config: DependencyConfig) -> DependencyConfig {
    config.budget(BudgetConfig::new().without_floor())
}

fn endings() -> impl Strategy<Value = Ending> {
    prop_oneof![
        2 => Just(Ending::success()),
        3 => Just(Ending::failure()),
        1 => Just(Ending::permanent()),
        4 => Just(Ending::overload()),
        3 => Just(Ending::timeout()),
        1 => Just(Ending::ignored()),
        1 => Just(Ending::cancelled()),
        1 => Just(Ending::overload().do_not_retry()),
        2 => any::<u64>().prop_map(|hint| Ending::overload().retry_after(Ticks::new(hint))),
        2 => (0u64..10_000).prop_map(|hint| Ending::failure().retry_after(Ticks::new(hint))),
    ]
}

/// What a call may do after an attempt ended, in plain words.
fn expected(ending: Ending, made: u32, most: u32, balance: u32) -> &'static str {
    let text = format!("{ending:?}");
    if text.contains("Success") {
        "done"
    } else if ["Permanent", "Ignored", "Cancelled"]
        .iter()
        .any(|how| text.contains(how))
    {
        "permanent"
    } else if text.contains("Never") {
        "told not to"
    } else if made >= most {
        "attempts"
    } else if balance < 1_000 {
        "exhausted"
    } else {
        "wait or deadline"
    }
}

fn said(step: Step) -> &'static str {
    match step {
        Step::Done => "done",
        Step::GiveUp(GiveUp::Permanent) => "permanent",
        Step::GiveUp(GiveUp::ToldNotTo) => "told not to",
        Step::GiveUp(GiveUp::Attempts) => "attempts",
        Step::GiveUp(GiveUp::Exhausted(_)) => "exhausted",
        Step::Wait(_) | Step::GiveUp(GiveUp::WaitTooLong | GiveUp::Deadline) => "wait or deadline",
        _ => "something else",
    }
}

/// A call against the plain loop: each attempt's end, what it took, and a random word. `tokens` are in the budget,
/// `most` attempts and `total` milliseconds are allowed.
pub(crate) fn is_the_plain_loop(
    tokens: u32,
    most: u32,
    total: u64,
    work: Vec<(Ending, u64, u32)>,
) -> TestCaseResult {
    let dependency = fixed(
        1,
        plain_budget(DependencyConfig::new(RATE).throttle(None)).attempts(most),
    );
    let all = dependency.budget().balance(at(0)).get();
    dependency
        .budget()
        .withdraw(Tokens::milli(all - tokens), at(0))
        .unwrap();
    let mut call = dependency.call(at(0), CallOptions::new().total(Ticks::new(total)));
    let (mut now, mut made, mut balance) = (0u64, 0, tokens);
    for (ending, took, random) in work {
        let Step::Attempt(attempt) = call.step(at(now), random) else {
            panic!("an attempt is due");
        };
        made += 1;
        balance = if made == 1 {
            balance + 100
        } else {
            balance - 1_000
        };
        prop_assert_eq!(attempt.number, made);
        prop_assert_eq!(milli(&dependency, now), balance);
        // No attempt starts after the end, or lasts longer.
        prop_assert!(now < total && attempt.deadline.ticks() <= total);
        now += took.min(attempt.timeout.get());
        call.finish(attempt.number, ending, at(now), random);
        let next = call.step(at(now), random);
        let rule = expected(ending, made, most, balance);
        prop_assert_eq!(said(next), rule);
        let Step::Wait(until) = next else {
            break;
        };
        // The default back-off, and what a hint may add to it.
        let length = until.ticks() - now;
        prop_assert!(
            (1_000..=4_000 + 5_000 + 2_000).contains(&length),
            "{length}"
        );
        prop_assert!(until.ticks() < total);
        now = until.ticks();
    }
    drop(call);
    let seen = dependency.snapshot(at(now));
    prop_assert_eq!((seen.limiter.inflight, seen.backing_off), (0, 0));
    Ok(())
}

/// What to do with one of six calls, after how much time.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub(crate) call: usize,
    /// 0 begins anew, 1 may give up, 2 to 4 end an attempt, everything else asks what to do.
    pub(crate) what: u8,
    pub(crate) ending: Ending,
    pub(crate) passed: i64,
    pub(crate) random: u32,
}

fn moves() -> impl Strategy<Value = Move> {
    let passed = prop_oneof![
        6 => 0i64..200,
        1 => Just(0i64),
        1 => -100_000i64..100_000,
        1 => any::<i64>(),
    ];
    (0usize..6, 0u8..8, endings(), passed, any::<u32>()).prop_map(
        |(call, what, ending, passed, random)| Move {
            call,
            what,
            ending,
            passed,
            random,
        },
    )
}

/// Whether six calls on one dependency keep within its bounds and give everything back, whatever the clock does.
pub(crate) fn keep_their_bounds(start: u64, work: Vec<Move>) -> TestCaseResult {
    let config = DependencyConfig::new(RATE)
        .attempts(4)
        .hedge(950, Duration::from_millis(100))
        .waiting(3)
        .budget(BudgetConfig::new().without_floor());
    let dependency = fixed(4, config);
    let mut clock = start;
    let mut calls: Vec<_> = (0..6)
        .map(|_| {
            (
                dependency.call(at(start), CallOptions::new().hedge()),
                Vec::new(),
            )
        })
        .collect();
    let (mut firsts, mut more) = (0u32, 0u32);
    for one in work {
        clock = clock.wrapping_add_signed(one.passed);
        let now = at(clock);
        let random = one.random;
        let (call, running) = &mut calls[one.call];
        match one.what {
            0 => {
                let options = CallOptions::new().hedge();
                let options = if random & 1 == 0 {
                    options.hold_slot()
                } else {
                    options
                };
                running.clear();
                *call = dependency.call(now, options);
            }
            1 if random % 4 == 0 => {
                let _ = call.abandon(now);
                running.clear();
            }
            2..=4 if !running.is_empty() => {
                let number = running.swap_remove(random as usize % running.len());
                call.finish(number, one.ending, now, random);
            }
            _ => match call.step(now, random) {
                Step::Attempt(attempt) => {
                    if attempt.number == 1 {
                        firsts += 1
                    } else {
                        more += 1
                    }
                    prop_assert!(attempt.number <= 4);
                    prop_assert!(attempt.hedge || running.is_empty());
                    running.push(attempt.number);
                    prop_assert!(running.len() <= 2);
                }
                Step::Cancel(number) => running.retain(|&other| other != number),
                Step::Done | Step::GiveUp(_) => running.clear(),
                Step::Wait(until) => {
                    prop_assert!(running.is_empty());
                    prop_assert!(until.ticks() - now.ticks() <= 11_000);
                }
                Step::Running(_) => prop_assert!(!running.is_empty()),
            },
        }
        let seen = dependency.snapshot(now);
        prop_assert!(seen.limiter.inflight <= 4 && seen.backing_off <= 3);
        prop_assert!(more * 1_000 <= 10_000 + firsts * 100);
    }
    drop(calls);
    let seen = dependency.snapshot(at(clock));
    prop_assert_eq!((seen.limiter.inflight, seen.backing_off), (0, 0));
    Ok(())
}

proptest! {
    #[test]
    fn at_an_honest_clock_a_call_is_the_plain_loop(
        tokens in 0u32..5_000,
        most in 1u32..6,
        total in 1u64..30_000,
        work in prop::collection::vec((endings(), 0u64..1_500, any::<u32>()), 6),
    ) {
        is_the_plain_loop(tokens, most, total, work)?;
    }

    #[test]
    fn at_any_clock_calls_keep_their_bounds_and_give_everything_back(
        work in prop::collection::vec(moves(), 1..300),
        start in prop_oneof![Just(0u64), Just(u64::MAX - 1_000), Just((1 << 32) - 1_000), any::<u64>()],
    ) {
        keep_their_bounds(start, work)?;
    }
}
