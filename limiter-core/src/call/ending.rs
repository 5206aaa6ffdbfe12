//! How attempts end, and what a call answers.

use crate::breaker::BreakerOpen;
use crate::budget::Exhausted;
use crate::error::Rejected;
use crate::outcome::Outcome;
use crate::time::{Ticks, Timestamp};
use core::fmt;

/// How an attempt ended, as its caller saw it, and what the answer said about trying again.
///
/// ```
/// use limiter_core::{Ending, Ticks};
///
/// // 503 with `Retry-After: 2`, at a millisecond a tick.
/// let busy = Ending::refused().retry_after(Ticks::new(2_000));
/// // gRPC with a negative `grpc-retry-pushback-ms`.
/// let stop = Ending::refused().do_not_retry();
/// assert_ne!(busy, stop);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ending {
    pub(crate) how: How,
    pub(crate) hint: Hint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) enum How {
    Success,
    Failure,
    Permanent,
    Overload,
    Refused,
    Timeout,
    Ignored,
    Cancelled,
    /// Cut off by the call's own deadline.
    Late,
    /// Another attempt of the call was the first to end.
    Superseded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) enum Hint {
    None,
    After(Ticks),
    Never,
}

impl Ending {
    const fn new(how: How) -> Self {
        Self {
            how,
            hint: Hint::None,
        }
    }

    /// The work was done.
    pub const fn success() -> Self {
        Self::new(How::Success)
    }

    /// The dependency is wrong, not full, and may be right next time: an internal error, a broken
    /// connection.
    pub const fn failure() -> Self {
        Self::new(How::Failure)
    }

    /// The dependency is wrong and will be wrong again: never retried.
    pub const fn permanent() -> Self {
        Self::new(How::Permanent)
    }

    /// The dependency is full: 429, 503, `RESOURCE_EXHAUSTED`, `UNAVAILABLE`.
    pub const fn overload() -> Self {
        Self::new(How::Overload)
    }

    /// The dependency refused it at once, by a limit of its own: a 503 or 429 with `Retry-After`, an answer
    /// with a push-back.
    ///
    /// Such a dependency protects itself, so the throttle alone answers: it sends fewer of what would be
    /// refused. A limiter and a breaker that took it for an overload would cut what the dependency has cut
    /// already, until next to nothing came through.
    pub const fn refused() -> Self {
        Self::new(How::Refused)
    }

    /// No answer by the attempt's deadline.
    pub const fn timeout() -> Self {
        Self::new(How::Timeout)
    }

    /// The caller was wrong: says nothing about the dependency, and is never retried.
    pub const fn ignored() -> Self {
        Self::new(How::Ignored)
    }

    /// The caller went away, and nobody waits for an answer: never retried. It took so long at least.
    pub const fn cancelled() -> Self {
        Self::new(How::Cancelled)
    }

    pub(crate) const fn late() -> Self {
        Self::new(How::Late)
    }

    pub(crate) const fn superseded() -> Self {
        Self::new(How::Superseded)
    }

    /// The answer said after which time to come back (`Retry-After`, push-back).
    #[must_use]
    pub const fn retry_after(mut self, time: Ticks) -> Self {
        self.hint = Hint::After(time);
        self
    }

    /// The answer said not to come back: final.
    #[must_use]
    pub const fn do_not_retry(mut self) -> Self {
        self.hint = Hint::Never;
        self
    }

    /// Whether another attempt may do better, and the answer did not forbid it.
    ///
    /// ```
    /// use limiter_core::Ending;
    ///
    /// assert!(Ending::overload().may_retry());
    /// assert!(!Ending::overload().do_not_retry().may_retry());
    /// assert!(!Ending::permanent().may_retry() && !Ending::ignored().may_retry());
    /// ```
    pub const fn may_retry(self) -> bool {
        matches!(
            self.how,
            How::Failure | How::Overload | How::Refused | How::Timeout
        ) && !matches!(self.hint, Hint::Never)
    }

    /// Whether the dependency refused it by a limit of its own, whatever else the answer said.
    pub const fn is_refused(self) -> bool {
        matches!(self.how, How::Refused)
    }

    /// After which time the answer said to come back.
    pub const fn hinted(self) -> Option<Ticks> {
        match self.hint {
            Hint::After(time) => Some(time),
            Hint::None | Hint::Never => None,
        }
    }

