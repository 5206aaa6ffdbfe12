//! The layer and its service.

use super::future::ChaosFuture;
use super::schedule::{Harm, Schedule};
use super::switch::Chaos;
use crate::Sleep;
use crate::clock::{Clock, MonotonicClock};
use crate::dependency::entropy;
use core::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// Hurts the calls of a service on a schedule, once it is switched on by [`chaos`](ChaosLayer::chaos).
///
/// `Z` sleeps, and is not asked unless an answer is delayed; `A` makes the answer to a call that fails or is
/// refused, so response and error stay the service's own. `poll_ready` asks the inner service alone.
///
/// # Cancellation
///
/// Dropping the response future drops the inner one, delayed or lost or not.
#[derive(Clone, Debug)]
pub struct ChaosLayer<Z, A, C: Clock = MonotonicClock> {
    chaos: Chaos<C>,
    sleep: Z,
    answer: A,
}

impl<Z, A> ChaosLayer<Z, A> {
    /// A layer that is off, on the operating system's clock. Its draws differ from process to process.
    pub fn new(schedule: Schedule, sleep: Z, answer: A) -> Self {
        Self::with_clock(schedule, sleep, answer, MonotonicClock::new(), entropy())
    }
}

impl<Z, A, C: Clock> ChaosLayer<Z, A, C> {
    /// A layer that is off, on a clock of yours, whose draws follow from `seed`.
    pub fn with_clock(schedule: Schedule, sleep: Z, answer: A, clock: C, seed: u32) -> Self {
        Self {
            chaos: Chaos::new(schedule, clock, seed),
            sleep,
            answer,
        }
    }

    /// Its switch. Clones of the layer, and all services it made, have the same.
    pub fn chaos(&self) -> Chaos<C> {
        self.chaos.clone()
    }
}

impl<S, Z: Clone, A: Clone, C: Clock> Layer<S> for ChaosLayer<Z, A, C> {
    type Service = ChaosService<S, Z, A, C>;

    fn layer(&self, inner: S) -> Self::Service {
        ChaosService {
            inner,
            layer: Self {
                chaos: self.chaos.clone(),
                sleep: self.sleep.clone(),
                answer: self.answer.clone(),
            },
        }
    }
}

/// A service that may be hurt, made by [`ChaosLayer`].
#[derive(Clone, Debug)]
pub struct ChaosService<S, Z, A, C: Clock = MonotonicClock> {
    inner: S,
    layer: ChaosLayer<Z, A, C>,
}

impl<S, Req, Z, A, C> Service<Req> for ChaosService<S, Z, A, C>
where
    S: Service<Req>,
    Z: Sleep + Clone,
    A: Fn(Harm) -> Result<S::Response, S::Error>,
    C: Clock,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = ChaosFuture<S::Future, S::Response, S::Error, Z>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Req) -> Self::Future {
        match self.layer.chaos.harm() {
            Some(harm @ (Harm::Failed | Harm::Refused)) => {
                ChaosFuture::answered((self.layer.answer)(harm))
            }
            harm => ChaosFuture::working(self.inner.call(request), harm, &self.layer.sleep),
        }
    }
}
