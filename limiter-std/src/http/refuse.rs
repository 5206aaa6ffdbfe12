//! What a refused request is answered.

use super::grpc;
use super::hints::PUSHBACK;
use super::invitations::Invitations;
use crate::{RejectReason, Rejected};
use ::http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use ::http::{Response, StatusCode, request};
use core::time::Duration;

const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");

const RESOURCE_EXHAUSTED: &str = "8";
const UNAVAILABLE: &str = "14";

/// A request that was refused, and why. Its body is dropped already.
#[derive(Debug)]
pub struct Refused<'a> {
    /// Why, and the numbers.
    pub rejected: Rejected,
    /// The request's head.
    pub request: request::Parts,
    pub(super) invitations: &'a Invitations,
}

impl Refused<'_> {
    /// When its caller may come back without adding to the overload: in a second for one refused request in each
    /// ten that were let in, for the others in 10 to 30 s. Ask once, and only for a caller that is told.
    pub fn come_back(&self) -> Duration {
        self.invitations.refused()
    }
}

/// Makes the response to a refused request. `B` is the inner service's body.
///
/// Implemented by [`Refusal`] and for functions that return the inner service's kind of response:
///
/// ```
/// use axum::body::Body;
/// use http::{Response, StatusCode};
/// use limiter_std::Limiter;
/// use limiter_std::http::{LimiterLayer, Refused};
///
/// let layer = LimiterLayer::new(Limiter::default()).refuse(|refused: &Refused| {
///     let mut response = Response::new(Body::from(refused.rejected.to_string()));
///     *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
///     response
/// });
/// # let _ = layer;
/// ```
pub trait Refuse<B> {
    /// Makes the response; `None` is an empty body.
    fn refuse(&self, refused: &Refused<'_>) -> Response<Option<B>>;
}

impl<B, F: Fn(&Refused<'_>) -> Response<B>> Refuse<B> for F {
    fn refuse(&self, refused: &Refused<'_>) -> Response<Option<B>> {
        self(refused).map(Some)
    }
}

/// The usual response to a refused request: 503 with `Retry-After` and without a body; to a gRPC
/// request, `RESOURCE_EXHAUSTED` with `grpc-retry-pushback-ms: -1`.
///
/// `Retry-After` is [`Refused::come_back`], the server's side of the retry budget: of callers that obey it no more
/// come back than a tenth of what is let in.
///
/// # gRPC
///
/// [Its retries](https://github.com/grpc/proposal/blob/master/A6-client-retries.md) are bounded by the
/// client's list of retryable codes, its back-off with jitter, and its throttle. A push-back of zero or more
/// overrides the first two, and with a code that is not on the list the third does not count the failure:
/// from an overloaded server it invites a storm. So the default is the negative one, "do not retry", which
/// every client obeys and its throttle counts. `RESOURCE_EXHAUSTED` because `UNAVAILABLE` is on most
/// clients' lists; that one is the answer of a closed limiter, without push-back, for whoever asks is best
/// served by another server.
///
/// ```
/// use core::time::Duration;
/// use http::StatusCode;
/// use limiter_std::Limiter;
/// use limiter_std::http::{LimiterLayer, Refusal};
///
/// let layer = LimiterLayer::new(Limiter::default()).refuse(
///     Refusal::new()
///         .status(StatusCode::TOO_MANY_REQUESTS)
///         .retry_after(Duration::from_secs(5)),
/// );
/// # let _ = layer;
/// ```
#[derive(Clone, Debug)]
pub struct Refusal {
    status: StatusCode,
    retry_after: RetryAfter,
    pushback: Option<HeaderValue>,
}

/// What HTTP clients are told.
#[derive(Clone, Debug)]
enum RetryAfter {
    /// By the budget.
    Budget,
    Always(HeaderValue),
    Nothing,
}

impl Refusal {
    /// 503 and a time by the budget; for gRPC "do not retry".
    pub const fn new() -> Self {
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            retry_after: RetryAfter::Budget,
            pushback: Some(HeaderValue::from_static("-1")),
        }
    }

    /// Answers with another HTTP status.
    #[must_use]
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Asks all HTTP clients to stay away for `time`, in seconds rounded up.
    #[must_use]
    pub fn retry_after(mut self, time: Duration) -> Self {
        let part = u64::from(time.subsec_nanos() != 0);
        self.retry_after =
            RetryAfter::Always(HeaderValue::from(time.as_secs().saturating_add(part)));
        self
    }

    /// Leaves it to HTTP clients when to come back.
    #[must_use]
    pub fn without_retry_after(mut self) -> Self {
        self.retry_after = RetryAfter::Nothing;
        self
    }

    /// Has gRPC clients that retry at all do so after `time`, in milliseconds rounded up.
    #[must_use]
    pub fn grpc_pushback(mut self, time: Duration) -> Self {
        let millis = time.as_nanos().div_ceil(1_000_000);
        // A signed 32-bit number by its specification.
        let millis = i32::try_from(millis).unwrap_or(i32::MAX);
        self.pushback = Some(HeaderValue::from(millis));
        self
    }

    /// Leaves it to gRPC clients whether and when to retry.
    #[must_use]
    pub fn without_grpc_pushback(mut self) -> Self {
        self.pushback = None;
        self
    }

    fn http(&self, refused: &Refused<'_>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let time = match &self.retry_after {
            RetryAfter::Budget => seconds(refused.come_back()),
            RetryAfter::Always(time) => time.clone(),
            RetryAfter::Nothing => return headers,
        };
        headers.insert(RETRY_AFTER, time);
        headers
    }

    /// A response without a body, whose trailers are in its head ("trailers-only").
    fn grpc(&self, rejected: &Rejected) -> HeaderMap {
        let closed = rejected.reason == RejectReason::Closed;
        let (status, message) = if closed {
            (UNAVAILABLE, "closed")
        } else {
            (RESOURCE_EXHAUSTED, "overloaded")
        };
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert(grpc::STATUS, HeaderValue::from_static(status));
        headers.insert(MESSAGE, HeaderValue::from_static(message));
        if let Some(pushback) = self.pushback.as_ref().filter(|_| !closed) {
            headers.insert(PUSHBACK, pushback.clone());
        }
        headers
    }
}

/// The times of [`Refused::come_back`], without allocation.
fn seconds(time: Duration) -> HeaderValue {
    const TENS: [&str; 21] = [
        "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23", "24",
        "25", "26", "27", "28", "29", "30",
    ];
    match time.as_secs() {
        1 => HeaderValue::from_static("1"),
        secs @ 10..=30 => HeaderValue::from_static(TENS[secs as usize - 10]),
        secs => HeaderValue::from(secs),
    }
}

impl Default for Refusal {
    fn default() -> Self {
        Self::new()
    }
}

impl<B> Refuse<B> for Refusal {
    fn refuse(&self, refused: &Refused<'_>) -> Response<Option<B>> {
        let mut response = Response::new(None);
        if grpc::is_grpc(&refused.request.headers) {
            *response.headers_mut() = self.grpc(&refused.rejected);
        } else {
            *response.status_mut() = self.status;
            *response.headers_mut() = self.http(refused);
        }
        response
    }
}
