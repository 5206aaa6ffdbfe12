//! Adaptive concurrency limits for threads and futures, on the core of `limiter-core`.
//!
//! ```
//! use limiter_std::{Limiter, Outcome};
//!
//! let limiter = Limiter::default();
//! if let Ok(permit) = limiter.try_acquire() {
//!     permit.finish(Outcome::Success);
//! }
//! ```

mod clock;
mod config;
mod hold;
#[cfg(feature = "http")]
pub mod http;
mod limiter;
mod permit;
mod shared;
mod sync;
#[cfg(feature = "tower")]
pub mod tower;
mod wait;

pub use clock::{Clock, ManualClock, MonotonicClock, timestamp};
pub use config::{Config, DEFAULT_QUEUE_LENGTH, MAX_QUEUE_LENGTH};
pub use hold::Hold;
pub use limiter::Limiter;
pub use limiter_core::{
    ConfigError, MAX_LIMIT, Outcome, RejectReason, Rejected, Snapshot, Timestamp, law,
};
pub use permit::Permit;
pub use wait::{Acquire, AcquireUntil};
