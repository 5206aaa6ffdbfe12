//! The layer for servers.

use super::answer::{Answer, ReleaseAt};
use super::invitations::Invitations;
use super::reading::Reading;
use super::{
    ClassifyError, ClassifyResponse, Head, Marks, Refusal, Refuse, Refused, ResponseBody, Server,
};
use crate::clock::{Clock, MonotonicClock};
use crate::tower::role::{self, Entry, Guard, Role};
use crate::tower::{self, Alike, Asked, Describe, LimiterService, Mode, Wait, WaitUntil};
use crate::{Hold, Limiter, Permit, Rejected};
use ::http::{Request, Response};
use core::fmt;
use core::future::Future;
use http_body::Body;
use limiter_core::law::{Knee, Law};
use std::sync::Arc;
use tower_layer::Layer;
use tower_service::Service;

/// Puts an HTTP server's services under a limit; a refusal is a response, see [`Refusal`].
///
/// Fits axum's `Router::layer`, hyper and tonic. The response's body becomes a [`ResponseBody`]; the
/// service's errors stay what they are.
///
/// Before the inner service is called, a share of the slot is put into the request's extensions, as a
/// [`Hold`](crate::Hold) of the limiter's law and clock: work that outlives the response future, such as a
/// blocking or spawned task, keeps its slot by keeping the hold. Where layers are nested, the inner one's
/// hold of the same type takes the place of the outer one's, and keeps both slots.
///
/// When the limiter is closed the service stays ready and refuses, for a server wants to answer.
///
/// See the [module](super) for when slots are free and what is learned; see
/// [`tower`](crate::tower#readiness) for readiness.
///
/// `K` classifies, `R` answers refused requests, `M` says what a call without a slot does, `L` and `C` are
/// the limiter's, `D` says what a request is.
pub struct LimiterLayer<
    K = Server,
    R = Refusal,
    M = tower::Refuse,
    L: Law = Knee,
    C: Clock = MonotonicClock,
    D = Alike,
> {
    limiter: Limiter<L, C>,
    classify: Arc<K>,
    refuse: Arc<R>,
    release_at: ReleaseAt,
    reading: Option<Arc<Reading>>,
    mode: M,
    describe: Arc<D>,
    invitations: Arc<Invitations>,
}

impl<L: Law, C: Clock> LimiterLayer<Server, Refusal, tower::Refuse, L, C> {
    /// A layer that refuses what is beyond the limit, with the default responses and classification, and
    /// frees slots at the head.
    pub fn new(limiter: Limiter<L, C>) -> Self {
        Self {
            limiter,
            classify: Arc::new(Server),
            refuse: Arc::new(Refusal::new()),
            release_at: ReleaseAt::Head,
            reading: None,
            mode: tower::Refuse,
            describe: Arc::new(Alike),
            invitations: Arc::new(Invitations::new()),
        }
    }
}

impl<K, R, M, L: Law, C: Clock, D> LimiterLayer<K, R, M, L, C, D> {
    /// Classifies responses and errors by `classify`.
    pub fn classify<K2>(self, classify: K2) -> LimiterLayer<K2, R, M, L, C, D> {
        LimiterLayer {
            limiter: self.limiter,
            classify: Arc::new(classify),
            refuse: self.refuse,
            release_at: self.release_at,
            reading: self.reading,
            mode: self.mode,
            describe: self.describe,
            invitations: self.invitations,
        }
    }

    /// Answers refused requests by `refuse`.
    pub fn refuse<R2>(self, refuse: R2) -> LimiterLayer<K, R2, M, L, C, D> {
        LimiterLayer {
            limiter: self.limiter,
            classify: self.classify,
            refuse: Arc::new(refuse),
            release_at: self.release_at,
            reading: self.reading,
            mode: self.mode,
            describe: self.describe,
            invitations: self.invitations,
        }
    }

