//! A layer with a breaker alone.

use super::{Classify, Errors};
use crate::breaker::{Breaker, Pass};
use crate::clock::{Clock, MonotonicClock, duration};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use limiter_core::BreakerOpen;
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

/// Puts services behind a circuit breaker.
///
/// The layer owns the breaker's handle: however often it is applied or cloned, there is one. Put it outside
/// of a limiter of its own, whose refusals say nothing about the service and give a probe back; or take a
/// [`DependencyLayer`](super::DependencyLayer), which has everything in the right order.
///
/// `poll_ready` asks the inner service alone and takes no lease. `K` classifies results.
///
/// ```
/// use limiter_std::tower::BreakerLayer;
/// use limiter_std::{Breaker, BreakerConfig};
/// use tower::ServiceBuilder;
///
/// let breaker = Breaker::try_new(BreakerConfig::new())?;
/// let service = ServiceBuilder::new()
///     .layer(BreakerLayer::new(breaker))
///     .service_fn(async |name: &str| name.parse::<u32>());
/// # let _ = service;
/// # Ok::<(), limiter_std::ConfigError>(())
/// ```
///
/// # Cancellation
///
/// Dropping the response future says nothing about the service, and gives a probe back.
#[derive(Clone, Debug)]
pub struct BreakerLayer<K = Errors, C: Clock = MonotonicClock> {
    breaker: Breaker<C>,
    classify: K,
}

impl<C: Clock> BreakerLayer<Errors, C> {
    /// A layer that classifies by [`Errors`].
    pub const fn new(breaker: Breaker<C>) -> Self {
        Self {
            breaker,
            classify: Errors,
        }
    }
}

impl<K, C: Clock> BreakerLayer<K, C> {
    /// Classifies results by `classify`, which is cloned for each call.
    pub fn classify<K2>(self, classify: K2) -> BreakerLayer<K2, C> {
        BreakerLayer {
            breaker: self.breaker,
            classify,
        }
    }

    /// The breaker.
    pub const fn breaker(&self) -> &Breaker<C> {
        &self.breaker
    }
}

impl<S, K: Clone, C: Clock> Layer<S> for BreakerLayer<K, C> {
    type Service = BreakerService<S, K, C>;

    fn layer(&self, inner: S) -> Self::Service {
        BreakerService {
            inner,
            layer: Self {
                breaker: self.breaker.clone(),
                classify: self.classify.clone(),
            },
        }
    }
}

/// A service behind a breaker, made by [`BreakerLayer`]. Clones share the breaker.
#[derive(Clone, Debug)]
pub struct BreakerService<S, K = Errors, C: Clock = MonotonicClock> {
    inner: S,
    layer: BreakerLayer<K, C>,
}

impl<S, Req, K, C> Service<Req> for BreakerService<S, K, C>
where
    S: Service<Req>,
    K: Classify<S::Response, S::Error> + Clone,
    C: Clock,
{
    type Response = S::Response;
    type Error = BreakerError<S::Error>;
    type Future = BreakerFuture<S::Future, K, C>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context).map_err(BreakerError::Inner)
    }

    fn call(&mut self, request: Req) -> Self::Future {
        match self.layer.breaker.try_pass() {
            Ok(pass) => BreakerFuture {
                state: State::Running {
                    inner: self.inner.call(request),
                    passed: Some((pass, self.layer.classify.clone())),
                },
            },
            Err(open) => BreakerFuture {
                state: State::Refused { open: Some(open) },
            },
        }
    }
}

pin_project! {
    /// The response of a [`BreakerService`].
    #[must_use = "a future does nothing until it is polled"]
    pub struct BreakerFuture<F, K, C: Clock> {
        #[pin]
        state: State<F, K, C>,
    }
}

pin_project! {
    #[project = Stage]
    enum State<F, K, C: Clock> {
        Running { #[pin] inner: F, passed: Option<(Pass<C>, K)> },
        Refused { open: Option<BreakerOpen> },
    }
}

impl<T, E, F, K, C> Future for BreakerFuture<F, K, C>
where
    F: Future<Output = Result<T, E>>,
    K: Classify<T, E>,
    C: Clock,
{
    type Output = Result<T, BreakerError<E>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            Stage::Running { inner, passed } => {
                if passed.is_none() {
                    return Poll::Pending;
                }
                let result = ready!(inner.poll(context));
                if let Some((pass, classify)) = passed.take() {
                    pass.finish(classify.classify(result.as_ref()));
                }
                Poll::Ready(result.map_err(BreakerError::Inner))
            }
            // Pending for ever once it was ready.
            Stage::Refused { open } => match open.take() {
                Some(open) => Poll::Ready(Err(BreakerError::Open(open))),
                None => Poll::Pending,
            },
        }
    }
}

impl<F, K, C: Clock> fmt::Debug for BreakerFuture<F, K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerFuture").finish_non_exhaustive()
    }
}

/// The error of a service behind a breaker: refused here, or failed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerError<E> {
    /// The breaker is open; the inner service was not called. A retry makes nothing better.
    Open(BreakerOpen),
    /// The inner service failed.
    Inner(E),
}

impl<E> fmt::Display for BreakerError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(open) => {
                let left = duration(open.left);
                write!(
                    f,
                    "refused by the breaker, which is open for another {left:?}"
                )
            }
            Self::Inner(_) => f.write_str("the service behind the breaker failed"),
        }
    }
}

impl<E: core::error::Error + 'static> core::error::Error for BreakerError<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Open(open) => Some(open),
            Self::Inner(error) => Some(error),
        }
    }
}
