//! What requests say about themselves: which attempt they are, and how long somebody waits for them.

use super::hints::{GRPC_TIMEOUT, grpc_timeout, to_grpc_timeout};
use crate::Attempt;
use crate::tower::Prepare;
use ::http::Request;
use ::http::header::{HeaderMap, HeaderName, HeaderValue};
use core::time::Duration;

/// The header that numbers attempts unless another is chosen: `1` is a first attempt.
const ATTEMPT: HeaderName = HeaderName::from_static("x-attempt");

/// The headers by which callers tell servers which attempt a request is, and how long they wait for it.
///
/// At the caller it makes the requests of a [`DependencyLayer`](crate::tower::DependencyLayer)'s attempts, at
/// the server [`LimiterLayer::reading`](super::LimiterLayer::reading) reads them. Times are relative, in the
/// form of `grpc-timeout`, so that the clocks of caller and server need not agree.
///
/// Requests have to be `Clone`; those that are not are made one at a time, by
/// [`Dependency::call_async`](crate::Dependency::call_async) and [`Marks::mark`].
///
/// ```
/// use http::{HeaderName, Request};
/// use limiter_std::http::Marks;
///
/// let marks = Marks::new().attempt(HeaderName::from_static("x-try"));
/// let mut request = Request::new(());
/// request.headers_mut().insert("x-try", 2.into());
/// request.headers_mut().insert("grpc-timeout", "0m".parse()?);
/// assert_eq!(marks.number(request.headers()), 2);
/// assert!(marks.left(request.headers()).is_some_and(|left| left.is_zero()));
/// # Ok::<(), http::header::InvalidHeaderValue>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks {
    attempt: HeaderName,
    timeout: HeaderName,
}

impl Marks {
    /// `x-attempt` and `grpc-timeout`.
    pub const fn new() -> Self {
        Self {
            attempt: ATTEMPT,
            timeout: GRPC_TIMEOUT,
        }
    }

    /// Numbers attempts in another header.
    #[must_use]
    pub fn attempt(mut self, name: HeaderName) -> Self {
        self.attempt = name;
        self
    }

    /// Says how long the caller waits in another header.
    #[must_use]
    pub fn timeout(mut self, name: HeaderName) -> Self {
        self.timeout = name;
        self
    }

    /// Writes both headers for an attempt. A shorter time that is there already stays.
    pub fn mark(&self, headers: &mut HeaderMap, attempt: &Attempt) {
        headers.insert(&self.attempt, HeaderValue::from(attempt.number));
        let sooner = self
            .left(headers)
            .is_some_and(|left| left < attempt.timeout);
        if !sooner {
            headers.insert(&self.timeout, to_grpc_timeout(attempt.timeout));
        }
    }

    /// Which attempt a request is: 1 where it does not say, or says what cannot be read.
    pub fn number(&self, headers: &HeaderMap) -> u32 {
        let value = headers
            .get(&self.attempt)
            .and_then(|value| value.to_str().ok());
        value.and_then(|text| text.parse().ok()).unwrap_or(1)
    }

    /// How long its caller waited for a request when it was sent; `None` where it does not say.
    pub fn left(&self, headers: &HeaderMap) -> Option<Duration> {
        grpc_timeout(headers.get(&self.timeout)?)
    }
}

impl Default for Marks {
    fn default() -> Self {
        Self::new()
    }
}

impl<B: Clone> Prepare<Request<B>> for Marks {
    fn copy(&self, request: &Request<B>) -> Option<Request<B>> {
        Some(request.clone())
    }

    fn mark(&self, request: &mut Request<B>, attempt: &Attempt) {
        Self::mark(self, request.headers_mut(), attempt);
    }
}