    /// Says by `describe` what each request is, from its [`Head`]: its priority, its weight, its partition, its
    /// caller. Which attempt it is is [read](Self::reading) of the request itself, by [`Marks::new`] unless other
    /// marks were given: a retry is one class lower.
    ///
    /// ```
    /// use limiter_std::http::{Head, LimiterLayer};
    /// use limiter_std::{Caller, Config, Guarantee, Limiter, Partitions, Priority, Request, law::Knee};
    ///
    /// let partitions = Partitions::new()
    ///     .partition("reads", Guarantee::NONE)
    ///     .partition("writes", Guarantee::of(300));
    /// let limiter = Limiter::partitioned(Config::new(Knee::new()), &partitions)?;
    /// let (reads, writes) = (limiter.partition("reads")?, limiter.partition("writes")?);
    /// let layer = LimiterLayer::new(limiter).describe(move |head: &Head<'_>| {
    ///     let partition = if head.method.is_safe() { reads } else { writes };
    ///     let priority = match head.uri.path() {
    ///         "/health" | "/login" => Priority::Critical,
    ///         path if path.starts_with("/reports/") => Priority::Batch,
    ///         _ => Priority::Interactive,
    ///     };
    ///     let request = Request::new().partition(partition).priority(priority);
    ///     // Behind a proxy that says whose request it is.
    ///     match head.headers.get("x-tenant") {
    ///         Some(tenant) => request.caller(Caller::new(tenant)),
    ///         None => request,
    ///     }
    /// });
    /// # let _ = layer;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn describe<D2>(self, describe: D2) -> LimiterLayer<K, R, M, L, C, D2>
    where
        D2: for<'a> Describe<Head<'a>>,
    {
        LimiterLayer {
            limiter: self.limiter,
            classify: self.classify,
            refuse: self.refuse,
            release_at: self.release_at,
            reading: self.reading,
            mode: self.mode,
            describe: Arc::new(describe),
            invitations: self.invitations,
        }
    }

    /// Frees slots at the head or at the end of the body.
    #[must_use]
    pub fn release_at(mut self, release_at: ReleaseAt) -> Self {
        self.release_at = release_at;
        self
    }

    /// Reads how long callers wait, and refuses requests for which nobody waits any more
    /// ([`TimedOut`](crate::RejectReason::TimedOut)): those that come with no time left, and those whose time
    /// was over before their wait for a slot was.
    ///
    /// ```
    /// use limiter_std::Limiter;
    /// use limiter_std::http::{LimiterLayer, Marks};
    ///
    /// let layer = LimiterLayer::new(Limiter::default())
    ///     .reading(Marks::new())
    ///     .shed_retries(800);
    /// # let _ = layer;
    /// ```
    #[must_use]
    pub fn reading(mut self, marks: Marks) -> Self {
        let retries = self.reading.and_then(|reading| reading.retries);
        self.reading = Some(Arc::new(Reading { marks, retries }));
        self
    }

    /// Sheds retries first: refuses requests that say they are one
    /// ([`AtLimit`](crate::RejectReason::AtLimit)) while so many slots are taken, in thousandths of those that they
    /// may use: of the limit, and where others have guarantees, without what of these is idle. The rest is for first
    /// attempts. Reads as [`reading`](Self::reading) does, by
    /// [`Marks::new`] unless other marks were given.
    #[must_use]
    pub fn shed_retries(mut self, per_mille: u32) -> Self {
        let marks = self
            .reading
            .map_or_else(Marks::new, |reading| reading.marks.clone());
        let retries = Some(per_mille);
        self.reading = Some(Arc::new(Reading { marks, retries }));
        self
    }

    /// Lets requests wait in the limiter's queue when there is no slot; see
    /// [`tower::LimiterLayer::wait`](crate::tower::LimiterLayer::wait).
    pub fn wait(self) -> LimiterLayer<K, R, Wait, L, C, D> {
        self.mode(Wait)
    }

    /// As [`wait`](Self::wait), each request until its timer is done; see
    /// [`tower::LimiterLayer::wait_until`](crate::tower::LimiterLayer::wait_until).
    pub fn wait_until<T, F>(self, timer: T) -> LimiterLayer<K, R, WaitUntil<T>, L, C, D>
    where
        T: Fn() -> F,
        F: Future<Output = ()>,
    {
        self.mode(WaitUntil { timer })
    }

    fn mode<M2>(self, mode: M2) -> LimiterLayer<K, R, M2, L, C, D> {
        LimiterLayer {
            limiter: self.limiter,
            classify: self.classify,
            refuse: self.refuse,
            release_at: self.release_at,
            reading: self.reading,
            mode,
            describe: self.describe,
            invitations: self.invitations,
        }
    }

    /// The limiter.
    pub const fn limiter(&self) -> &Limiter<L, C> {
        &self.limiter
    }
}

impl<S, K, R, M: Clone, L: Law, C: Clock, D> Layer<S> for LimiterLayer<K, R, M, L, C, D> {
    type Service = LimiterService<S, Self>;

    fn layer(&self, inner: S) -> Self::Service {
        LimiterService::new(inner, self.clone())
    }
}

