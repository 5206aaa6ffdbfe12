//! Which responses and errors are which outcome.

use super::grpc::{self, GrpcStatus, Place};
use crate::Outcome;
use ::http::header::HeaderMap;
use ::http::{StatusCode, response};

mod caller;
mod overruled;
mod server;

pub use crate::errors::error_outcome;
pub use caller::{ByKind, Caller};
pub use overruled::Overruled;
pub use server::Server;

/// What the head of a response tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// How the request ended.
    Known(Outcome),
    /// The trailers will tell.
    AtTrailers,
}

/// Turns a response into an [`Outcome`].
///
/// [`Server`] and [`Caller`] are the ready ones. To change what one of them says of some responses, take
/// [`overruled`](ClassifyResponse::overruled).
pub trait ClassifyResponse {
    /// Judges by status, headers and extensions.
    fn response(&self, head: &response::Parts) -> Verdict;

    /// Judges by the trailers, `None` when the body ended without any; only asked after
    /// [`Verdict::AtTrailers`].
    fn trailers(&self, trailers: Option<&HeaderMap>) -> Outcome;

    /// The same, but `judge` is asked first and decides when it returns an outcome.
    ///
    /// ```
    /// use http::{StatusCode, response};
    /// use limiter_std::Outcome;
    /// use limiter_std::http::{ClassifyResponse, Server};
    ///
    /// // A 404 of this service takes as long as any other answer.
    /// let classify = Server.overruled(|head: &response::Parts| {
    ///     (head.status == StatusCode::NOT_FOUND).then_some(Outcome::Success)
    /// });
    /// # let _ = classify;
    /// ```
    fn overruled<F>(self, judge: F) -> Overruled<Self, F>
    where
        Self: Sized,
        F: Fn(&response::Parts) -> Option<Outcome>,
    {
        Overruled::new(self, judge)
    }
}

/// Turns an error of the inner service into an [`Outcome`].
pub trait ClassifyError<E> {
    /// Judges an error.
    fn error(&self, error: &E) -> Outcome;
}

/// Judges by gRPC status where there is one, else by HTTP status.
fn judge(
    head: &response::Parts,
    http: impl FnOnce(StatusCode) -> Outcome,
    grpc: impl FnOnce(GrpcStatus) -> Outcome,
) -> Verdict {
    match grpc::place(head) {
        Place::Head(status) => Verdict::Known(grpc(status)),
        Place::Trailers => Verdict::AtTrailers,
        Place::None => Verdict::Known(http(head.status)),
    }
}

/// The status in the trailers; a body that ended without any has none.
fn status_in(trailers: Option<&HeaderMap>) -> GrpcStatus {
    trailers.map_or(GrpcStatus::Unknown, GrpcStatus::of)
}
