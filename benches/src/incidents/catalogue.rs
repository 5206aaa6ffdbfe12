//! The nine incidents, as files that are compiled in.

use super::read::read;
use super::scenario::Scenario;
use crate::lab::config::FileError;

/// Their files, in the order of tables.
pub const FILES: [&str; 9] = [
    include_str!("../../incidents/auth-hedging.toml"),
    include_str!("../../incidents/deploy-headroom.toml"),
    include_str!("../../incidents/retry-amplification.toml"),
    include_str!("../../incidents/slow-store.toml"),
    include_str!("../../incidents/burst-on-database.toml"),
    include_str!("../../incidents/upstream-provider.toml"),
    include_str!("../../incidents/requeue-loop.toml"),
    include_str!("../../incidents/reconnect-storm.toml"),
    include_str!("../../incidents/runaway-callers.toml"),
];

/// All of them.
///
/// # Errors
///
/// What is wrong with the first file that is.
pub fn all() -> Result<Vec<Scenario>, FileError> {
    FILES.into_iter().map(read).collect()
}
