//! Adaptive concurrency limits for [embassy](https://embassy.dev) firmware.
//!
//! The limiter of `limiter-core` with `embassy-time` as its clock and a bounded line of tasks that wait for
//! a slot. It lives in a `static`, allocates nothing, and holds no critical section over anybody's waker.
//!
//! ```no_run
//! use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
//! use embassy_time::Duration;
//! use limiter_embassy::{Limiter, Outcome, config, law::Aimd};
//!
//! // At most two requests on the radio at once, to begin with.
//! static RADIO: Limiter<CriticalSectionRawMutex> = Limiter::new(config(Aimd::new()).initial(2).max(8));
//!
//! # async fn send(_: &[u8]) -> Result<(), ()> { Ok(()) }
//! async fn report(reading: &[u8]) {
//!     let Ok(permit) = RADIO.acquire_timeout(Duration::from_secs(2)).await else {
//!         return; // Busy: the next reading will do.
//!     };
//!     match send(reading).await {
//!         Ok(()) => permit.finish(Outcome::Success),
//!         Err(()) => permit.finish(Outcome::Overload),
//!     }
//! }
//! ```
//!
//! | from | call |
//! | --- | --- |
//! | a task | [`Limiter::acquire`], [`Limiter::acquire_timeout`], [`Limiter::try_acquire`], [`Permit::finish`], [`Dependency::call`] |
//! | an interrupt handler | [`Limiter::try_acquire_from_isr`], [`Permit::finish_from_isr`]: only with [`CriticalSectionRawMutex`] |
//! | C-style code | [`limiter_core::Tickets`] |
//!
//! # The mutex
//!
//! `M` guards the line of waiters, nothing else. [`CriticalSectionRawMutex`] works everywhere;
//! `ThreadModeRawMutex` masks nothing, and panics when it is locked in an interrupt handler, also by a
//! permit that is dropped there. Taking a slot, and freeing one while nobody waits, lock nothing at all.
//!
//! # Cores without compare-and-swap
//!
//! On a Cortex-M0 and on riscv32imc your binary chooses how `portable-atomic` replaces it: its feature
//! `critical-section`, or on a true single core `--cfg portable_atomic_unsafe_assume_single_core`, which
//! is smaller and quicker. Without a choice the build fails and says so.
//!
//! [`CriticalSectionRawMutex`]: embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex

#![no_std]

#[cfg(test)]
use mock_clock as _;

mod call;
mod clock;
mod dependency;
mod isr;
mod limiter;
mod permit;
mod report;
mod retained;
mod wait;

pub use call::GaveUp;
pub use clock::RATE;
pub use dependency::{Dependency, policy};
pub use limiter::{Limiter, config};
pub use limiter_core::{
    Attempt, Backoff, BreakerChange, BreakerConfig, BreakerState, BudgetConfig, CallOptions,
    Carried, Change, Config, ConfigError, DependencyConfig, DependencySnapshot, Ending, GiveUp,
    Jitter, LatencyHistogram, MAX_LIMIT, Outcome, Policy, RecordError, Refusal, RejectReason,
    Rejected, RetryBudget, Snapshot, TickRate, Ticks, Timestamp, Tokens, law,
};
pub use permit::Permit;
pub use retained::Retained;
pub use wait::{Acquire, AcquireTimeout};

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
