//! Retry budgets: a deposit that pays for the withdrawal after it.

use crate::cost::case::{Subject, each, subject};
use core::ops::Range;
use core::time::Duration;
use std::sync::Arc;
use throttle_net::RetryBudget;
use tower::retry::budget::{Budget, TpsBudget};
use tower_resilience::retry::RetryBudgetBuilder;

pub(crate) fn tower() -> Box<dyn Subject> {
    let budget = TpsBudget::new(Duration::from_secs(10), 10, 1.0);
    subject(budget, |budget, operations: Range<u64>| {
        each(operations, |_| {
            budget.deposit();
            budget.withdraw()
        })
    })
}

type Shared = Arc<dyn tower_resilience::retry::RetryBudget>;

fn tower_resilience(budget: Shared) -> Box<dyn Subject> {
    subject(budget, |budget, operations: Range<u64>| {
        each(operations, |_| {
            budget.deposit();
            budget.try_withdraw()
        })
    })
}

pub(crate) fn tower_resilience_aimd() -> Box<dyn Subject> {
    tower_resilience(RetryBudgetBuilder::new().aimd().build().expect("defaults"))
}

pub(crate) fn tower_resilience_bucket() -> Box<dyn Subject> {
    let budget = RetryBudgetBuilder::new().token_bucket().build();
    tower_resilience(budget.expect("defaults"))
}

pub(crate) fn throttle_net() -> Box<dyn Subject> {
    subject(
        RetryBudget::new(1.0, 1),
        |budget, operations: Range<u64>| {
            each(operations, |_| {
                budget.deposit();
                budget.try_withdraw()
            })
        },
    )
}
