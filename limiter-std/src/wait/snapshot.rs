//! The gauges of the queue.

use core::time::Duration;

/// Who waits in a class, from [`Limiter::queue`](crate::Limiter::queue).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueSnapshot {
    /// How many.
    pub len: usize,
    /// For how long the first of them has waited.
    pub oldest: Duration,
    /// The delay [stands](crate::Config::standing_delay), so those who came last go first.
    pub newest_first: bool,
}
