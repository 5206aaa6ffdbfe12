//! Policy and budget for tower's own retries.

use super::Errors;
use crate::budget::Budget;
use crate::clock::RATE;
use crate::dependency::entropy;
use crate::{Judge, Sleep};
use core::time::Duration;
use limiter_core::{Backoff, ConfigError, Jitter, Random, Ticks, Timestamp, Tokens};
use std::sync::Arc;
use tower::retry::Policy;

/// A policy for `tower::retry::RetryLayer`: a bounded number of attempts in a bounded time, with jittered
/// back-off, hints obeyed, and a budget that all clones share.
///
/// For services whose timeouts, limits and breakers are layers of others; otherwise take a
/// [`DependencyLayer`](super::DependencyLayer). A retry is charged when it is decided upon, for a policy
/// cannot change its mind after the back-off. Refusals of this process are not retried and cost nothing, by
/// [`Errors`].
///
/// One budget for one dependency: several policies that share one also share what they may add. Around a
/// [`DependencyLayer`](super::DependencyLayer) take the dependency's [`budget`](crate::Dependency::budget): its
/// calls deposit, and the policy does not do so again. Do not put one policy inside of another.
///
/// `J` judges results, `Z` sleeps. Requests are cloned.
///
/// ```
/// use limiter_std::tower::RetryPolicy;
/// use limiter_std::{Budget, BudgetConfig};
/// use tower::ServiceBuilder;
/// use tower::retry::RetryLayer;
///
/// let budget = Budget::try_new(BudgetConfig::new())?;
/// let policy = RetryPolicy::new(budget, tokio::time::sleep).attempts(4);
/// let service = ServiceBuilder::new()
///     .layer(RetryLayer::new(policy))
///     .service_fn(async |name: &'static str| name.parse::<u32>());
/// # let _ = service;
/// # Ok::<(), limiter_std::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RetryPolicy<Z, J = Errors> {
    budget: Budget,
    random: Arc<Random>,
    backoff: Backoff,
    cost: Tokens,
    most: u32,
    total: Ticks,
    sleep: Z,
    judge: J,
    // Of the request that this clone is for.
    attempts: u32,
    began: Timestamp,
    before: Ticks,
}

impl<Z: Sleep> RetryPolicy<Z> {
    /// 3 attempts within 10 s, with decorrelated back-off from 1 s to 4 s, judged by [`Errors`].
    pub fn new(budget: Budget, sleep: Z) -> Self {
        Self {
            budget,
            random: Arc::new(Random::new(entropy())),
            backoff: Backoff::standard(RATE),
            cost: Tokens::ONE,
            most: 3,
            total: RATE.ticks(Duration::from_secs(10)),
            sleep,
            judge: Errors,
            attempts: 0,
            began: Timestamp::default(),
            before: Ticks::new(0),
        }
    }
}

impl<Z, J> RetryPolicy<Z, J> {
    /// How many attempts are made at most, the first among them.
    #[must_use]
    pub const fn attempts(mut self, most: u32) -> Self {
        self.most = most;
        self
    }

    /// How long a request lasts at most: no attempt begins later.
    #[must_use]
    pub const fn total(mut self, longest: Duration) -> Self {
        self.total = RATE.ticks(longest);
        self
    }

    /// The delays between attempts, from `base` to `cap`.
    ///
    /// # Errors
    ///
    /// When `base` is 0 or above `cap`, or `cap` above four hours.
    pub fn backoff(
        mut self,
        jitter: Jitter,
        base: Duration,
        cap: Duration,
    ) -> Result<Self, ConfigError> {
        self.backoff = Backoff::try_new(jitter, base, cap, RATE)?;
        Ok(self)
    }

    /// What a retry costs.
    #[must_use]
    pub const fn cost(mut self, cost: Tokens) -> Self {
        self.cost = cost;
        self
    }

    /// Starts the random delays from a seed of your own: callers with the same one back off in step.
    #[must_use]
    pub fn seed(mut self, seed: u32) -> Self {
        self.random = Arc::new(Random::new(seed));
        self
    }

    /// Judges results by `judge`.
    pub fn judge<J2>(self, judge: J2) -> RetryPolicy<Z, J2> {
        RetryPolicy {
            budget: self.budget,
            random: self.random,
            backoff: self.backoff,
            cost: self.cost,
            most: self.most,
            total: self.total,
            sleep: self.sleep,
            judge,
            attempts: self.attempts,
            began: self.began,
            before: self.before,
        }
    }

    /// The budget.
    pub const fn budget(&self) -> &Budget {
        &self.budget
    }
}

impl<Req, T, E, Z, J> Policy<Req, T, E> for RetryPolicy<Z, J>
where
    Req: Clone,
    Z: Sleep,
    J: Judge<T, E>,
{
    type Future = Z::Sleeping;

    fn retry(&mut self, _: &mut Req, result: &mut Result<T, E>) -> Option<Z::Sleeping> {
        self.attempts = self.attempts.saturating_add(1);
        if self.attempts == 1 {
            self.budget.first_attempt();
        }
        let ending = self.judge.judge(result.as_ref()).0;
        if !ending.may_retry() || self.attempts >= self.most {
            return None;
        }
        let word = self.random.word();
        self.before = self.backoff.delay(self.attempts, self.before, word);
        let delay = match ending.hinted() {
            Some(hint) => self.backoff.hinted(self.before, hint),
            None => self.before,
        };
        let passed = self.budget.now().since(self.began).unwrap_or_default();
        if passed.get().saturating_add(delay.get()) >= self.total.get() {
            return None;
        }
        self.budget.withdraw(self.cost).ok()?;
        Some(self.sleep.sleep(RATE.duration(delay)))
    }

    fn clone_request(&mut self, request: &Req) -> Option<Req> {
        // Asked before the first attempt and before each retry: the clone for a request is made after the
        // first time, and keeps when that was.
        if self.attempts == 0 {
            self.began = self.budget.now();
        }
        Some(request.clone())
    }
}

impl tower::retry::budget::Budget for Budget {
    fn deposit(&self) {
        self.first_attempt();
    }

    fn withdraw(&self) -> bool {
        Self::withdraw(self, Tokens::ONE).is_ok()
    }
}
