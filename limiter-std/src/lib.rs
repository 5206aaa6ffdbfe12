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
mod limiter;
mod permit;
mod shared;
mod sync;

pub use clock::{Clock, ManualClock, MonotonicClock, timestamp};
pub use config::Config;
pub use hold::Hold;
pub use limiter::Limiter;
pub use limiter_core::{
    ConfigError, MAX_LIMIT, Outcome, RejectReason, Rejected, Snapshot, Timestamp, law,
};
pub use permit::Permit;