    /// What the limiter hears of it.
    pub const fn outcome(self) -> Outcome {
        match self.how {
            How::Success => Outcome::Success,
            How::Failure | How::Permanent | How::Refused => Outcome::Failure,
            How::Overload | How::Timeout => Outcome::Overload,
            // A loser of a hedge is older than usual by nature: taken for slowness, hedges cut the limit of a
            // dependency that was well from 20 to 10.
            How::Ignored | How::Superseded => Outcome::Ignored,
            How::Cancelled | How::Late => Outcome::Cancelled,
        }
    }
}

/// What a [`Call`](super::Call) says to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[must_use = "a call does nothing by itself"]
pub enum Step {
    /// Send this attempt now, beside one that may be running; then ask again.
    Attempt(Attempt),
    /// The attempt of this number is over its time and settled: drop it, then ask again.
    Cancel(u32),
    /// Attempts are running, nothing else is to be done: ask again when one ends, and at this time, when a
    /// hedge or a timeout may be due.
    Running(Timestamp),
    /// Back-off: nothing is running. Ask again at this time.
    Wait(Timestamp),
    /// An attempt succeeded: drop what is still running.
    Done,
    /// Nothing more is tried: drop what is still running, and answer with the last error.
    GiveUp(GiveUp),
}

/// An attempt to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Attempt {
    /// Which attempt of the call it is, from 1: send it along, so that the dependency can tell a retry from
    /// a first attempt and shed it first.
    pub number: u32,
    /// How long it may last.
    pub timeout: Ticks,
    /// When that is over.
    pub deadline: Timestamp,
    /// It goes beside an attempt that is still running.
    pub hedge: bool,
}

/// Why a call gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum GiveUp {
    /// An attempt was refused here, before it left. Neither retried nor charged.
    Refused(Refusal),
    /// The retry budget does not cover another attempt.
    Exhausted(Exhausted),
    /// As many attempts were made as are allowed.
    Attempts,
    /// The call's time is over.
    Deadline,
    /// The call's time would be over before the next attempt: the answer said to come back too late, or the
    /// back-off is longer than what is left.
    WaitTooLong,
    /// The error will not go away: a permanent failure, or the caller's own.
    Permanent,
    /// The dependency said not to retry.
    ToldNotTo,
    /// As many calls wait in back-off as are allowed.
    Crowded,
    /// The caller gave up, by [`abandon`](super::Call::abandon).
    Abandoned,
}

impl GiveUp {
    /// What happened and what to do, in one line.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Refused(Refusal::Limiter(rejected)) => rejected.reason.describe(),
            Self::Refused(Refusal::Breaker(_)) => {
                "the breaker is open; use a fallback or refuse the caller"
            }
            Self::Refused(Refusal::Throttled) => {
                "throttled, for few requests are accepted; refuse the caller"
            }
            Self::Exhausted(_) => "the retry budget is exhausted; answer with the last error",
            Self::Attempts => "no attempts are left; answer with the last error",
            Self::Deadline => "no time is left; answer with the last error",
            Self::WaitTooLong => {
                "the next attempt would come too late; use a fallback or answer with the last error"
            }
            Self::Permanent => "the error is permanent; answer with it",
            Self::ToldNotTo => "the dependency said not to retry; answer with the last error",
            Self::Abandoned => "the caller gave up",
            Self::Crowded => "too many calls wait to retry; answer with the last error",
        }
    }

    /// Whether another dependency may do what this one did not: not when the error is the request's own, or
    /// no time is left.
    pub const fn may_fall_back(self) -> bool {
        !matches!(self, Self::Permanent | Self::Deadline | Self::Abandoned)
    }
}

impl fmt::Display for GiveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(Refusal::Limiter(rejected)) => fmt::Display::fmt(rejected, f),
            Self::Refused(Refusal::Breaker(open)) => fmt::Display::fmt(open, f),
            _ => f.write_str(self.describe()),
        }
    }
}

impl core::error::Error for GiveUp {}

/// Which rule refused an attempt before it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Refusal {
    /// The limiter. An adapter with a queue may wait for a slot and go on with
    /// [`step_with`](super::Call::step_with).
    Limiter(Rejected),
    /// The breaker.
    Breaker(BreakerOpen),
    /// The throttle.
    Throttled,
}
