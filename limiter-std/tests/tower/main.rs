//! The layer for any tower service.

mod breaker;
mod callers;
mod dependency;
mod describe;
mod exits;
mod readiness;
#[cfg(feature = "retry")]
mod retries;
mod samples;
mod spy;
mod waiting;
