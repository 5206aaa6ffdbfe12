//! Adaptive concurrency limits for threads and futures on any runtime.
//!
//! A [`Limiter`] finds how much a service, or what it depends on, can do at once, follows that as it
//! changes, and refuses the rest in nanoseconds. What one request costs and how the limit is found is the
//! business of `limiter-core`; this crate adds a clock, permits that own their way back, waiting, and
//! layers.
//!
//! ```
//! use core::time::Duration;
//! use limiter_std::{Limiter, Outcome};
//!
//! let limiter = Limiter::default();
//! match limiter.acquire_timeout(Duration::from_millis(50)) {
//!     Ok(permit) => {
//!         // The work, whose time and result steer the limit.
//!         permit.finish(Outcome::Success);
//!     }
//!     Err(refused) => println!("busy: {refused}"),
//! }
//! ```
//!
//! | to | take |
//! | --- | --- |
//! | configure a limit, or choose a law | [`Config`], [`law`] |
//! | be refused at once when there is no slot | [`Limiter::try_acquire`] |
//! | wait in a thread | [`Limiter::acquire`], [`Limiter::acquire_timeout`] |
//! | wait in a future | [`Limiter::acquire_async`], [`Limiter::acquire_until`] |
//! | say what a request is: its priority, its weight, its partition, its caller | [`Request`], [`Caller`], [`Limiter::try_acquire_for`] |
//! | guarantee a part of the limit, with counts of its own | [`Limiter::partitioned`], [`Partitions`] |
//! | let it watch first, and refuse nobody | [`Config::watch_only`], [`Watched`] |
//! | say how the work ended | [`Permit::finish`], [`Outcome`] |
//! | limit each tenant, route or upstream on its own | [`Keyed`] |
//! | share a slot between owners | [`Permit::into_hold`], [`Hold`] |
//! | change the limit while running, or close | [`Limiter::set_limit`], [`Limiter::set_bounds`], [`Limiter::set_shares`], [`Limiter::reconfigure`], [`Limiter::close`] |
//! | change the law or its parameters while running | [`Limiter::set_law`], [`Dependency::set_law`] |
//! | look at it | [`Limiter::snapshot`], [`Limiter::queue`], [`Limiter::counts`] |
//! | be told when it gets bad, and export what is seen | [`telemetry`] |
//! | call something without making its bad day worse | [`Dependency`], [`DependencyConfig`], [`CallOptions`] |
//! | do something else instead | [`Fallbacks`] |
//! | use its parts alone | [`Budget`], [`Breaker`] |
//! | test code that uses it | [`ManualClock`], [`Limiter::with_clock`] |
#![cfg_attr(feature = "tower", doc = "| limit a tower service | [`tower`] |")]
#![cfg_attr(
    feature = "chaos",
    doc = "| rehearse a bad day in staging | [`chaos`] |"
)]
#![cfg_attr(
    feature = "http",
    doc = "| limit HTTP and gRPC, servers and callers | [`http`] |"
)]
#![cfg_attr(
    feature = "config",
    doc = "| read all of this from a file, also while running | [`file::Settings`] |"
)]
//!
//! # Cancellation
//!
//! Everything that takes a slot is a value that gives it back when it is dropped: a permit, the last share
//! of a hold, a future that was granted a slot and had not returned it yet. Futures may be dropped after
//! any poll, threads may be unparked for nothing, a timeout may meet its grant: no slot is lost, and
//! nobody is left waiting for one that is free.
//!
//! # Fairness
//!
//! Those who wait are served by priority, and those of one class in the order in which they came, threads
//! and futures in one line; what comes later, also without waiting, does not pass
//! those of its own class or a higher one; what does not say its class is of the highest. While a class's
//! delay stands ([`Config::standing_delay`]) its last are served first: who came first would be late anyway,
//! and then everybody would. The line is bounded in length and time ([`Config::queue_length`],
//! [`Config::longest_wait`]), for a long line only makes everybody late. Whose time is over gets no slot, and
//! whose time would be over is refused at once ([`RejectReason::WouldExpire`]). In a full line one of a lower
//! class, who would be served last, makes place for one of a higher class. With partitions each has a line of its
//! own for its own slots, and one line leads to what is for everybody.
//!
//! A slot goes from the one who frees it straight to the head of the line. So a waiter that is slow to
//! wake has its slot already, and the time it takes to wake counts as work: the RTT starts at the grant,
//! never at the call. A future that was granted a slot must be polled or dropped to use it or pass it on.

mod breaker;
mod budget;
mod callers;
mod changing;
#[cfg(feature = "chaos")]
pub mod chaos;
mod clock;
mod config;
mod dependency;
#[cfg(feature = "tower")]
mod errors;
#[cfg(feature = "config")]
pub mod file;
mod hold;
#[cfg(feature = "http")]
pub mod http;
mod keyed;
mod limiter;
mod partitioned;
mod partitions;
mod permit;
mod request;
mod shared;
mod sync;
pub mod telemetry;
#[cfg(feature = "tower")]
pub mod tower;
mod tuned;
mod wait;
mod wall;
mod watch;
mod way;

pub use breaker::{Breaker, Pass};
pub use budget::Budget;
pub use callers::DEFAULT_BEYOND_MAY_USE;
pub use clock::{Clock, ManualClock, MonotonicClock, duration, timestamp};
pub use config::{Config, DEFAULT_LONGEST_WAIT, DEFAULT_QUEUE_LENGTH, MAX_QUEUE_LENGTH};
#[cfg(feature = "tokio")]
pub use dependency::Tokio;
pub use dependency::{
    Attempt, CallOptions, Dependency, DependencyConfig, DependencyCounts, Ending, Fallbacks,
    GaveUp, Judge, RECORD_SIZE, Sleep,
};
pub use hold::Hold;
pub use keyed::{KeyRefused, Keyed, KeysBusy, MAX_KEYS};
pub use limiter::Limiter;
pub use limiter_core::{
    BreakerConfig, BreakerOpen, BreakerState, BudgetConfig, Carried, ConfigError,
    DependencySnapshot, Exhausted, Forecast, GiveUp, Guarantee, Jitter, MAX_LIMIT, MOST_GUARANTEED,
    Outcome, Priority, RecordError, Refusal, RejectReason, Rejected, RetryBudget, Shares, Snapshot,
    ThrottleConfig, Ticks, Timestamp, Tokens, law,
};
pub use partitions::{
    MAX_PARTITIONS, Partition, PartitionError, PartitionSnapshot, Partitions, UnknownPartition,
};
pub use permit::Permit;
pub use request::{Caller, Request};
pub use telemetry::{LimiterCounts, RefusedCounts};
pub use wait::{Acquire, AcquireUntil, QueueSnapshot};
pub use watch::Watched;

/// The examples of the README compile.
#[cfg(all(doctest, feature = "http", feature = "chaos", feature = "config"))]
#[doc = include_str!("../../README.md")]
struct Readme;
