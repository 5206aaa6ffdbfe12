//! The layer for any tower service.

mod dependency;
mod exits;
mod readiness;
mod samples;
mod spy;
mod waiting;
