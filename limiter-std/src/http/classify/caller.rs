//! The outcomes of what a dependency answers.

use super::{ClassifyError, ClassifyResponse, Verdict, judge, status_in};
use crate::http::GrpcStatus;
use crate::{Outcome, Rejected};
use ::http::header::HeaderMap;
use ::http::{StatusCode, response};
use core::error::Error;
use std::io;

/// Classifies what a caller gets from its dependency.
///
/// | response | outcome |
/// | --- | --- |
/// | 1xx, 2xx, 3xx | `Success` |
/// | 408, 429, 503, 504 | `Overload` |
/// | other 4xx | `Ignored` |
/// | other 5xx and what has no class | `Failure` |
/// | gRPC `OK` | `Success` |
/// | gRPC `RESOURCE_EXHAUSTED`, `UNAVAILABLE`, `DEADLINE_EXCEEDED` | `Overload` |
/// | gRPC `CANCELLED`, `INVALID_ARGUMENT`, `NOT_FOUND`, `ALREADY_EXISTS`, `PERMISSION_DENIED`, `FAILED_PRECONDITION`, `OUT_OF_RANGE`, `UNIMPLEMENTED`, `UNAUTHENTICATED` | `Ignored` |
/// | other gRPC statuses; one that is missing or cannot be read | `Failure` |
/// | an error | see [`error_outcome`], or a function of your own |
///
/// ```
/// use limiter_std::Outcome;
/// use limiter_std::http::{Caller, error_outcome};
/// use std::error::Error;
///
/// // For any error type that implements `Error`.
/// let caller = Caller::new();
///
/// // For boxed errors, and for whoever knows more about them.
/// let caller = Caller::errors(|error: &Box<dyn Error + Send + Sync>| match error_outcome(&**error) {
///     Outcome::Failure if error.to_string().contains("pool exhausted") => Outcome::Overload,
///     outcome => outcome,
/// });
/// # let _ = caller;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caller<F = ByKind> {
    errors: F,
}

/// Classifies errors by [`error_outcome`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ByKind;

impl Caller {
    /// Classifies errors by [`error_outcome`].
    pub const fn new() -> Self {
        Self { errors: ByKind }
    }
}

impl<F> Caller<F> {
    /// Classifies errors by `judge`.
    pub const fn errors<E>(judge: F) -> Self
    where
        F: Fn(&E) -> Outcome,
    {
        Self { errors: judge }
    }
}

impl<F> ClassifyResponse for Caller<F> {
    fn response(&self, head: &response::Parts) -> Verdict {
        judge(head, by_status, by_grpc)
    }

    fn trailers(&self, trailers: Option<&HeaderMap>) -> Outcome {
        by_grpc(status_in(trailers))
    }
}

impl<E: Error + 'static> ClassifyError<E> for Caller<ByKind> {
    fn error(&self, error: &E) -> Outcome {
        error_outcome(error)
    }
}

impl<E, F: Fn(&E) -> Outcome> ClassifyError<E> for Caller<F> {
    fn error(&self, error: &E) -> Outcome {
        (self.errors)(error)
    }
}

/// What can be known of an error from itself and its sources, whatever its type.
///
/// - A [`Rejected`] is `Ignored`: this process refused, the dependency never heard of it.
/// - A time limit that ran out is `Overload`: an [`io::Error`] of kind
///   [`TimedOut`](io::ErrorKind::TimedOut), or an error that says so. The timeouts of tower, tokio,
///   reqwest and tonic are of types of their own, so they are known by their text ("timed out",
///   "deadline has elapsed", "timeout expired").
/// - Anything else, such as a refused or broken connection, is `Failure`: nobody answers, which says
///   nothing about how full the dependency is.
///
/// ```
/// use limiter_std::Outcome;
/// use limiter_std::http::error_outcome;
/// use std::io::{Error, ErrorKind};
///
/// assert_eq!(error_outcome(&Error::from(ErrorKind::TimedOut)), Outcome::Overload);
/// assert_eq!(error_outcome(&Error::from(ErrorKind::ConnectionRefused)), Outcome::Failure);
/// ```
pub fn error_outcome(error: &(dyn Error + 'static)) -> Outcome {
    core::iter::successors(Some(error), |error| cause(*error))
        .find_map(|error| {
            if error.is::<Rejected>() {
                Some(Outcome::Ignored)
            } else if timed_out(error) {
                Some(Outcome::Overload)
            } else {
                None
            }
        })
        .unwrap_or(Outcome::Failure)
}

/// The error behind this one. An [`io::Error`] made from another is that error, and leaves it out of its
/// chain of sources.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn timed_out(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return error.kind() == io::ErrorKind::TimedOut;
    }
    let text = error.to_string().to_ascii_lowercase();
    ["timed out", "deadline has elapsed", "timeout expired"]
        .iter()
        .any(|said| text.contains(said))
}

fn by_status(status: StatusCode) -> Outcome {
    match status.as_u16() {
        100..400 => Outcome::Success,
        408 | 429 | 503 | 504 => Outcome::Overload,
        400..500 => Outcome::Ignored,
        _ => Outcome::Failure,
    }
}

fn by_grpc(status: GrpcStatus) -> Outcome {
    match status {
        GrpcStatus::Ok => Outcome::Success,
        GrpcStatus::ResourceExhausted | GrpcStatus::Unavailable | GrpcStatus::DeadlineExceeded => {
            Outcome::Overload
        }
        GrpcStatus::Cancelled
        | GrpcStatus::InvalidArgument
        | GrpcStatus::NotFound
        | GrpcStatus::AlreadyExists
        | GrpcStatus::PermissionDenied
        | GrpcStatus::FailedPrecondition
        | GrpcStatus::OutOfRange
        | GrpcStatus::Unimplemented
        | GrpcStatus::Unauthenticated => Outcome::Ignored,
        GrpcStatus::Unknown | GrpcStatus::Aborted | GrpcStatus::Internal | GrpcStatus::DataLoss => {
            Outcome::Failure
        }
    }
}
