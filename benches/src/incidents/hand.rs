//! What a careful team sets by hand today, of public crates, in virtual time.
//!
//! The breaker is `failsafe`'s at its defaults, but for the jitter of its open time, which comes from a
//! generator that cannot be seeded; its clock can be set. (`recloser` reads the system's clock.) The budget is
//! `tower`'s at its defaults, on tokio's clock, which can be paused. The fixed limit is tokio's semaphore,
//! which is what `tower`'s limit is made of.

use failsafe::clock::MockClock;
use failsafe::failure_policy::{
    ConsecutiveFailures, OrElse, SuccessRateOverTimeWindow, consecutive_failures,
    success_rate_over_time_window,
};
use failsafe::{FailurePolicy, StateMachine, backoff};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tower::retry::budget::{Budget, TpsBudget};

type Exponential = backoff::Exponential;
type Policy = OrElse<SuccessRateOverTimeWindow<Exponential>, ConsecutiveFailures<Exponential>>;

/// A caller's breaker and budget.
#[derive(Debug)]
pub(super) struct Hand {
    breaker: StateMachine<Policy, ()>,
    budget: TpsBudget,
}

impl Default for Hand {
    fn default() -> Self {
        let open = || backoff::exponential(Duration::from_secs(10), Duration::from_secs(300));
        let share = success_rate_over_time_window(0.8, 5, Duration::from_secs(30), open());
        Self {
            breaker: StateMachine::new(share.or_else(consecutive_failures(5, open())), ()),
            budget: TpsBudget::default(),
        }
    }
}

impl Hand {
    /// Whether the breaker lets an attempt through.
    pub(super) fn permits(&self) -> bool {
        self.breaker.is_call_permitted()
    }

    /// A request begins.
    pub(super) fn deposit(&self) {
        self.budget.deposit();
    }

    /// Whether the budget covers a retry, which is taken.
    pub(super) fn withdraw(&self) -> bool {
        self.budget.withdraw()
    }

    /// How an attempt ended.
    pub(super) fn ended(&self, well: bool) {
        if well {
            self.breaker.on_success();
        } else {
            self.breaker.on_error();
        }
    }
}

/// The clocks of these crates.
#[derive(Debug)]
pub(super) struct Hands<'a> {
    runtime: &'a Runtime,
    clock: &'a mut MockClock,
    at: u64,
}

impl Hands<'_> {
    /// Moves both on to `now`, in steps of 2 ms at least.
    pub(super) fn advance(&mut self, now: u64) {
        let passed = now.saturating_sub(self.at);
        if passed >= 2 * crate::lab::queue::MILLI {
            let passed = Duration::from_nanos(passed);
            self.clock.advance(passed);
            self.runtime.block_on(tokio::time::advance(passed));
            self.at = now;
        }
    }
}

/// Runs `run` with clocks that stand still until they are told otherwise.
///
/// # Errors
///
/// When the operating system gives no runtime.
pub(super) fn with_clocks<T>(run: impl FnOnce(Hands<'_>) -> T) -> std::io::Result<T> {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build()?;
    let _context = runtime.enter();
    Ok(failsafe::clock::freeze(|clock| {
        run(Hands {
            runtime: &runtime,
            clock,
            at: 0,
        })
    }))
}
