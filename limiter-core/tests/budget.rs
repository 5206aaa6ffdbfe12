//! Retry budgets: against a plain reference, and the faults that people met in others.

#![cfg(not(limiter_loom))]

#[path = "budget/model.rs"]
mod model;

use model::{at, budget};

use core::time::Duration;
use limiter_core::{BudgetConfig, RetryBudget, TickRate, Ticks, Timestamp, Tokens};

const SECOND: u64 = 1_000;

/// Without a floor, and emptied.
fn empty(config: BudgetConfig) -> RetryBudget {
    let budget = budget(config);
    let all = budget.balance(at(0));
    budget.withdraw(all, at(0)).unwrap();
    budget
}

fn retries(budget: &RetryBudget, now: Timestamp) -> u32 {
    let mut count = 0;
    while budget.withdraw(Tokens::ONE, now).is_ok() {
        count += 1;
    }
    count
}

#[test]
fn every_ratio_is_exact_whatever_its_inverse_is() {
    for (ratio, firsts, allowed) in [
        (600, 10, 6),
        (300, 10, 3),
        (700, 100, 70),
        (1, 1_000, 1),
        (1_000, 7, 7),
    ] {
        let config = BudgetConfig::new()
            .capacity(Tokens::whole(100))
            .without_floor();
        let budget = empty(config.ratio(ratio));
        for _ in 0..firsts {
            budget.deposit();
        }
        assert_eq!(retries(&budget, at(0)), allowed, "{firsts} at {ratio}");
    }
}

#[test]
fn the_floor_fills_an_empty_budget_and_carries_what_is_less_than_a_token() {
    let config = BudgetConfig::new()
        .ratio(0)
        .floor(Tokens::whole(10), Duration::from_secs(1));
    let all = empty(config);
    assert_eq!(retries(&all, at(SECOND)), 10);
    let one = empty(config);
    assert_eq!(retries(&one, at(50)), 0);
    assert_eq!(retries(&one, at(101)), 1);
}

#[test]
fn a_floor_that_does_not_divide_the_unit_of_time_is_right_in_the_long_run() {
    // 700 a minute, asked for every 7 ms for ten hours.
    let config = BudgetConfig::new()
        .ratio(0)
        .floor(Tokens::whole(700), Duration::from_secs(60));
    let budget = empty(config);
    let allowed: u32 = (1..=36_000_000 / 7)
        .map(|step| retries(&budget, at(step * 7)))
        .sum();
    assert!(
        (419_958..=420_000).contains(&allowed),
        "{allowed} in ten hours"
    );
}

#[test]
fn a_floor_slower_than_a_token_a_second_gives_one_in_its_time() {
    let config = BudgetConfig::new().capacity(Tokens::ONE).ratio(0);
    let budget = empty(config.floor(Tokens::milli(500), Duration::from_secs(1)));
    for second in 1..=20 {
        let expected = u32::from(second % 2 == 0);
        assert_eq!(
            retries(&budget, at(second * SECOND + second)),
            expected,
            "second {second}"
        );
    }
}

#[test]
fn the_time_until_a_token_is_never_zero_and_is_enough() {
    let rate = TickRate::MILLIS;
    let config = BudgetConfig::new()
        .ratio(0)
        .floor(Tokens::whole(1_000), Duration::from_millis(400));
    let fast = RetryBudget::new(config, rate);
    fast.withdraw(Tokens::whole(10), at(5)).unwrap();
    // 0.4 ms at a tick of 1 ms.
    assert_eq!(fast.time_until(Tokens::ONE, at(5)), Some(Ticks::new(1)));
    let slow = empty(BudgetConfig::new());
    let wait = slow.time_until(Tokens::ONE, at(0)).unwrap();
    assert!(slow.withdraw(Tokens::ONE, at(wait.get() - 1)).is_err());
    assert!(slow.withdraw(Tokens::ONE, at(wait.get())).is_ok());
    assert_eq!(
        slow.time_until(Tokens::whole(11), at(0)),
        None,
        "more than fits"
    );
    assert_eq!(
        empty(BudgetConfig::new().without_floor()).time_until(Tokens::ONE, at(0)),
        None
    );
}

