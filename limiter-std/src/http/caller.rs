//! The layer for callers.

use super::answer::{Answer, ReleaseAt};
use super::{Caller, ClassifyError, ClassifyResponse, ResponseBody};
use crate::clock::{Clock, MonotonicClock};
use crate::tower::role::{self, Entry, Guard, Role};
use crate::tower::{Asked, Error, LimiterService, Mode, Refuse, Wait, WaitUntil};
use crate::{Limiter, Permit, Rejected};
use ::http::Response;
use core::fmt;
use core::future::Future;
use http_body::Body;
use limiter_core::law::{Knee, Law};
use std::sync::Arc;
use tower_layer::Layer;
use tower_service::Service;

/// Puts an HTTP client under a limit; a refusal is [`Error::Rejected`](crate::tower::Error::Rejected).
///
/// For one limiter per dependency: it bounds what this caller has in flight there. Put it inside of
/// retries, so that each attempt has a slot and an RTT of its own, and outside of a time limit on the
/// attempt, whose error tells of overload.
///
/// ```
/// use http::{Request, Response};
/// use http_body_util::Empty;
/// use hyper_util::client::legacy::Client;
/// use hyper_util::rt::TokioExecutor;
/// use limiter_std::Limiter;
/// use limiter_std::http::CallerLayer;
/// use tower::ServiceBuilder;
///
/// let client = Client::builder(TokioExecutor::new()).build_http::<Empty<&[u8]>>();
/// let limited = ServiceBuilder::new()
///     .layer(CallerLayer::new(Limiter::default()))
///     .service(client);
/// # let _ = limited;
/// ```
///
/// See the [module](super) for when slots are free and what is learned; see
/// [`tower`](crate::tower#readiness) for readiness.
///
/// `K` classifies, `M` says what a call without a slot does, `L` and `C` are the limiter's.
pub struct CallerLayer<K = Caller, M = Refuse, L: Law = Knee, C: Clock = MonotonicClock> {
    limiter: Limiter<L, C>,
    classify: Arc<K>,
    release_at: ReleaseAt,
    mode: M,
}

impl<L: Law, C: Clock> CallerLayer<Caller, Refuse, L, C> {
    /// A layer that refuses what is beyond the limit, with the default classification, and frees slots at
    /// the head.
    pub fn new(limiter: Limiter<L, C>) -> Self {
        Self {
            limiter,
            classify: Arc::new(Caller::new()),
            release_at: ReleaseAt::Head,
            mode: Refuse,
        }
    }
}

impl<K, M, L: Law, C: Clock> CallerLayer<K, M, L, C> {
    /// Classifies responses and errors by `classify`.
    pub fn classify<K2>(self, classify: K2) -> CallerLayer<K2, M, L, C> {
        CallerLayer {
            limiter: self.limiter,
            classify: Arc::new(classify),
            release_at: self.release_at,
            mode: self.mode,
        }
    }

    /// Frees slots at the head or at the end of the body.
    #[must_use]
    pub fn release_at(mut self, release_at: ReleaseAt) -> Self {
        self.release_at = release_at;
        self
    }

    /// Lets calls wait in the limiter's queue when there is no slot; see
    /// [`tower::LimiterLayer::wait`](crate::tower::LimiterLayer::wait).
    pub fn wait(self) -> CallerLayer<K, Wait, L, C> {
        self.mode(Wait)
    }

    /// As [`wait`](Self::wait), each call until its timer is done; see
    /// [`tower::LimiterLayer::wait_until`](crate::tower::LimiterLayer::wait_until).
    pub fn wait_until<T, F>(self, timer: T) -> CallerLayer<K, WaitUntil<T>, L, C>
    where
        T: Fn() -> F,
        F: Future<Output = ()>,
    {
        self.mode(WaitUntil { timer })
    }

    fn mode<M2>(self, mode: M2) -> CallerLayer<K, M2, L, C> {
        CallerLayer {
            limiter: self.limiter,
            classify: self.classify,
            release_at: self.release_at,
            mode,
        }
    }

    /// The limiter.
    pub const fn limiter(&self) -> &Limiter<L, C> {
        &self.limiter
    }
}

impl<S, K, M: Clone, L: Law, C: Clock> Layer<S> for CallerLayer<K, M, L, C> {
    type Service = LimiterService<S, Self>;

    fn layer(&self, inner: S) -> Self::Service {
        LimiterService::new(inner, self.clone())
    }
}

impl<S, Req, B, K, M, L, C> Role<S, Req> for CallerLayer<K, M, L, C>
where
    S: Service<Req, Response = Response<B>>,
    B: Body,
    K: ClassifyResponse + ClassifyError<S::Error> + Send + Sync + 'static,
    M: Mode<S, L, C>,
    L: Law + Send + Sync + 'static,
    C: Clock,
{
    type Law = L;
    type Clock = C;
    type Guard = Calling<K, L, C>;
    type Wait = M::Wait;

    fn limiter(&self) -> &Limiter<L, C> {
        &self.limiter
    }

    fn enter(&self, _: &Req, inner: &mut S) -> Entry<S, M::Wait, L, C> {
        self.mode.enter(&self.limiter, Asked::default(), inner)
    }

    fn begin(&self, permit: Permit<L, C>, _: &mut Req) -> Self::Guard {
        Calling(Answer {
            hold: permit.into_hold(),
            classify: Arc::clone(&self.classify),
            release_at: self.release_at,
        })
    }

    fn refuse(&self, rejected: Rejected, _: Req) -> role::Answer<Self, S, Req> {
        Err(Error::Rejected(rejected))
    }

    fn closed(&self, rejected: Rejected) -> Option<Error<S::Error>> {
        Some(Error::Rejected(rejected))
    }
}

/// A request on its way.
#[derive(Debug)]
pub struct Calling<K, L: Law, C: Clock>(Answer<K, L, C>);

impl<B, E, K, L, C> Guard<Response<B>, E> for Calling<K, L, C>
where
    B: Body,
    K: ClassifyResponse + ClassifyError<E> + Send + Sync + 'static,
    L: Law + Send + Sync + 'static,
    C: Clock,
{
    type Response = Response<ResponseBody<B>>;
    type Error = Error<E>;

    fn end(self, result: Result<Response<B>, E>) -> Result<Self::Response, Error<E>> {
        match result {
            Ok(response) => Ok(self.0.respond(response)),
            Err(error) => {
                self.0.fail(&error);
                Err(Error::Inner(error))
            }
        }
    }

    fn error(error: E) -> Error<E> {
        Error::Inner(error)
    }

    fn abandon(self) {
        self.0.abandon();
    }
}

impl<K, M: Clone, L: Law, C: Clock> Clone for CallerLayer<K, M, L, C> {
    fn clone(&self) -> Self {
        Self {
            limiter: self.limiter.clone(),
            classify: Arc::clone(&self.classify),
            release_at: self.release_at,
            mode: self.mode.clone(),
        }
    }
}

impl<K, M: fmt::Debug, L: Law, C: Clock> fmt::Debug for CallerLayer<K, M, L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallerLayer")
            .field("limiter", &self.limiter)
            .field("release_at", &self.release_at)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}
