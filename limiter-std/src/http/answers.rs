//! What a response says to a caller that may try again.

use super::classify::{Caller, ClassifyError, ClassifyResponse, Verdict};
use super::grpc::{self, GrpcStatus, Place};
use super::hints::{Hint, hint};
use crate::{Ending, Judge, Outcome};
use ::http::{HeaderMap, Response, response};
use std::time::SystemTime;

/// Judges responses and errors of HTTP and gRPC clients, for a
/// [`DependencyLayer`](crate::tower::DependencyLayer) or a call: by [`Caller`], or a classification of your
/// own, and by what the response says about coming back.
///
/// | result | ending |
/// | --- | --- |
/// | [`Success`](Outcome::Success) | success |
/// | [`Overload`](Outcome::Overload) | overload: tried again |
/// | the same with `Retry-After` or a push-back | refused by a limit of its own: tried again, not before then, never after a negative one |
/// | 408, 504, gRPC `DEADLINE_EXCEEDED`, an error that tells of a timeout | the same, as a timeout |
/// | [`Failure`](Outcome::Failure) | failure: tried again, with the same exceptions |
/// | 501, 505, gRPC `DATA_LOSS` | permanent |
/// | [`Ignored`](Outcome::Ignored) | ignored: not tried again; refusals of this process among them |
/// | [`Cancelled`](Outcome::Cancelled) | cancelled: not tried again |
///
/// A gRPC status that comes behind the body is not known at the head, and the head counts as a success:
/// a server that refuses, or fails before its first message, answers with its status in the head.
///
/// ```
/// use http::{Response, StatusCode};
/// use limiter_std::http::Answers;
/// use limiter_std::{Ending, Judge};
/// use std::{io, time::Duration};
///
/// let mut busy = Response::new(());
/// *busy.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
/// busy.headers_mut().insert("retry-after", 2.into());
/// let ending = Answers::new().judge(Ok::<_, &io::Error>(&busy));
/// assert_eq!(ending, Ending::refused().retry_after(Duration::from_secs(2)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers<K = Caller> {
    classify: K,
}

impl Answers {
    /// Judges by [`Caller`].
    pub const fn new() -> Self {
        Self {
            classify: Caller::new(),
        }
    }
}

impl<K> Answers<K> {
    /// Judges by a classification of your own.
    pub const fn by(classify: K) -> Self {
        Self { classify }
    }

    /// Judges the head of a response.
    pub fn head(&self, head: &response::Parts) -> Ending
    where
        K: ClassifyResponse,
    {
        let outcome = match self.classify.response(head) {
            Verdict::Known(outcome) => outcome,
            Verdict::AtTrailers => Outcome::Success,
        };
        let grpc = match grpc::place(head) {
            Place::Head(status) => Some(status),
            Place::Trailers | Place::None => None,
        };
        let ending = match (outcome, grpc, head.status.as_u16()) {
            (Outcome::Overload, Some(GrpcStatus::DeadlineExceeded), _)
            | (Outcome::Overload, None, 408 | 504) => Ending::timeout(),
            (Outcome::Failure, Some(GrpcStatus::DataLoss), _)
            | (Outcome::Failure, None, 501 | 505) => Ending::permanent(),
            (outcome, ..) => Ending::from(outcome),
        };
        let Some(hint) = hint(&head.headers, SystemTime::now()) else {
            return ending;
        };
        let ending = match outcome {
            // Who says when to come back is not drowning.
            Outcome::Overload if ending == Ending::overload() => Ending::refused(),
            Outcome::Overload | Outcome::Failure => ending,
            _ => return ending,
        };
        match hint {
            Hint::After(time) => ending.retry_after(time),
            Hint::Never => ending.do_not_retry(),
        }
    }

    /// Judges a gRPC status by its [number](https://grpc.github.io/grpc/core/md_doc_statuscodes.html) and
    /// the metadata or trailers that it came with: for clients whose errors are statuses.
    ///
    /// ```
    /// use http::HeaderMap;
    /// use limiter_std::Ending;
    /// use limiter_std::http::Answers;
    ///
    /// let mut trailers = HeaderMap::new();
    /// trailers.insert("grpc-retry-pushback-ms", "-1".parse()?);
    /// let ending = Answers::new().grpc(8, &trailers);
    /// assert_eq!(ending, Ending::refused().do_not_retry());
    /// # Ok::<(), http::header::InvalidHeaderValue>(())
    /// ```
    pub fn grpc(&self, code: i32, metadata: &HeaderMap) -> Ending
    where
        K: ClassifyResponse,
    {
        let mut same = Response::new(());
        *same.headers_mut() = metadata.clone();
        same.headers_mut().insert(grpc::STATUS, code.into());
        self.head(&same.into_parts().0)
    }

    /// Judges an error.
    pub fn error<E>(&self, error: &E) -> Ending
    where
        K: ClassifyError<E>,
    {
        match self.classify.error(error) {
            // An error that tells of overload is a time limit of the client's.
            Outcome::Overload => Ending::timeout(),
            outcome => outcome.into(),
        }
    }
}

impl<B, E, K: ClassifyResponse + ClassifyError<E>> Judge<Response<B>, E> for Answers<K> {
    fn judge(&self, result: Result<&Response<B>, &E>) -> Ending {
        match result {
            Ok(response) => {
                // Parts cannot be borrowed from a response: a copy is judged.
                let mut same = Response::new(());
                *same.status_mut() = response.status();
                *same.headers_mut() = response.headers().clone();
                *same.extensions_mut() = response.extensions().clone();
                self.head(&same.into_parts().0)
            }
            Err(error) => self.error(error),
        }
    }
}
