//! What to do instead, behind budgets.

use super::options::GaveUp;
use crate::clock::RATE;
use crate::{Clock, MonotonicClock};
use core::fmt;
use core::future::Future;
use limiter_core::{BudgetConfig, ConfigError, RetryBudget, Tokens};
use std::sync::Arc;

/// An ordered list of alternatives to a dependency: a replica, another provider, polling instead of
/// streaming, yesterday's answer. Each has a budget of its own, for a fallback that everybody takes at once
/// brings down what it falls back to. Clones share the budgets.
///
/// Over any interval each alternative is taken at most `capacity + ratio · calls + floor · time` times, by
/// the terms of its budget.
///
/// ```
/// use limiter_std::{BudgetConfig, CallOptions, Dependency, Ending, Fallbacks};
/// use std::io;
///
/// let store = Dependency::default();
/// let fallbacks = Fallbacks::try_new(&[BudgetConfig::new(), BudgetConfig::new().ratio(500)])?;
///
/// let read = |name: &str| Err::<u32, _>(io::Error::other(format!("{name} is gone")));
/// let judge = |result: Result<&u32, &io::Error>| match result {
///     Ok(_) => Ending::success(),
///     Err(_) => Ending::failure(),
/// };
/// let once = CallOptions::new().attempts(1);
/// let answer = fallbacks.call(
///     || store.call(once, judge, |_| read("the primary")),
///     |index, gave_up| match index {
///         0 => store.call(once, judge, |_| read("the replica")),
///         _ => gave_up.answer().or(Ok(42)),
///     },
/// );
/// assert_eq!(answer.expect("an old answer"), 42);
/// # Ok::<(), limiter_std::ConfigError>(())
/// ```
pub struct Fallbacks<C = MonotonicClock> {
    shared: Arc<Shared<C>>,
}

struct Shared<C> {
    budgets: Vec<RetryBudget>,
    clock: C,
}

impl Fallbacks {
    /// Alternatives that cost one token of their budgets each time, the best first.
    ///
    /// # Errors
    ///
    /// The first field that does not work.
    pub fn try_new(budgets: &[BudgetConfig]) -> Result<Self, ConfigError> {
        Self::with_clock(budgets, MonotonicClock::new())
    }
}

impl<C: Clock> Fallbacks<C> {
    /// The same, on a clock of your own.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Fallbacks::try_new).
    pub fn with_clock(budgets: &[BudgetConfig], clock: C) -> Result<Self, ConfigError> {
        let budgets = budgets
            .iter()
            .map(|config| RetryBudget::try_new(*config, RATE))
            .collect::<Result<_, ConfigError>>()?;
        Ok(Self {
            shared: Arc::new(Shared { budgets, clock }),
        })
    }

    /// Calls the primary, and the alternatives in their order as long as what was called gave up and their
    /// budgets cover them. An alternative is given its index, from 0, and how the one before it gave up.
    ///
    /// # Errors
    ///
    /// How the last that was called gave up: an error of the request's own, and a call that is out of time,
    /// are given no alternative.
    pub fn call<T, E>(
        &self,
        primary: impl FnOnce() -> Result<T, GaveUp<T, E>>,
        mut alternative: impl FnMut(usize, GaveUp<T, E>) -> Result<T, GaveUp<T, E>>,
    ) -> Result<T, GaveUp<T, E>> {
        let mut way = Way::new(&self.shared);
        let mut result = primary();
        loop {
            result = match result {
                Err(gave_up) => match way.next(&gave_up) {
                    Some(index) => alternative(index, gave_up),
                    None => return Err(gave_up),
                },
                answer => return answer,
            }
        }
    }

    /// The same for futures.
    ///
    /// # Errors
    ///
    /// As [`call`](Fallbacks::call).
    ///
    /// # Cancellation
    ///
    /// That of what is called. What an alternative cost is not given back.
    pub async fn call_async<T, E, F: Future<Output = Result<T, GaveUp<T, E>>>>(
        &self,
        primary: impl Future<Output = Result<T, GaveUp<T, E>>>,
        mut alternative: impl FnMut(usize, GaveUp<T, E>) -> F,
    ) -> Result<T, GaveUp<T, E>> {
        let mut way = Way::new(&self.shared);
        let mut result = primary.await;
        loop {
            result = match result {
                Err(gave_up) => match way.next(&gave_up) {
                    Some(index) => alternative(index, gave_up).await,
                    None => return Err(gave_up),
                },
                answer => return answer,
            }
        }
    }

    /// What is left for each alternative.
    pub fn balances(&self) -> Vec<Tokens> {
        let now = self.shared.clock.now();
        let budgets = self.shared.budgets.iter();
        budgets.map(|budget| budget.balance(now)).collect()
    }
}

/// One call's way along the alternatives.
struct Way<'a, C> {
    shared: &'a Shared<C>,
    next: usize,
}

impl<'a, C: Clock> Way<'a, C> {
    fn new(shared: &'a Shared<C>) -> Self {
        for budget in &shared.budgets {
            budget.deposit();
        }
        Self { shared, next: 0 }
    }

    fn next<T, E>(&mut self, gave_up: &GaveUp<T, E>) -> Option<usize> {
        if !gave_up.why.may_fall_back() {
            return None;
        }
        let now = self.shared.clock.now();
        while let Some(budget) = self.shared.budgets.get(self.next) {
            let index = self.next;
            self.next += 1;
            if budget.withdraw(Tokens::ONE, now).is_ok() {
                return Some(index);
            }
        }
        None
    }
}

impl<C> Clone for Fallbacks<C> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<C: Clock> fmt::Debug for Fallbacks<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fallbacks")
            .field("balances", &self.balances())
            .finish_non_exhaustive()
    }
}