impl<S, Q, B, K, R, M, L, C, D> Role<S, Request<Q>> for LimiterLayer<K, R, M, L, C, D>
where
    S: Service<Request<Q>, Response = Response<B>>,
    B: Body,
    K: ClassifyResponse + ClassifyError<S::Error> + Send + Sync + 'static,
    R: Refuse<B>,
    M: Mode<S, L, C>,
    L: Law + Send + Sync + 'static,
    C: Clock,
    D: for<'a> Describe<Head<'a>>,
{
    type Law = L;
    type Clock = C;
    type Guard = Serving<K, L, C>;
    type Wait = M::Wait;

    fn limiter(&self) -> &Limiter<L, C> {
        &self.limiter
    }

    fn welcome(&self, request: &mut Request<Q>) -> Result<(), Rejected> {
        match &self.reading {
            Some(reading) => reading.welcome(request, &self.limiter),
            None => Ok(()),
        }
    }

    fn is_wanted(&self, request: &Request<Q>) -> Result<(), Rejected> {
        match &self.reading {
            Some(reading) => reading.is_wanted(request, &self.limiter),
            None => Ok(()),
        }
    }

    fn enter(&self, request: &Request<Q>, inner: &mut S) -> Entry<S, M::Wait, L, C> {
        let reading = self.reading.as_deref();
        let mut asked = Asked::of(&*self.describe, &Head::of(request));
        if let Some(described) = &mut asked.request {
            let number = match reading {
                Some(reading) => reading.marks.number(request.headers()),
                None => Marks::new().number(request.headers()),
            };
            *described = described.attempt(number);
        }
        if let Some(reading) = reading {
            let turned_away = reading.turn_away(request, asked.request, &self.limiter);
            if let Some(ended) = turned_away {
                return Entry::Now(ended);
            }
            asked.within = reading.left(request, &self.limiter);
        }
        self.mode.enter(&self.limiter, asked, inner)
    }

    fn begin(&self, permit: Permit<L, C>, request: &mut Request<Q>) -> Self::Guard {
        self.invitations.admitted();
        let outer = request.extensions_mut().remove();
        let hold = permit.into_hold();
        // Not the share that is kept here: when the slot around this one is free is for the layer around this one.
        request
            .extensions_mut()
            .insert(Hold::clone(&hold).within(outer));
        Serving(Answer {
            hold,
            classify: Arc::clone(&self.classify),
            release_at: self.release_at,
        })
    }

    fn refuse(&self, rejected: Rejected, request: Request<Q>) -> role::Answer<Self, S, Request<Q>> {
        let (request, _) = request.into_parts();
        let response = self.refuse.refuse(&Refused {
            rejected,
            request,
            invitations: &self.invitations,
        });
        Ok(response.map(|body| body.map_or(ResponseBody::empty(), ResponseBody::unwatched)))
    }

    fn closed(&self, _: Rejected) -> Option<S::Error> {
        None
    }
}

/// A request being served.
#[derive(Debug)]
pub struct Serving<K, L: Law, C: Clock>(Answer<K, L, C>);

impl<B, E, K, L, C> Guard<Response<B>, E> for Serving<K, L, C>
where
    B: Body,
    K: ClassifyResponse + ClassifyError<E> + Send + Sync + 'static,
    L: Law + Send + Sync + 'static,
    C: Clock,
{
    type Response = Response<ResponseBody<B>>;
    type Error = E;

    fn end(self, result: Result<Response<B>, E>) -> Result<Self::Response, E> {
        match result {
            Ok(response) => Ok(self.0.respond(response)),
            Err(error) => {
                self.0.fail(&error);
                Err(error)
            }
        }
    }

    fn error(error: E) -> E {
        error
    }

    fn abandon(self) {
        self.0.abandon();
    }
}

impl<K, R, M: Clone, L: Law, C: Clock, D> Clone for LimiterLayer<K, R, M, L, C, D> {
    fn clone(&self) -> Self {
        Self {
            limiter: self.limiter.clone(),
            classify: Arc::clone(&self.classify),
            refuse: Arc::clone(&self.refuse),
            release_at: self.release_at,
            reading: self.reading.clone(),
            mode: self.mode.clone(),
            describe: Arc::clone(&self.describe),
            invitations: Arc::clone(&self.invitations),
        }
    }
}

impl<K, R, M: fmt::Debug, L: Law, C: Clock, D> fmt::Debug for LimiterLayer<K, R, M, L, C, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimiterLayer")
            .field("limiter", &self.limiter)
            .field("release_at", &self.release_at)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}