#[test]
fn a_capacity_that_no_retry_fits_into_is_an_error_and_so_is_zero() {
    for milli in [0, 1, 999, 1_000_001, u32::MAX] {
        assert!(
            BudgetConfig::new()
                .capacity(Tokens::milli(milli))
                .check()
                .is_err(),
            "{milli}"
        );
    }
    assert!(BudgetConfig::new().ratio(1_001).check().is_err());
    assert!(
        BudgetConfig::new()
            .floor(Tokens::milli(0), Duration::from_secs(1))
            .check()
            .is_err()
    );
    assert!(
        BudgetConfig::new()
            .floor(Tokens::ONE, Duration::ZERO)
            .check()
            .is_err()
    );
    assert!(
        BudgetConfig::new()
            .floor(Tokens::ONE, Duration::MAX)
            .check()
            .is_err()
    );
}

#[test]
fn the_documented_largest_capacity_is_accepted() {
    let config = BudgetConfig::new().capacity(Tokens::whole(1_000));
    assert_eq!(retries(&budget(config), at(0)), 1_000);
    assert!(config.capacity(Tokens::whole(1_001)).check().is_err());
}

#[test]
fn a_thread_that_was_stopped_with_an_old_time_adds_nothing() {
    let config = BudgetConfig::new()
        .ratio(0)
        .floor(Tokens::whole(10), Duration::from_secs(1));
    let budget = empty(config);
    assert_eq!(retries(&budget, at(200)), 2);
    assert_eq!(retries(&budget, at(100)), 0);
    assert_eq!(budget.balance(at(200)), Tokens::milli(0));
    assert_eq!(
        retries(&budget, at(300)),
        1,
        "and the time was not lost to it"
    );
}

#[test]
fn a_clock_that_was_set_back_stalls_nothing() {
    let budget = empty(BudgetConfig::new().ratio(0));
    assert_eq!(retries(&budget, at(3_600 * SECOND)), 10);
    for second in 0..60 {
        let _ = budget.withdraw(Tokens::ONE, at(second * SECOND));
    }
    // Set back by an hour: a token in 10 s all the same.
    assert_eq!(retries(&budget, at(110 * SECOND)), 5);
}

#[test]
fn the_floor_goes_on_over_the_wrap_of_stamps() {
    let wrap = 1 << 32;
    let budget = budget(BudgetConfig::new().ratio(0));
    assert_eq!(retries(&budget, at(wrap - 10 * SECOND)), 10);
    assert_eq!(retries(&budget, at(wrap - 5 * SECOND)), 0);
    assert_eq!(retries(&budget, at(wrap + 10)), 1);
    assert_eq!(retries(&budget, at(wrap + 10 * SECOND + 10)), 1);
}

#[test]
fn retries_do_not_count_as_the_first_attempts_that_pay_for_retries() {
    // 20 %: 25 first attempts pay for 5 retries, and those 5 for none.
    let budget = empty(BudgetConfig::new().ratio(200).without_floor());
    for _ in 0..25 {
        budget.deposit();
    }
    assert_eq!(retries(&budget, at(0)), 5);
    assert_eq!(budget.balance(at(0)), Tokens::milli(0));
}

#[test]
fn an_emptied_budget_is_refilled_by_first_attempts() {
    let budget = empty(
        BudgetConfig::new()
            .capacity(Tokens::whole(500))
            .without_floor()
            .ratio(1_000),
    );
    for _ in 0..50 {
        budget.deposit();
    }
    let mut allowed = 0;
    while budget.withdraw(Tokens::whole(5), at(0)).is_ok() {
        allowed += 1;
    }
    assert_eq!(allowed, 10);
}

#[test]
fn one_budget_is_exhausted_and_another_is_full() {
    let (a, b) = (budget(BudgetConfig::new()), budget(BudgetConfig::new()));
    assert_eq!(retries(&a, at(0)), 10);
    assert_eq!(b.balance(at(0)), Tokens::whole(10));
    // Two handles of one budget share it.
    let (left, right) = (&b, &b);
    for handle in [left, right] {
        for _ in 0..5 {
            handle.withdraw(Tokens::ONE, at(0)).unwrap();
        }
    }
    assert!(b.withdraw(Tokens::ONE, at(0)).is_err());
}

#[test]
fn a_calm_day_saves_up_no_more_than_the_capacity() {
    let budget = budget(BudgetConfig::new());
    for _ in 0..1_000_000 {
        budget.deposit();
    }
    assert_eq!(budget.balance(at(86_000_000)), Tokens::whole(10));
    assert_eq!(retries(&budget, at(86_000_000)), 10);
}

#[test]
fn hedges_stop_at_half_and_retries_go_on() {
    let budget = budget(BudgetConfig::new().without_floor());
    let mut hedges = 0;
    while budget.withdraw_hedge(Tokens::ONE, at(0)).is_ok() {
        hedges += 1;
    }
    assert_eq!(hedges, 5);
    assert_eq!(retries(&budget, at(0)), 5);
}

