//! The outcomes of what a dependency answers.

use super::{ClassifyError, ClassifyResponse, Verdict, judge, status_in};
use crate::Outcome;
use crate::errors::error_outcome;
use crate::http::GrpcStatus;
use ::http::header::HeaderMap;
use ::http::{StatusCode, response};
use core::error::Error;

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
/// | gRPC `CANCELLED` | `Cancelled` |
/// | gRPC `INVALID_ARGUMENT`, `NOT_FOUND`, `ALREADY_EXISTS`, `PERMISSION_DENIED`, `FAILED_PRECONDITION`, `OUT_OF_RANGE`, `UNIMPLEMENTED`, `UNAUTHENTICATED` | `Ignored` |
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
        GrpcStatus::Cancelled => Outcome::Cancelled,
        GrpcStatus::InvalidArgument
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
