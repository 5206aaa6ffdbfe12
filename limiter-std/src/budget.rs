//! A budget with a clock.

use crate::clock::{Clock, MonotonicClock, RATE};
use core::fmt;
use limiter_core::{BudgetConfig, ConfigError, Exhausted, RetryBudget, Timestamp, Tokens};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// A handle to a budget for retries, hedges and fallbacks; clones lead to the same one. A dependency's is
/// [`Dependency::budget`](crate::Dependency::budget).
///
/// First attempts deposit, whatever comes after them withdraws; see [`RetryBudget`] for what that bounds.
/// With the feature `retry` it is a `tower::retry::budget::Budget`: `deposit` there is one first attempt,
/// which tower's policies tell at its end, and `withdraw` is one retry. On a dependency's budget that deposit
/// does nothing, for the dependency's calls deposit.
///
/// ```
/// use limiter_std::{Budget, BudgetConfig, Tokens};
///
/// let budget = Budget::try_new(BudgetConfig::new().capacity(Tokens::whole(1)).without_floor())?;
/// assert!(budget.withdraw(Tokens::ONE).is_ok());
/// assert!(budget.withdraw(Tokens::ONE).is_err());
/// # Ok::<(), limiter_std::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Budget {
    source: Arc<dyn Source>,
}

// Words that are each of them right at any time, and a clock.
impl UnwindSafe for Budget {}
impl RefUnwindSafe for Budget {}

/// Where a budget and its clock are.
pub(crate) trait Source: Send + Sync {
    fn budget(&self) -> &RetryBudget;
    fn now(&self) -> Timestamp;
    /// Whether first attempts are told by whoever makes them.
    #[cfg_attr(not(feature = "retry"), allow(dead_code))]
    fn is_told(&self) -> bool;
}

struct Own<C> {
    budget: RetryBudget,
    clock: C,
}

impl<C: Clock> Source for Own<C> {
    fn budget(&self) -> &RetryBudget {
        &self.budget
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn is_told(&self) -> bool {
        true
    }
}

impl Budget {
    /// A full budget from a configuration.
    ///
    /// # Errors
    ///
    /// The first field that does not work.
    pub fn try_new(config: BudgetConfig) -> Result<Self, ConfigError> {
        Self::with_clock(config, MonotonicClock::new())
    }

    /// The same, on a clock of your own.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Budget::try_new).
    pub fn with_clock<C: Clock>(config: BudgetConfig, clock: C) -> Result<Self, ConfigError> {
        let budget = RetryBudget::try_new(config, RATE)?;
        Ok(Self::of(Arc::new(Own { budget, clock })))
    }

    pub(crate) const fn of(source: Arc<dyn Source>) -> Self {
        Self { source }
    }

    /// Adds the ratio for a first attempt, and returns the balance. Retries never deposit.
    pub fn deposit(&self) -> Tokens {
        self.source.budget().deposit()
    }

    /// Takes `cost` for a retry, and returns the balance that is left.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] when the balance does not cover it; nothing changes.
    pub fn withdraw(&self, cost: Tokens) -> Result<Tokens, Exhausted> {
        self.source.budget().withdraw(cost, self.source.now())
    }

    /// Takes `cost` for a hedge, which needs the budget more than half full.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] when it is not, or the balance does not cover it; nothing changes.
    pub fn withdraw_hedge(&self, cost: Tokens) -> Result<Tokens, Exhausted> {
        self.source.budget().withdraw_hedge(cost, self.source.now())
    }

    /// The balance. Reading it has no side effect.
    pub fn balance(&self) -> Tokens {
        self.source.budget().balance(self.source.now())
    }

    /// The most that is ever saved up.
    pub fn capacity(&self) -> Tokens {
        self.source.budget().capacity()
    }

    /// Changes capacity, ratio and floor while in use. The balance stays equally full.
    ///
    /// # Errors
    ///
    /// The first field that does not work; nothing changes.
    pub fn reconfigure(&self, config: BudgetConfig) -> Result<(), ConfigError> {
        self.source.budget().reconfigure(config, self.source.now())
    }

    /// A first attempt was made by somebody else's hand: a deposit, unless the dependency's calls make it.
    #[cfg(feature = "retry")]
    pub(crate) fn first_attempt(&self) {
        if self.source.is_told() {
            self.deposit();
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.source.now()
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget")
            .field("balance", &self.balance())
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}
