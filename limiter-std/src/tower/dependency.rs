//! A layer with everything that a dependency's caller needs.

use super::Errors;
use super::sending::{Requests, Running};
use crate::clock::{Clock, MonotonicClock};
use crate::dependency::future::Calling;
use crate::dependency::say;
use crate::{Attempt, CallOptions, Dependency, GaveUp, Judge, Sleep};
use core::convert::Infallible;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use limiter_core::GiveUp;
use limiter_core::law::{Knee, Law};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

/// Makes logical calls of requests: with retries, hedges where asked for, timeouts, and everything that
/// bounds them, in the right order. One layer in place of retry, hedge, timeout, breaker and limiter layers.
///
/// The layer owns the dependency's handle: however often it is applied or cloned, there is one budget, one
/// breaker and one limit.
///
/// The inner service is cloned for every attempt, and the clone is polled ready in the attempt's own time.
/// So `poll_ready` is always ready and reserves nothing, and a service that is ready and then idle holds
/// nothing.
///
/// A response that the judge finds bad is the answer all the same, when nothing better comes; see
/// [`DependencyError`] for the rest. The slot is free when the response is there; for HTTP that is the head.
///
/// `J` judges results, `P` makes requests for further attempts, `Z` sleeps; `L` and `C` are the dependency's.
///
/// ```
/// use limiter_std::Dependency;
/// use limiter_std::tower::DependencyLayer;
/// use tower::{ServiceBuilder, ServiceExt};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let store = Dependency::default();
/// let service = ServiceBuilder::new()
///     .layer(DependencyLayer::new(store.clone(), tokio::time::sleep))
///     .service_fn(async |name: &str| name.parse::<u32>());
///
/// assert_eq!(service.oneshot("42").await.expect("a number"), 42);
/// assert_eq!(store.counts().succeeded, 1);
/// # });
/// ```
///
/// # Cancellation
///
/// That of [`Dependency::call_async`].
pub struct DependencyLayer<Z, J = Errors, P = Cloned, L: Law = Knee, C: Clock = MonotonicClock> {
    dependency: Dependency<L, C>,
    options: CallOptions,
    sleep: Z,
    judge: J,
    prepare: P,
}

impl<Z, L: Law, C: Clock> DependencyLayer<Z, Errors, Cloned, L, C> {
    /// A layer that judges by [`Errors`] and clones requests.
    pub const fn new(dependency: Dependency<L, C>, sleep: Z) -> Self {
        Self {
            dependency,
            options: CallOptions::new(),
            sleep,
            judge: Errors,
            prepare: Cloned,
        }
    }
}

impl<Z, J, P, L: Law, C: Clock> DependencyLayer<Z, J, P, L, C> {
    /// Judges results by `judge`, which is cloned for each call.
    pub fn judge<J2>(self, judge: J2) -> DependencyLayer<Z, J2, P, L, C> {
        DependencyLayer {
            dependency: self.dependency,
            options: self.options,
            sleep: self.sleep,
            judge,
            prepare: self.prepare,
        }
    }

    /// Makes the requests of attempts by `prepare`, which is cloned for each call.
    pub fn prepare<P2>(self, prepare: P2) -> DependencyLayer<Z, J, P2, L, C> {
        DependencyLayer {
            dependency: self.dependency,
            options: self.options,
            sleep: self.sleep,
            judge: self.judge,
            prepare,
        }
    }

    /// The options of all calls: for services whose requests may all be hedged, or none be repeated.
    #[must_use]
    pub fn options(mut self, options: CallOptions) -> Self {
        self.options = options;
        self
    }

    /// The dependency.
    pub const fn dependency(&self) -> &Dependency<L, C> {
        &self.dependency
    }
}

/// Makes the requests of a call's attempts. [`Cloned`] and [`Once`] are the ready ones.
pub trait Prepare<Req> {
    /// A copy for another attempt; `None` when there can be none, and then the call makes one attempt.
    fn copy(&self, request: &Req) -> Option<Req>;

    /// Makes `request` that of an attempt, such as by its number.
    fn mark(&self, request: &mut Req, attempt: &Attempt);
}

/// Clones requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cloned;

impl<Req: Clone> Prepare<Req> for Cloned {
    fn copy(&self, request: &Req) -> Option<Req> {
        Some(request.clone())
    }

    fn mark(&self, _: &mut Req, _: &Attempt) {}
}

/// Repeats nothing: one attempt for each request, under limit, breaker, throttle and timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Once;

impl<Req> Prepare<Req> for Once {
    fn copy(&self, _: &Req) -> Option<Req> {
        None
    }

