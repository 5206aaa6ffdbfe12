//! Overload protection on plain atomics: no std, no allocation, no float, no clock, no unsafe.
//!
//! A [`Limiter`] finds how much a service can do at once, follows it as it changes, and refuses the rest
//! in nanoseconds. The same code runs in servers (`limiter-std`), in firmware and in the model checker;
//! time and randomness are arguments everywhere.
//!
//! ```
//! use limiter_core::law::Knee;
//! use limiter_core::{Config, Limiter, ManualClock, Outcome, TickRate, Ticks};
//!
//! static LIMITER: Limiter = Limiter::new(Config::new(Knee::new(), TickRate::MICROS));
//! let clock = ManualClock::new();
//!
//! let permit = LIMITER.try_acquire(clock.now()).expect("far below the limit");
//! clock.advance(Ticks::new(20_000));
//! permit.finish(Outcome::Success, clock.now());
//! ```
//!
//! | to | look at |
//! | --- | --- |
//! | limit concurrency | [`Limiter`], [`Config`], [`Permit`] |
//! | say what matters, and what costs more than one slot | [`Request`], [`Priority`], [`Shares`] |
//! | guarantee a part of the limit to writes | [`Partitioned`], [`Guarantee`] |
//! | refuse callers that take too much first | [`Callers`], [`Caller`] |
//! | choose or write a law | [`law`] |
//! | call a dependency without making its bad day worse | [`Dependency`], [`Call`], [`DependencyConfig`] |
//! | do that in parts | [`RetryBudget`], [`Breaker`], [`Throttle`], [`Backoff`], [`LatencyHistogram`] |
//! | do something else instead | [`Ladder`] |
//! | keep what was learned over a restart | [`Dependency::save`], [`Journal`] |
//! | use it from interrupts or C-style code | [`Tickets`] |
//! | look at it | [`Snapshot`], [`law::Reason`] |
//! | test code that uses it | [`ManualClock`] |
//!
//! # Model checking
//!
//! Code that embeds a limiter can be explored by [loom](https://docs.rs/loom), every interleaving of it: with the
//! feature `loom` and `--cfg limiter_loom` in `RUSTFLAGS` the library's atomics are loom's, as in its own models.
//! Constructors are not `const` then, so there are no statics. `tests/loom/users.rs` has a pool that frees its slot
//! before it puts its connection back, and how loom finds that. The feature is for models and outside semver.

#![no_std]

mod adapt;
mod admit;
mod backoff;
mod breaker;
mod budget;
mod call;
mod callers;
mod cell;
mod config;
mod dependency;
mod error;
mod fallback;
mod histogram;
pub mod law;
mod limiter;
mod outcome;
mod partition;
mod permit;
mod random;
mod record;
mod request;
mod settle;
mod snapshot;
mod tag;
mod throttle;
mod ticket;
mod time;

#[cfg(all(test, limiter_loom))]
#[path = "../tests/loom/cells.rs"]
mod models;

pub use backoff::{Backoff, Jitter};
pub use breaker::{Breaker, BreakerChange, BreakerConfig, BreakerOpen, BreakerState, Pass};
pub use budget::{BudgetConfig, Exhausted, RetryBudget, Tokens};
pub use call::{Attempt, Call, CallOptions, Carried, Depends, Ending, GiveUp, Refusal, Step};
pub use callers::{Caller, Callers, Standing};
pub use cell::admission::MAX_LIMIT;
pub use cell::state::Words;
pub use config::Config;
pub use dependency::{Dependency, DependencyConfig, DependencySnapshot, Events, Policy};
pub use error::{ConfigError, Forecast, RejectReason, Rejected};
pub use fallback::{Climb, Ladder, NoFallback, Rung};
pub use histogram::{Latencies, LatencyHistogram};
pub use law::partition::{Guarantee, MOST_GUARANTEED};
pub use law::shares::{Priority, Shares};
pub use limiter::Limiter;
pub use outcome::Outcome;
pub use partition::{PartitionSnapshot, Partitioned, Seat};
pub use permit::{Handle, Permit, Sample, Slot};
pub use random::Random;
pub use record::{Journal, Place, Record, RecordError};
pub use request::Request;
pub use settle::{Change, Settled};
pub use snapshot::Snapshot;
pub use throttle::{Throttle, ThrottleConfig};
pub use ticket::{NotOut, Ticket, Tickets};
pub use time::{ManualClock, TickRate, Ticks, Timestamp};