#[test]
fn a_reconfigured_budget_is_as_full_as_before_and_never_fuller_than_its_capacity() {
    let budget = budget(BudgetConfig::new().without_floor());
    budget.withdraw(Tokens::whole(5), at(0)).unwrap();
    let larger = BudgetConfig::new()
        .without_floor()
        .capacity(Tokens::whole(20));
    budget.reconfigure(larger, at(0)).unwrap();
    assert_eq!(
        (budget.capacity(), budget.balance(at(0))),
        (Tokens::whole(20), Tokens::whole(10))
    );
    for _ in 0..1_000 {
        budget.deposit();
    }
    assert_eq!(budget.balance(at(0)), Tokens::whole(20));
    let smaller = BudgetConfig::new().capacity(Tokens::whole(1));
    budget.reconfigure(smaller, at(0)).unwrap();
    assert_eq!(budget.balance(at(0)), Tokens::whole(1));
    assert!(budget.reconfigure(smaller.ratio(5_000), at(0)).is_err());
    assert_eq!(budget.capacity(), Tokens::whole(1));
    // The new floor counts from now on.
    assert_eq!(retries(&budget, at(0)), 1);
    assert_eq!(retries(&budget, at(10 * SECOND + 10)), 1);
}

#[test]
fn a_floor_that_changes_goes_on_from_what_it_gave() {
    let per_second = |tokens| {
        let config = BudgetConfig::new().ratio(0).capacity(Tokens::whole(100));
        config.floor(Tokens::whole(tokens), Duration::from_secs(1))
    };
    let budget = empty(per_second(1));
    budget.reconfigure(per_second(3), at(10 * SECOND)).unwrap();
    assert!((9_999..=10_000).contains(&budget.balance(at(10 * SECOND)).get()));
    assert!((39_998..=40_000).contains(&budget.balance(at(20 * SECOND)).get()));
    let none = per_second(1).without_floor();
    budget.reconfigure(none, at(20 * SECOND)).unwrap();
    assert!((39_998..=40_000).contains(&budget.balance(at(90 * SECOND)).get()));
}

#[test]
fn first_attempts_without_a_retry_save_up_no_more_than_the_capacity_however_many_they_are() {
    let budget = empty(BudgetConfig::new().ratio(1_000).without_floor());
    // Four times what the word counts to, if each were added.
    for _ in 0..20_000_000 {
        budget.deposit();
    }
    assert_eq!(retries(&budget, at(0)), 10);
}

#[test]
fn a_clock_that_is_a_little_behind_takes_nothing_away() {
    let budget = budget(BudgetConfig::new().ratio(0));
    budget.withdraw(Tokens::ONE, at(3_600 * SECOND)).unwrap();
    // Set back by half a minute, in which the floor gives three tokens.
    let now = at(3_570 * SECOND);
    assert_eq!(budget.balance(now), Tokens::whole(9));
    assert_eq!(retries(&budget, now), 9);
}

#[test]
fn a_fast_floor_counts_from_the_first_withdrawal_whatever_the_time_is_then() {
    let fast = BudgetConfig::new().floor(Tokens::whole(64), Duration::from_millis(1));
    for start in [0, 1, 4_096, 30_000, 40_000, 1 << 20, 1 << 40] {
        let budget = budget(fast);
        assert_eq!(retries(&budget, at(start)), 10, "at {start}");
        assert_eq!(
            budget.balance(at(start + 1)),
            Tokens::whole(10),
            "at {start}"
        );
    }
}

#[test]
fn reading_changes_nothing() {
    let budget = empty(BudgetConfig::new());
    for step in 0..1_000 {
        let _ = budget.balance(at(step * 7_919));
    }
    assert_eq!(budget.balance(at(0)), Tokens::milli(0));
    assert_eq!(budget.balance(at(50 * SECOND + 10)), Tokens::whole(5));
}

#[test]
fn time_in_which_it_is_full_is_not_added_afterwards_however_long_it_is() {
    for full in [1, 4_096, 86_400_000, 1 << 32] {
        let floor = BudgetConfig::new().floor(Tokens::ONE, Duration::from_millis(1));
        let budget = budget(floor.capacity(Tokens::whole(1_000)));
        budget.deposit();
        let cost = Tokens::whole(500);
        assert_eq!(budget.withdraw(cost, at(full)), Ok(cost));
        for later in 1..=3 {
            let most = 500_000 + 1_000 * later;
            let have = budget.balance(at(full + u64::from(later))).get();
            assert!((most - 1..=most).contains(&have), "{have} of {most}");
        }
    }
}
