//! Ladders of alternatives: in order, each within its own budget.

#![cfg(not(limiter_loom))]

use core::time::Duration;
use limiter_core::{
    BudgetConfig, GiveUp, Ladder, NoFallback, RetryBudget, Rung, TickRate, Timestamp, Tokens,
};
use proptest::prelude::*;

fn at(millis: u64) -> Timestamp {
    Timestamp::from_ticks(millis)
}

fn budget(tokens: u32) -> RetryBudget {
    let config = BudgetConfig::new()
        .capacity(Tokens::whole(tokens))
        .without_floor();
    RetryBudget::new(config, TickRate::MILLIS)
}

#[test]
fn alternatives_are_taken_in_their_order_each_once() {
    let budgets = [budget(10), budget(10), budget(10)];
    let rungs = [
        Rung::new(&budgets[0]),
        Rung::new(&budgets[1]).cost(Tokens::whole(3)),
        Rung::new(&budgets[2]),
    ];
    let mut climb = Ladder::new(&rungs).begin();
    for index in 0..3 {
        assert_eq!(climb.next(GiveUp::Attempts, at(0)), Ok(index));
    }
    assert_eq!(climb.next(GiveUp::Attempts, at(0)), Err(NoFallback::Ended));
    let left: Vec<_> = budgets
        .iter()
        .map(|budget| budget.balance(at(0)).get())
        .collect();
    assert_eq!(left, [9_000, 7_000, 9_000]);
}

#[test]
fn one_whose_budget_is_exhausted_is_passed_over_and_named_when_it_was_the_last() {
    let (empty, full) = (budget(1), budget(10));
    empty.withdraw(Tokens::ONE, at(0)).unwrap();
    let both = [Rung::new(&empty), Rung::new(&full)];
    assert_eq!(
        Ladder::new(&both).begin().next(GiveUp::Crowded, at(0)),
        Ok(1)
    );
    let one = [Rung::new(&empty)];
    let refused = Ladder::new(&one).begin().next(GiveUp::Crowded, at(0));
    assert_eq!(refused, Err(NoFallback::Exhausted));
    assert_eq!(
        Ladder::new(&[]).begin().next(GiveUp::Attempts, at(0)),
        Err(NoFallback::Ended)
    );
}

#[test]
fn what_another_cannot_do_better_is_not_given_to_it_and_costs_nothing() {
    let only = budget(10);
    let rungs = [Rung::new(&only)];
    for why in [GiveUp::Permanent, GiveUp::Deadline, GiveUp::Abandoned] {
        let mut climb = Ladder::new(&rungs).begin();
        assert_eq!(climb.next(why, at(0)), Err(NoFallback::NoUse(why)));
    }
    assert_eq!(only.balance(at(0)), Tokens::whole(10));
    // A dependency that wants no retries, or none before the call is over, says nothing about another.
    for why in [GiveUp::ToldNotTo, GiveUp::WaitTooLong] {
        assert_eq!(Ladder::new(&rungs).begin().next(why, at(0)), Ok(0));
    }
}

#[test]
fn when_the_primary_is_down_the_replica_sees_a_tenth_of_the_calls() {
    let config = BudgetConfig::new().floor(Tokens::ONE, Duration::from_secs(10));
    let replica = RetryBudget::new(config, TickRate::MILLIS);
    let rungs = [Rung::new(&replica)];
    // 100 calls a second for a minute.
    let taken = (0..6_000u64)
        .filter(|call| {
            let now = at(call * 10);
            Ladder::new(&rungs)
                .begin()
                .next(GiveUp::Attempts, now)
                .is_ok()
        })
        .count();
    assert!((610..=616).contains(&taken), "{taken}");
}

proptest! {
    #[test]
    fn no_alternative_is_taken_more_often_than_its_budget_allows(
        calls in prop::collection::vec(0u8..3, 1..300),
    ) {
        let budgets = [budget(2), budget(5)];
        let rungs = [Rung::new(&budgets[0]), Rung::new(&budgets[1])];
        let (mut taken, mut firsts) = ([0, 0], 0);
        for depth in calls {
            let mut climb = Ladder::new(&rungs).begin();
            firsts += 1;
            for _ in 0..depth {
                if let Ok(index) = climb.next(GiveUp::Attempts, at(0)) {
                    taken[index] += 1;
                }
            }
            prop_assert!(taken[0] * 1_000 <= 2_000 + firsts * 100);
            prop_assert!(taken[1] * 1_000 <= 5_000 + firsts * 100);
        }
    }
}
