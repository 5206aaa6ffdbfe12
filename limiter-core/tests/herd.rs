//! Many threads on one dependency: tokens and slots are conserved.

#![cfg(not(limiter_loom))]

use limiter_core::law::Fixed;
use limiter_core::{
    BreakerConfig, BudgetConfig, CallOptions, Config, Dependency, DependencyConfig, Ending, GiveUp,
    Random, RetryBudget, Step, TickRate, Timestamp, Tokens,
};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

const THREADS: u32 = 8;

fn at(millis: u64) -> Timestamp {
    Timestamp::from_ticks(millis)
}

#[test]
fn tokens_are_neither_made_nor_lost() {
    let config = BudgetConfig::new()
        .capacity(Tokens::whole(1_000))
        .without_floor();
    let budget = RetryBudget::new(config, TickRate::MILLIS);
    let start = budget.withdraw(Tokens::whole(500), at(0)).unwrap().get();
    // Never full and never empty: what is deposited and withdrawn is in the balance.
    let moved: i64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|seed| {
                let budget = &budget;
                scope.spawn(move || {
                    let random = Random::new(seed);
                    let mut moved = 0;
                    for _ in 0..50_000 {
                        let cost = random.word() % 200;
                        if random.word() % 2 == 0 {
                            budget.deposit();
                            moved += 100;
                        } else if budget.withdraw(Tokens::milli(cost), at(0)).is_ok() {
                            moved -= i64::from(cost);
                        }
                    }
                    moved
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    let left = i64::from(budget.balance(at(0)).get());
    assert!(
        left > 0 && left < 1_000_000,
        "the test wants room on both sides"
    );
    assert_eq!(left, i64::from(start) + moved);
}

#[test]
fn time_is_added_once_whoever_adds_it() {
    let config = BudgetConfig::new()
        .capacity(Tokens::whole(1_000))
        .ratio(0)
        .floor(Tokens::ONE, core::time::Duration::from_millis(10));
    let budget = RetryBudget::new(config, TickRate::MILLIS);
    budget.withdraw(Tokens::whole(1_000), at(4_096)).unwrap();
    let clock = AtomicU32::new(4_096 * 64);
    let taken: u32 = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let (budget, clock) = (&budget, &clock);
                scope.spawn(move || {
                    (0..200_000)
                        .filter(|_| {
                            // Slow enough that a thread which loses its processor is not seconds late.
                            let now = clock.fetch_add(1, Relaxed) / 64;
                            budget.withdraw(Tokens::ONE, at(now.into())).is_ok()
                        })
                        .count() as u32
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    let now = clock.load(Relaxed) / 64;
    let passed = now - 4_096;
    let due = passed / 10;
    assert!(taken <= due, "{taken} of {due}");
    let left = budget.balance(at(now.into())).get() / 1_000;
    // What a thread adds between another's two stores may count to the end of a second later.
    assert!(
        taken + left + due / 100 >= due,
        "{taken} and {left} of {due}"
    );
}

#[test]
fn calls_of_many_threads_keep_the_budget_and_give_everything_back() {
    let config = DependencyConfig::new(TickRate::MILLIS)
        .hedge(950, core::time::Duration::from_millis(5))
        .waiting(5)
        .budget(BudgetConfig::new().without_floor())
        .breaker(BreakerConfig::new().probes(2));
    let dependency: Dependency<Fixed> =
        Dependency::new(Config::new(Fixed, TickRate::MILLIS).initial(6), config);
    let (clock, firsts, more) = (AtomicU32::new(1), AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for seed in 0..THREADS {
            let (dependency, clock, firsts, more) = (&dependency, &clock, &firsts, &more);
            scope.spawn(move || {
                let random = Random::new(seed);
                let endings = [
                    Ending::success(),
                    Ending::success(),
                    Ending::failure(),
                    Ending::overload(),
                    Ending::ignored(),
                ];
                for _ in 0..2_000 {
                    let now = || at(clock.fetch_add(1, Relaxed).into());
                    let mut call = dependency.call(now(), CallOptions::new().hedge());
                    for _ in 0..40 {
                        match call.step(now(), random.word()) {
                            Step::Attempt(attempt) => {
                                let count = if attempt.number == 1 { firsts } else { more };
                                count.fetch_add(1, Relaxed);
                                if random.word() % 4 != 0 {
                                    let ending = endings[random.word() as usize % endings.len()];
                                    call.finish(attempt.number, ending, now(), random.word());
                                }
                            }
                            Step::Wait(_) if random.word() % 4 == 0 => break,
                            Step::Done => break,
                            Step::GiveUp(GiveUp::Refused(_)) if random.word() % 2 == 0 => {}
                            Step::GiveUp(_) => break,
                            _ => {}
                        }
                    }
                }
            });
        }
    });
    let seen = dependency.snapshot(at(clock.load(Relaxed).into()));
    assert_eq!((seen.limiter.inflight, seen.backing_off), (0, 0));
    let (firsts, more) = (firsts.load(Relaxed), more.load(Relaxed));
    assert!(firsts > 100 && more > 5, "{firsts} and {more}");
    assert!(more * 1_000 <= 10_000 + firsts * 100, "{more} for {firsts}");
}