    fn mark(&self, _: &mut Req, _: &Attempt) {}
}

impl<S, Z: Clone, J: Clone, P: Clone, L: Law, C: Clock> Layer<S>
    for DependencyLayer<Z, J, P, L, C>
{
    type Service = DependencyService<S, Z, J, P, L, C>;

    fn layer(&self, inner: S) -> Self::Service {
        DependencyService {
            inner,
            layer: self.clone(),
        }
    }
}

/// A service as a dependency, made by [`DependencyLayer`]. Clones share everything.
#[derive(Clone, Debug)]
pub struct DependencyService<S, Z, J = Errors, P = Cloned, L: Law = Knee, C: Clock = MonotonicClock>
{
    inner: S,
    layer: DependencyLayer<Z, J, P, L, C>,
}

impl<S, Req, Z, J, P, L, C> Service<Req> for DependencyService<S, Z, J, P, L, C>
where
    S: Service<Req> + Clone,
    Z: Sleep + Clone,
    J: Judge<S::Response, S::Error> + Clone,
    P: Prepare<Req> + Clone,
    L: Law,
    C: Clock,
{
    type Response = S::Response;
    type Error = DependencyError<S::Error>;
    type Future = DependencyFuture<S, Req, Z, J, P, L, C>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Req) -> Self::Future {
        let layer = &self.layer;
        let requests = Requests::new(self.inner.clone(), layer.prepare.clone(), request);
        let options = if requests.repeatable() {
            layer.options
        } else {
            layer.options.attempts(1)
        };
        DependencyFuture {
            calling: Calling::new(
                layer.dependency.shared(),
                options,
                layer.sleep.clone(),
                layer.judge.clone(),
                requests,
            ),
        }
    }
}

pin_project! {
    /// The response of a [`DependencyService`].
    #[must_use = "a future does nothing until it is polled"]
    pub struct DependencyFuture<S, Req, Z, J, P, L, C>
    where
        S: Service<Req>,
        S: Clone,
        Z: Sleep,
        P: Prepare<Req>,
        L: Law,
        C: Clock,
    {
        #[pin]
        calling: Calling<S::Response, S::Error, Requests<S, P, Req>, J, Z, L, C>,
    }
}

impl<S, Req, Z, J, P, L, C> Future for DependencyFuture<S, Req, Z, J, P, L, C>
where
    S: Service<Req> + Clone,
    Z: Sleep,
    J: Judge<S::Response, S::Error>,
    P: Prepare<Req>,
    L: Law,
    C: Clock,
    Running<S, Req>: Future<Output = Result<S::Response, S::Error>>,
{
    type Output = Result<S::Response, DependencyError<S::Error>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let result = ready!(self.project().calling.poll(context));
        Poll::Ready(result.or_else(|gave_up| {
            gave_up
                .answer()
                .map_err(|GaveUp { why, last, .. }| DependencyError {
                    why,
                    last: last.and_then(Result::err),
                })
        }))
    }
}

impl<S, Req, Z, J, P, L, C> fmt::Debug for DependencyFuture<S, Req, Z, J, P, L, C>
where
    S: Service<Req> + Clone,
    Z: Sleep,
    P: Prepare<Req>,
    L: Law,
    C: Clock,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DependencyFuture").finish_non_exhaustive()
    }
}

/// The error of a call that gave up without a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DependencyError<E = Infallible> {
    /// Why it gave up.
    pub why: GiveUp,
    /// The last error of the inner service: `None` when no attempt left, or all ran out of their time.
    pub last: Option<E>,
}

impl<E> fmt::Display for DependencyError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        say(self.why, f)
    }
}

impl<E: core::error::Error + 'static> core::error::Error for DependencyError<E> {
    /// The last error. Where there is none, why the call gave up: layers outside see a refusal of this
    /// process, which is not to be retried.
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.last {
            Some(error) => Some(error),
            None => Some(&self.why),
        }
    }
}

impl<Z: Clone, J: Clone, P: Clone, L: Law, C: Clock> Clone for DependencyLayer<Z, J, P, L, C> {
    fn clone(&self) -> Self {
        Self {
            dependency: self.dependency.clone(),
            options: self.options,
            sleep: self.sleep.clone(),
            judge: self.judge.clone(),
            prepare: self.prepare.clone(),
        }
    }
}

impl<Z, J, P, L: Law, C: Clock> fmt::Debug for DependencyLayer<Z, J, P, L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DependencyLayer")
            .field("dependency", &self.dependency)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
