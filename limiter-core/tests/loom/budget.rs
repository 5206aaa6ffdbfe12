//! The retry budget: tokens are spent once, and time fills it once.

use super::{explore, explore_bounded};
use core::time::Duration;
use limiter_core::{BudgetConfig, RetryBudget, TickRate, Timestamp, Tokens};
use loom::sync::Arc;
use loom::thread;

/// A tenth of a token for a first attempt, a token in a second; milliseconds.
fn budget(left: Tokens) -> Arc<RetryBudget> {
    let config = BudgetConfig::new()
        .capacity(Tokens::whole(2))
        .floor(Tokens::ONE, Duration::from_secs(1));
    let budget = RetryBudget::new(config, TickRate::MILLIS);
    let spare = Tokens::milli(2_000 - left.get());
    assert!(budget.withdraw(spare, START).is_ok());
    Arc::new(budget)
}

const START: Timestamp = Timestamp::from_ticks(4_096);

fn after(millis: u64) -> Timestamp {
    Timestamp::from_ticks(START.ticks() + millis)
}

#[test]
fn two_withdrawals_against_a_deposit_spend_what_there_is_once() {
    explore("budget-withdraw", || {
        let budget = budget(Tokens::milli(900));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let budget = Arc::clone(&budget);
                thread::spawn(move || u32::from(budget.withdraw(Tokens::ONE, START).is_ok()))
            })
            .collect();
        budget.deposit();
        let spent: u32 = threads.into_iter().map(|t| t.join().unwrap()).sum();
        assert!(spent <= 1);
        assert_eq!(budget.balance(START).get() + spent * 1_000, 1_000);
    });
}

#[test]
fn two_that_come_at_once_have_what_time_gave_once() {
    explore("budget-time", || {
        let budget = budget(Tokens::milli(0));
        let thread = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || u32::from(budget.withdraw(Tokens::ONE, after(1_000)).is_ok()))
        };
        budget.deposit();
        let spent = u32::from(budget.withdraw(Tokens::ONE, after(1_000)).is_ok());
        assert_eq!(spent + thread.join().unwrap(), 1, "a second gave a token");
        assert_eq!(budget.balance(after(1_000)).get(), 100);
        assert_eq!(budget.balance(after(1_900)).get(), 1_000);
    });
}

#[test]
fn two_in_one_unit_of_time_have_a_full_budget_once_however_long_it_was_full() {
    explore("budget-unit", || {
        let budget = budget(Tokens::milli(1_500));
        let thread = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || u32::from(budget.withdraw(Tokens::ONE, after(60_000)).is_ok()))
        };
        let two = u32::from(budget.withdraw(Tokens::whole(2), after(60_000)).is_ok());
        let one = thread.join().unwrap();
        assert_eq!(one + two, 1, "a capacity of two");
        let left = budget.balance(after(60_000)).get();
        assert_eq!(left, 2_000 - one * 1_000 - two * 2_000);
    });
}

#[test]
fn a_withdrawal_beside_a_smaller_capacity_takes_no_more_than_there_is() {
    // Each way of the withdrawal is ten accesses: without a bound 188,044 in narrow words.
    explore_bounded("budget-smaller", 3, || {
        let budget = budget(Tokens::milli(1_100));
        let thread = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || u32::from(budget.withdraw(Tokens::ONE, START).is_ok()))
        };
        let smaller = BudgetConfig::new().capacity(Tokens::ONE).without_floor();
        assert!(budget.reconfigure(smaller, START).is_ok());
        let spent = thread.join().unwrap();
        // Before it 1,000 of 1,100, of which half are left; after it there are too few.
        let left = budget.balance(START).get();
        assert!(
            left == 50 && spent == 1 || left == 550 && spent == 0,
            "{left}"
        );
        assert!(budget.withdraw(Tokens::ONE, START).is_err());
    });
}

#[test]
fn one_who_comes_with_an_older_time_has_nothing_twice() {
    explore("budget-older", || {
        let budget = budget(Tokens::milli(0));
        let thread = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || budget.withdraw(Tokens::milli(400), after(500)).is_ok())
        };
        assert!(budget.withdraw(Tokens::milli(600), after(1_000)).is_ok());
        // Refused only between the two stores of the other: its own time gave too little.
        let spent = if thread.join().unwrap() { 1_000 } else { 600 };
        assert_eq!(budget.balance(after(1_000)).get(), 1_000 - spent);
        assert_eq!(budget.balance(after(1_500)).get(), 1_500 - spent);
    });
}

#[test]
fn two_that_find_the_clock_set_back_add_nothing_and_lose_nothing() {
    explore("budget-set-back", || {
        let budget = budget(Tokens::milli(0));
        let late = after(3_600_000);
        assert!(budget.withdraw(Tokens::whole(2), late).is_ok());
        let thread = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || budget.withdraw(Tokens::ONE, START).is_ok())
        };
        assert!(budget.withdraw(Tokens::ONE, START).is_err());
        assert!(!thread.join().unwrap());
        assert_eq!(budget.balance(START).get(), 0);
        assert_eq!(budget.balance(after(1_000)).get(), 1_000);
    });
}

#[test]
fn a_floor_that_changes_beside_a_withdrawal_gives_neither_more_nor_less() {
    explore("budget-floor", || {
        let budget = budget(Tokens::milli(0));
        let thread = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || u32::from(budget.withdraw(Tokens::ONE, after(1_000)).is_ok()))
        };
        let none = BudgetConfig::new()
            .capacity(Tokens::whole(2))
            .without_floor();
        assert!(budget.reconfigure(none, after(1_000)).is_ok());
        let spent = thread.join().unwrap();
        assert_eq!(budget.balance(after(1_500)).get() + 1_000 * spent, 1_000);
    });
}

#[test]
fn a_reconfiguration_beside_a_deposit_leaves_no_more_than_the_new_capacity() {
    explore("budget-terms", || {
        let budget = budget(Tokens::whole(2));
        let thread = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || budget.deposit())
        };
        let smaller = BudgetConfig::new().capacity(Tokens::ONE).without_floor();
        assert!(budget.reconfigure(smaller, START).is_ok());
        thread.join().unwrap();
        let left = budget.balance(START).get();
        // One that cuts to the new capacity before the balance is scaled leaves it half as full.
        assert!((500..=1_000).contains(&left), "{left}");
    });
}
