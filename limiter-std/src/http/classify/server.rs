//! The outcomes of one's own responses.

use super::{ClassifyError, ClassifyResponse, Verdict, judge, status_in};
use crate::Outcome;
use crate::http::GrpcStatus;
use ::http::header::HeaderMap;
use ::http::{StatusCode, response};

/// Classifies what a server's own handlers answer.
///
/// | response | outcome |
/// | --- | --- |
/// | 1xx, 2xx, 3xx | `Success` |
/// | 408, the handler's own time limit | `Overload` |
/// | other 4xx, also a 429 of the handler's own | `Ignored` |
/// | 5xx and what has no class | `Failure`: a dependency's refusal passed on as 502, 503 or 504 is not this server's overload |
/// | gRPC `OK` | `Success` |
/// | gRPC `RESOURCE_EXHAUSTED`, `DEADLINE_EXCEEDED` | `Overload` |
/// | gRPC `CANCELLED` | `Cancelled` |
/// | gRPC `INVALID_ARGUMENT`, `NOT_FOUND`, `ALREADY_EXISTS`, `PERMISSION_DENIED`, `FAILED_PRECONDITION`, `OUT_OF_RANGE`, `UNIMPLEMENTED`, `UNAUTHENTICATED` | `Ignored` |
/// | other gRPC statuses; one that is missing or cannot be read | `Failure` |
/// | an error of the service | `Failure` |
///
/// A handler that knows better puts an [`Outcome`] into the response's extensions, which comes first:
///
/// ```
/// use http::{Response, StatusCode};
/// use limiter_std::Outcome;
///
/// fn queue_is_full() -> Response<()> {
///     let mut response = Response::new(());
///     *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
///     response.extensions_mut().insert(Outcome::Overload);
///     response
/// }
/// # queue_is_full();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Server;

impl ClassifyResponse for Server {
    fn response(&self, head: &response::Parts) -> Verdict {
        match head.extensions.get::<Outcome>() {
            Some(outcome) => Verdict::Known(*outcome),
            None => judge(head, by_status, by_grpc),
        }
    }

    fn trailers(&self, trailers: Option<&HeaderMap>) -> Outcome {
        by_grpc(status_in(trailers))
    }
}

impl<E> ClassifyError<E> for Server {
    fn error(&self, _: &E) -> Outcome {
        Outcome::Failure
    }
}

fn by_status(status: StatusCode) -> Outcome {
    match status.as_u16() {
        100..400 => Outcome::Success,
        408 => Outcome::Overload,
        400..500 => Outcome::Ignored,
        _ => Outcome::Failure,
    }
}

fn by_grpc(status: GrpcStatus) -> Outcome {
    match status {
        GrpcStatus::Ok => Outcome::Success,
        GrpcStatus::ResourceExhausted | GrpcStatus::DeadlineExceeded => Outcome::Overload,
        GrpcStatus::Cancelled => Outcome::Cancelled,
        GrpcStatus::InvalidArgument
        | GrpcStatus::NotFound
        | GrpcStatus::AlreadyExists
        | GrpcStatus::PermissionDenied
        | GrpcStatus::FailedPrecondition
        | GrpcStatus::OutOfRange
        | GrpcStatus::Unimplemented
        | GrpcStatus::Unauthenticated => Outcome::Ignored,
        GrpcStatus::Unknown
        | GrpcStatus::Aborted
        | GrpcStatus::Internal
        | GrpcStatus::Unavailable
        | GrpcStatus::DataLoss => Outcome::Failure,
    }
}
