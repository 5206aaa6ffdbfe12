//! The settings that both modes share, and what is done when.

use std::time::Duration;

/// Callers, each with a connection of its own.
pub(crate) const CALLERS: u32 = 200;
/// What is offered, as a share of what the server can do.
pub(crate) const LOAD: f64 = 0.8;

/// Requests that the server works on at once.
pub(crate) const WORKERS: u32 = 30;
/// How long one takes on average: 1,500 requests a second together.
pub(crate) const WORK: Duration = Duration::from_millis(20);
/// How many requests wait at the server; others are answered 503 at once.
pub(crate) const QUEUE: usize = 1_500;
/// How much longer each takes during the fault.
pub(crate) const SLOWER: u32 = 10;

/// Attempts of a request, hedges included.
pub(crate) const ATTEMPTS: u32 = 4;
/// How long an attempt may last.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(500);
/// How long a request may last, with all its attempts.
pub(crate) const TOTAL: Duration = Duration::from_secs(10);
/// When a second attempt goes beside one that takes long.
pub(crate) const HEDGE: Duration = Duration::from_millis(150);
/// Back-off: full jitter in a window that doubles from the first to the second.
pub(crate) const BACKOFF: (Duration, Duration) =
    (Duration::from_millis(100), Duration::from_secs(2));

/// How requests are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Retries and hedges as every client library has them.
    Plain,
    /// The same within a `Dependency`.
    Dependency,
}

impl Mode {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Dependency => "dependency",
        }
    }
}

/// The times of a run, in whole seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Not judged: connections open, laws find their limits.
    pub(crate) warm_up: usize,
    pub(crate) before: usize,
    pub(crate) fault: usize,
    pub(crate) after: usize,
}

impl Plan {
    pub(crate) const fn new(quick: bool) -> Self {
        if quick {
            Self {
                warm_up: 3,
                before: 4,
                fault: 7,
                after: 12,
            }
        } else {
            Self {
                warm_up: 5,
                before: 10,
                fault: 20,
                after: 30,
            }
        }
    }

    pub(crate) const fn fault_begins(&self) -> usize {
        self.warm_up + self.before
    }

    pub(crate) const fn fault_ends(&self) -> usize {
        self.fault_begins() + self.fault
    }

    pub(crate) const fn all(&self) -> usize {
        self.fault_ends() + self.after
    }
}

/// Requests a second, of all callers together.
pub(crate) fn rate() -> f64 {
    LOAD * f64::from(WORKERS) / WORK.as_secs_f64()
}
