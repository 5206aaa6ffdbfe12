//! The library's operations.

use super::case::{RATE, Subject, each, subject, times};
use super::service::{Ready, serve};
use core::hint::black_box;
use core::ops::Range;
use core::time::Duration;
use limiter_core::law::Knee;
use limiter_core::{
    Breaker, BreakerConfig, BudgetConfig, CallOptions, Config, Dependency, DependencyConfig,
    Ending, Guarantee, Limiter, Outcome, Partitioned, Priority, Request, RetryBudget, Step, Ticks,
    Tokens,
};
use limiter_std::tower::LimiterLayer;
use tower::Layer;

/// A permit taken and finished with success, by the caller's timestamps, under the default law, which knows the
/// wall clock as it does by default in a server.
pub(crate) fn acquire_finish() -> Box<dyn Subject> {
    let limiter = Limiter::new(Config::new(Knee::new(), RATE));
    limiter.set_wall_offset(Ticks::new(0));
    subject(limiter, |limiter, operations: Range<u64>| {
        each(operations, |operation| {
            let (began, ends) = times(operation);
            let permit = limiter.try_acquire(began);
            permit.is_ok_and(|permit| !permit.finish(Outcome::Success, ends).wake())
        })
    })
}

/// As [`acquire_finish`], for a request that says which class it is of.
pub(crate) fn admit_class() -> Box<dyn Subject> {
    let limiter = Limiter::new(Config::new(Knee::new(), RATE));
    limiter.set_wall_offset(Ticks::new(0));
    let request = black_box(Request::new().priority(Priority::Interactive));
    subject(
        (limiter, request),
        |(limiter, request), operations: Range<u64>| {
            each(operations, |operation| {
                let (began, ends) = times(operation);
                let slot = limiter.admit_for(request, began);
                slot.is_ok_and(|slot| !limiter.settle(slot, Outcome::Success, ends).wake())
            })
        },
    )
}

/// As [`acquire_finish`], for a request of a partition, on a slot of its own.
pub(crate) fn admit_partition() -> Box<dyn Subject> {
    let guarantees = [Guarantee::of(300), Guarantee::of(300)];
    let partitioned = Partitioned::<2, Knee>::new(Config::new(Knee::new(), RATE), guarantees);
    partitioned.limiter().set_wall_offset(Ticks::new(0));
    let request = black_box(Request::new().priority(Priority::Interactive).partition(1));
    subject(
        (partitioned, request),
        |(partitioned, request), operations: Range<u64>| {
            each(operations, |operation| {
                let (began, ends) = times(operation);
                let seat = partitioned.admit(request, began);
                seat.is_ok_and(|seat| !partitioned.settle(seat, Outcome::Success, ends).wake())
            })
        },
    )
}

/// As [`acquire_finish`], with a window that ends, and a law that decides, at each operation.
pub(crate) fn window_close() -> Box<dyn Subject> {
    let config = Config::new(Knee::new(), RATE)
        .windows(Duration::ZERO, Duration::from_secs(1))
        .min_samples(1);
    subject(Limiter::new(config), |limiter, operations: Range<u64>| {
        each(operations, |operation| {
            // 1,000,000 apart: 10 s, longer than any window.
            let (began, ends) = times(operation * 1_000_000);
            let permit = limiter.try_acquire(began);
            permit.is_ok_and(|permit| !permit.finish(Outcome::Success, ends).wake())
        })
    })
}

/// A refusal at the limit.
pub(crate) fn refuse() -> Box<dyn Subject> {
    let limiter = Limiter::new(Config::new(Knee::new(), RATE).initial(1));
    // Plain data, which does not free itself: the limiter stays full.
    let _slot = limiter.admit(times(0).0);
    subject(limiter, |limiter, operations: Range<u64>| {
        each(operations, |operation| {
            limiter.try_acquire(times(operation).0).is_err()
        })
    })
}

fn breaker(config: BreakerConfig) -> Box<dyn Subject> {
    let breaker = Breaker::new(config, RATE);
    subject(breaker, |breaker, operations: Range<u64>| {
        each(operations, |operation| {
            let (began, ends) = times(operation);
            let pass = breaker.try_pass(began);
            pass.is_ok_and(|pass| pass.finish(Outcome::Success, ends, 0).is_none())
        })
    })
}

/// A call through a closed breaker that counts failures in a row.
pub(crate) fn breaker_consecutive() -> Box<dyn Subject> {
    breaker(BreakerConfig::new().failure_share(None))
}

/// A call through a closed breaker that counts the share of failures.
pub(crate) fn breaker_ratio() -> Box<dyn Subject> {
    breaker(BreakerConfig::new().consecutive(None))
}

/// A first attempt and a retry, each of which changes the balance.
pub(crate) fn deposit_withdraw() -> Box<dyn Subject> {
    let budget = RetryBudget::new(BudgetConfig::new().ratio(1_000), RATE);
    subject(budget, |budget, operations: Range<u64>| {
        each(operations, |operation| {
            budget.deposit();
            budget.withdraw(Tokens::ONE, times(operation).1).is_ok()
        })
    })
}

/// A first attempt whose deposit finds the budget full.
pub(crate) fn deposit_full() -> Box<dyn Subject> {
    let budget = RetryBudget::new(BudgetConfig::new(), RATE);
    subject(budget, |budget, operations: Range<u64>| {
        let capacity = budget.capacity();
        each(operations, |_| budget.deposit() == capacity)
    })
}

/// A call that succeeds at its first attempt: begun, admitted, finished, told that it is done.
pub(crate) fn dependency() -> Box<dyn Subject> {
    let dependency =
        Dependency::<Knee>::new(Config::new(Knee::new(), RATE), DependencyConfig::new(RATE));
    dependency.limiter().set_wall_offset(Ticks::new(0));
    subject(dependency, |dependency, operations: Range<u64>| {
        each(operations, |operation| {
            let (began, ends) = times(operation);
            let mut call = dependency.call(began, CallOptions::new());
            if let Step::Attempt(attempt) = call.step(began, 0) {
                call.finish(attempt.number, Ending::success(), ends, 0);
            }
            call.step(ends, 0) == Step::Done
        })
    })
}

/// A permit taken and finished with success, with the adapter's own clock.
pub(crate) fn std_clock() -> Box<dyn Subject> {
    let limiter = limiter_std::Limiter::<Knee>::default();
    subject(limiter, |limiter, operations: Range<u64>| {
        each(operations, |_| {
            let permit = limiter.try_acquire();
            permit.map(|permit| permit.finish(Outcome::Success)).is_ok()
        })
    })
}

/// A refusal at the limit, by the adapter.
pub(crate) fn std_refuse() -> Box<dyn Subject> {
    let limiter = limiter_std::Limiter::<Knee>::default();
    while let Ok(permit) = limiter.try_acquire() {
        core::mem::forget(permit);
    }
    subject(limiter, |limiter, operations: Range<u64>| {
        each(operations, |_| limiter.try_acquire().is_err())
    })
}

/// A call of a ready service through the tower layer.
pub(crate) fn tower() -> Box<dyn Subject> {
    let layer = LimiterLayer::new(limiter_std::Limiter::<Knee>::default());
    subject(layer.layer(Ready), serve)
}
