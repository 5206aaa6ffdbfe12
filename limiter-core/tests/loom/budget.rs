//! The retry budget: tokens are spent once, and time fills it once.

use super::explore;
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
        budget.deposit(START);
        let spent: u32 = threads.into_iter().map(|t| t.join().unwrap()).sum();
        assert!(spent <= 1);
        assert_eq!(budget.balance(START).get() + spent * 1_000, 1_000);
    });
}

#[test]
fn two_that_refill_at_once_add_the_time_once() {
    explore("budget-refill", || {
        let budget = budget(Tokens::milli(0));
        let thread = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || u32::from(budget.withdraw(Tokens::ONE, after(1_000)).is_ok()))
        };
        budget.deposit(after(1_000));
        let spent = thread.join().unwrap();
        assert_eq!(spent, 1, "a second gave a token");
        assert_eq!(budget.balance(after(1_000)).get(), 100);
        // Whoever came second left the stamp where the time was added up to.
        assert_eq!(budget.balance(after(2_000)).get(), 1_100);
    });
}

#[test]
fn one_who_refills_with_an_older_time_adds_nothing_twice() {
    explore("budget-older", || {
        let budget = budget(Tokens::milli(0));
        let thread = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || budget.deposit(after(500)).get())
        };
        budget.deposit(after(1_000));
        thread.join().unwrap();
        assert_eq!(budget.balance(after(1_000)).get(), 1_200);
        assert_eq!(budget.balance(after(1_500)).get(), 1_700);
    });
}

#[test]
fn a_reconfiguration_beside_a_deposit_leaves_no_more_than_the_new_capacity() {
    explore("budget-terms", || {
        let budget = budget(Tokens::whole(2));
        let thread = {
            let budget = Arc::clone(&budget);
            thread::spawn(move || budget.deposit(START))
        };
        let smaller = BudgetConfig::new().capacity(Tokens::ONE).without_floor();
        assert!(budget.reconfigure(smaller, START).is_ok());
        thread.join().unwrap();
        let left = budget.balance(START).get();
        // One that cuts to the new capacity before the balance is scaled leaves it half as full.
        assert!((500..=1_000).contains(&left), "{left}");
    });
}
