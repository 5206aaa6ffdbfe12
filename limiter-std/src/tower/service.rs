//! The service of every layer.

use super::ResponseFuture;
use super::layer::LimiterLayer;
use super::role::{Done, Entry, Failed, Guard, Role, run};
use crate::{RejectReason, Rejected};
use core::task::{Context, Poll};
use tower_service::Service;

/// A service under a limit: made by the layer `Y`.
///
/// Clones share the limit.
#[derive(Clone, Copy, Debug)]
pub struct LimiterService<S, Y = LimiterLayer> {
    inner: S,
    layer: Y,
}

impl<S, Y> LimiterService<S, Y> {
    pub(crate) const fn new(inner: S, layer: Y) -> Self {
        Self { inner, layer }
    }

    /// The layer it was made by.
    pub const fn layer(&self) -> &Y {
        &self.layer
    }

    /// The inner service.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The inner service.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The inner service.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, Y, Req> Service<Req> for LimiterService<S, Y>
where
    S: Service<Req>,
    Y: Role<S, Req> + Clone,
{
    type Response = Done<Y, S, Req>;
    type Error = Failed<Y, S, Req>;
    type Future = ResponseFuture<Y, S, Req>;

    #[inline]
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        if self.layer.limiter().is_closed() {
            let seen = self.layer.limiter().snapshot();
            let rejected = Rejected::new(RejectReason::Closed, seen.limit, seen.inflight);
            if let Some(error) = self.layer.closed(rejected) {
                return Poll::Ready(Err(error));
            }
        }
        self.inner.poll_ready(context).map_err(Y::Guard::error)
    }

    #[inline]
    fn call(&mut self, mut request: Req) -> Self::Future {
        if let Err(rejected) = self.layer.welcome(&mut request) {
            return ResponseFuture::answered(self.layer.refuse(rejected, request));
        }
        match self.layer.enter(&request, &mut self.inner) {
            Entry::Now(Ok(permit)) => {
                let mut guard = Some(self.layer.begin(permit, &mut request));
                let inner = run(&mut guard, || self.inner.call(request));
                ResponseFuture::running(inner, guard)
            }
            Entry::Now(Err(rejected)) => {
                ResponseFuture::answered(self.layer.refuse(rejected, request))
            }
            Entry::Later(wait, ready) => {
                ResponseFuture::waiting(wait, self.layer.clone(), ready, request)
            }
        }
    }
}
