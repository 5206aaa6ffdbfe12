//! What to do instead: a second dependency, or a cheaper mode.

use crate::budget::{RetryBudget, Tokens};
use crate::call::GiveUp;
use crate::time::Timestamp;
use core::fmt;

/// One alternative of a [`Ladder`]: a replica, another provider, polling instead of streaming, the cached
/// answer of yesterday. It has a budget of its own, for a fallback that everybody takes at once brings down
/// what it falls back to.
#[derive(Clone, Copy, Debug)]
pub struct Rung<'a> {
    budget: &'a RetryBudget,
    cost: Tokens,
}

impl<'a> Rung<'a> {
    /// An alternative that takes one token of `budget` each time. A dependency's
    /// [`budget`](crate::Dependency::budget) may be it, where fallbacks and its own retries share one.
    pub const fn new(budget: &'a RetryBudget) -> Self {
        Self {
            budget,
            cost: Tokens::ONE,
        }
    }

    /// An alternative that takes more or less.
    #[must_use]
    pub const fn cost(mut self, cost: Tokens) -> Self {
        self.cost = cost;
        self
    }
}

/// An ordered list of alternatives, the best first. The primary itself is not in it.
///
/// Over any interval each alternative is taken at most `capacity + ratio · calls + floor · time` times, by
/// the terms of its budget: [`begin`](Ladder::begin) deposits, taking withdraws.
///
/// ```
/// use limiter_core::{
///     BudgetConfig, GiveUp, Ladder, NoFallback, RetryBudget, Rung, TickRate, Timestamp, Tokens,
/// };
///
/// static REPLICA: RetryBudget =
///     RetryBudget::new(BudgetConfig::new().capacity(Tokens::whole(1)), TickRate::MILLIS);
/// static POLLING: RetryBudget = RetryBudget::new(BudgetConfig::new(), TickRate::MILLIS);
/// static LADDER: Ladder<'static> = Ladder::new(&[Rung::new(&REPLICA), Rung::new(&POLLING)]);
///
/// let now = Timestamp::from_ticks(0);
/// let mut climb = LADDER.begin();
/// // The primary gave up; then the replica failed too.
/// assert_eq!(climb.next(GiveUp::Attempts, now), Ok(0));
/// assert_eq!(climb.next(GiveUp::Attempts, now), Ok(1));
/// assert_eq!(climb.next(GiveUp::Attempts, now), Err(NoFallback::Ended));
///
/// // The next call finds the replica's budget empty and goes on to polling.
/// assert_eq!(LADDER.begin().next(GiveUp::Attempts, now), Ok(1));
/// // An error of the request itself is none that another would not have.
/// let refused = LADDER.begin().next(GiveUp::Permanent, now);
/// assert_eq!(refused, Err(NoFallback::NoUse(GiveUp::Permanent)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ladder<'a> {
    rungs: &'a [Rung<'a>],
}

impl<'a> Ladder<'a> {
    /// The alternatives in their order.
    pub const fn new(rungs: &'a [Rung<'a>]) -> Self {
        Self { rungs }
    }

    /// A call begins at the primary: a first attempt to every alternative's budget.
    pub fn begin(&self) -> Climb<'a> {
        for rung in self.rungs {
            rung.budget.deposit();
        }
        Climb {
            rungs: self.rungs,
            next: 0,
        }
    }
}

/// One call's way along a [`Ladder`].
#[derive(Clone, Debug)]
#[must_use = "a climb does nothing by itself"]
pub struct Climb<'a> {
    rungs: &'a [Rung<'a>],
    next: usize,
}

impl Climb<'_> {
    /// The index of the next alternative whose budget covers it, after what was tried before gave up.
    ///
    /// # Errors
    ///
    /// Why there is none. The last error is the answer then.
    pub fn next(&mut self, why: GiveUp, now: Timestamp) -> Result<usize, NoFallback> {
        if !why.may_fall_back() {
            return Err(NoFallback::NoUse(why));
        }
        let mut passed = false;
        while let Some(rung) = self.rungs.get(self.next) {
            let index = self.next;
            self.next += 1;
            match rung.budget.withdraw(rung.cost, now) {
                Ok(_) => return Ok(index),
                Err(_) => passed = true,
            }
        }
        Err(if passed {
            NoFallback::Exhausted
        } else {
            NoFallback::Ended
        })
    }
}

/// Why there is no alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum NoFallback {
    /// Another could not do better, or no time is left.
    NoUse(GiveUp),
    /// Every alternative was tried.
    Ended,
    /// The budgets of those that are left do not cover it.
    Exhausted,
}

impl fmt::Display for NoFallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoUse(why) => why.describe(),
            Self::Ended => "every alternative was tried; answer with the last error",
            Self::Exhausted => "no budget covers another alternative; answer with the last error",
        })
    }
}

impl core::error::Error for NoFallback {}
