//! What one call wants otherwise, what its attempts are told, and how they end.

use crate::clock::RATE;
use core::fmt;
use core::time::Duration;
use limiter_core::{Carried, GiveUp, Outcome, Priority, Refusal};

/// The options of one call.
///
/// ```
/// use core::time::Duration;
/// use limiter_std::{CallOptions, Priority};
///
/// let write = CallOptions::new().attempts(1).total(Duration::from_secs(2));
/// let read = CallOptions::new().hedge();
/// let report = CallOptions::new().priority(Priority::Batch);
/// # let _ = (write, read, report);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    pub(crate) core: limiter_core::CallOptions,
    /// `None` for the highest.
    pub(crate) priority: Option<Priority>,
    /// It keeps its slot during back-off.
    pub(crate) holds: bool,
}

impl CallOptions {
    /// What the dependency's configuration says, without hedges.
    pub const fn new() -> Self {
        Self {
            core: limiter_core::CallOptions::new(),
            priority: None,
            holds: false,
        }
    }

    /// How long the call lasts at most.
    #[must_use]
    pub const fn total(self, longest: Duration) -> Self {
        self.with(self.core.total(RATE.ticks(longest)))
    }

    /// How many attempts it makes at most; 1 for what must not be done twice.
    #[must_use]
    pub const fn attempts(self, most: u32) -> Self {
        self.with(self.core.attempts(most))
    }

    /// A hedge may go beside an attempt that takes long, where the dependency is configured for it. Only
    /// for what may be done twice, and only in calls that are futures.
    #[must_use]
    pub const fn hedge(self) -> Self {
        self.with(self.core.hedge())
    }

    /// Keeps the slot of the limiter during back-off instead of freeing it: for work that would lose its
    /// place. It keeps others out meanwhile.
    #[must_use]
    pub const fn hold_slot(mut self) -> Self {
        self.holds = true;
        self.with(self.core.hold_slot())
    }

    /// Goes on with a call that began elsewhere, or before: its next attempt is a retry.
    #[must_use]
    pub const fn carried(self, carried: Carried) -> Self {
        self.with(self.core.carried(carried))
    }

    /// How much it matters: its attempts get slots of the limiter, and wait for them, as requests of this class
    /// do, its retries as those of the class below. The highest, and retries as much as first attempts, where
    /// nothing is said. Breaker, throttle and budget know no classes.
    #[must_use]
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    const fn with(mut self, core: limiter_core::CallOptions) -> Self {
        self.core = core;
        self
    }
}

/// An attempt of a call, as the code that makes it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// Which attempt of the call it is, from 1: send it along, so that the dependency can tell a retry from
    /// a first attempt and shed it first.
    pub number: u32,
    /// How long it may last. A future is dropped then; a thread has to see to it itself, by the timeout of
    /// its socket or client.
    pub timeout: Duration,
    /// It goes beside an attempt that is still running.
    pub hedge: bool,
    /// Attempts made with this one, and the time that the call has left: for a job that is handed on.
    pub carried: Carried,
}

/// How an attempt ended, and what the answer said about trying again.
///
/// ```
/// use core::time::Duration;
/// use limiter_std::Ending;
///
/// // 503 with `Retry-After: 2`.
/// let busy = Ending::refused().retry_after(Duration::from_secs(2));
/// // gRPC with a negative `grpc-retry-pushback-ms`.
/// let stop = Ending::refused().do_not_retry();
/// assert_ne!(busy, stop);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending(pub(crate) limiter_core::Ending);

impl Ending {
    /// The work was done.
    pub const fn success() -> Self {
        Self(limiter_core::Ending::success())
    }

    /// The dependency is wrong, not full, and may be right next time: an internal error, a broken
    /// connection.
    pub const fn failure() -> Self {
        Self(limiter_core::Ending::failure())
    }

    /// The dependency is wrong and will be wrong again: never retried.
    pub const fn permanent() -> Self {
        Self(limiter_core::Ending::permanent())
    }

    /// The dependency is full: 429, 503, `RESOURCE_EXHAUSTED`, `UNAVAILABLE`.
    pub const fn overload() -> Self {
        Self(limiter_core::Ending::overload())
    }

    /// The dependency refused it at once, by a limit of its own: a 503 or 429 with `Retry-After`, an answer with
    /// a push-back. Only the throttle answers; see [`limiter_core::Ending::refused`].
    pub const fn refused() -> Self {
        Self(limiter_core::Ending::refused())
    }

    /// No answer in time.
    pub const fn timeout() -> Self {
        Self(limiter_core::Ending::timeout())
    }

    /// The caller was wrong, or it was refused before it left this process: says nothing about the dependency,
    /// and is never retried.
    pub const fn ignored() -> Self {
        Self(limiter_core::Ending::ignored())
    }

    /// The caller went away, and nobody waits for an answer: never retried.
    pub const fn cancelled() -> Self {
        Self(limiter_core::Ending::cancelled())
    }

    /// The answer said after which time to come back (`Retry-After`, push-back).
    #[must_use]
    pub const fn retry_after(self, time: Duration) -> Self {
        Self(self.0.retry_after(RATE.ticks(time)))
    }

    /// The answer said not to come back: final.
    #[must_use]
    pub const fn do_not_retry(self) -> Self {
        Self(self.0.do_not_retry())
    }

    /// What the limiter hears of it.
    pub const fn outcome(self) -> Outcome {
        self.0.outcome()
    }
}

impl From<Outcome> for Ending {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::success(),
            Outcome::Overload => Self::overload(),
            Outcome::Failure => Self::failure(),
            Outcome::Cancelled => Self::cancelled(),
            // `Ignored`, and what this release does not know: nothing is made worse by it.
            _ => Self::ignored(),
        }
    }
}

/// Turns the result of an attempt into an [`Ending`]. Implemented for functions.
pub trait Judge<T, E> {
    /// Judges a result.
    fn judge(&self, result: Result<&T, &E>) -> Ending;
}

impl<T, E, F: Fn(Result<&T, &E>) -> Ending> Judge<T, E> for F {
    fn judge(&self, result: Result<&T, &E>) -> Ending {
        self(result)
    }
}

/// Why a call gave up, and the last result that was not good enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GaveUp<T, E> {
    /// Why.
    pub why: GiveUp,
    /// The last result: `None` when no attempt left, or all of them ran out of their time.
    pub last: Option<Result<T, E>>,
    /// Attempts made and time left, to go on later with [`CallOptions::carried`].
    pub carried: Carried,
}

impl<T, E> GaveUp<T, E> {
    /// The dependency's last answer, if that is no error of `E`: a response that tells of a failure is still
    /// a response.
    ///
    /// # Errors
    ///
    /// Itself, where there is none.
    pub fn answer(self) -> Result<T, Self> {
        match self.last {
            Some(Ok(answer)) => Ok(answer),
            last => Err(Self { last, ..self }),
        }
    }

    /// The last error.
    pub fn error(self) -> Option<E> {
        self.last.and_then(Result::err)
    }
}

impl<T, E> fmt::Display for GaveUp<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        say(self.why, f)
    }
}

/// Why a call gave up, with this crate's unit of time.
pub(crate) fn say(why: GiveUp, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match why {
        GiveUp::Refused(Refusal::Breaker(open)) => {
            let left = RATE.duration(open.left);
            write!(f, "{} (for another {left:?})", why.describe())
        }
        why => fmt::Display::fmt(&why, f),
    }
}

impl<T: fmt::Debug, E: core::error::Error + 'static> core::error::Error for GaveUp<T, E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.last {
            Some(Err(error)) => Some(error),
            _ => None,
        }
    }
}
