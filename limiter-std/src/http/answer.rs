//! From the response's head to the freed slot.

use super::body::{ResponseBody, Rest};
use super::{ClassifyError, ClassifyResponse, Verdict};
use crate::clock::Clock;
use crate::hold::Deferred;
use crate::{Hold, Outcome, Timestamp};
use ::http::Response;
use ::http::header::HeaderMap;
use http_body::Body;
use limiter_core::law::Law;
use std::sync::Arc;

/// When a response's slot is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReleaseAt {
    /// When the head is there: bodies are cheap to make, or made before the head.
    #[default]
    Head,
    /// When the body ended, failed or was dropped: bodies cost what the limit protects, such as a cursor
    /// of a database. Slow readers take slots then.
    Body,
}

/// A hold, and what will be made of the response.
#[derive(Debug)]
pub(super) struct Answer<K, L: Law, C: Clock> {
    pub(super) hold: Hold<L, C>,
    pub(super) classify: Arc<K>,
    pub(super) release_at: ReleaseAt,
}

impl<K, L, C> Answer<K, L, C>
where
    K: Send + Sync + 'static,
    L: Law + Send + Sync + 'static,
    C: Clock,
{
    /// The head is there: records it, or has the body record its trailers.
    pub(super) fn respond<B>(self, response: Response<B>) -> Response<ResponseBody<B>>
    where
        K: ClassifyResponse,
        B: Body,
    {
        let at = self.hold.now();
        let (head, body) = response.into_parts();
        let judge = match self.classify.response(&head) {
            Verdict::Known(outcome) => {
                self.hold.record(outcome, at);
                None
            }
            Verdict::AtTrailers => self.hold.defer().map(|deferred| (deferred, self.classify)),
        };
        let hold = Some(self.hold).filter(|_| self.release_at == ReleaseAt::Body);
        let more = judge.is_some() || hold.is_some();
        let rest = more.then(|| Pending { judge, at, hold });
        let body = match rest {
            Some(mut rest) if body.is_end_stream() => {
                rest.ended(None);
                ResponseBody::unwatched(body)
            }
            Some(rest) => ResponseBody::watched(body, Box::new(rest)),
            None => ResponseBody::unwatched(body),
        };
        Response::from_parts(head, body)
    }

    /// The service failed instead of responding.
    pub(super) fn fail<E>(self, error: &E)
    where
        K: ClassifyError<E>,
    {
        let at = self.hold.now();
        self.hold.record(self.classify.error(error), at);
    }

    /// The service panicked, which teaches nothing.
    pub(super) fn abandon(self) {
        self.hold.forget();
    }
}

/// What ends with the body.
struct Pending<K, L: Law, C: Clock> {
    /// Set when the trailers will tell the outcome.
    judge: Option<(Deferred<L, C>, Arc<K>)>,
    /// When the head was there.
    at: Timestamp,
    /// Set when the slot is kept until the end.
    hold: Option<Hold<L, C>>,
}

impl<K, L: Law, C: Clock> Pending<K, L, C> {
    fn record(&mut self, judge: impl FnOnce(&K) -> Outcome) {
        if let Some((deferred, classify)) = self.judge.take() {
            deferred.record(judge(&classify), self.at);
        }
    }
}

impl<K, L, C> Rest for Pending<K, L, C>
where
    K: ClassifyResponse + Send + Sync,
    L: Law + Send + Sync,
    C: Clock,
{
    fn ended(&mut self, trailers: Option<&HeaderMap>) {
        self.record(|classify| classify.trailers(trailers));
    }

    fn failed(&mut self) {
        self.record(|_| Outcome::Failure);
    }
}

impl<K, L: Law, C: Clock> Drop for Pending<K, L, C> {
    fn drop(&mut self) {
        // It was answered, by its head: how long a client listens to a stream before it leaves is no RTT, and half of
        // all heads are older than the usual one.
        self.record(|_| Outcome::Ignored);
        self.hold = None;
    }
}
