//! The layer for any service.

use super::mode::{Mode, Refuse, Wait, WaitUntil};
use super::role::{Answer, Entry, Guard, Role};
use super::{Alike, Asked, Classify, Describe, Error, LimiterService, OkOrErr};
use crate::clock::{Clock, MonotonicClock};
use crate::{Limiter, Permit, Rejected};
use core::fmt;
use core::future::Future;
use limiter_core::law::{Knee, Law};
use tower_layer::Layer;
use tower_service::Service;

/// Puts services under a limit.
///
/// See the [module](super) for what it does and when.
///
/// `K` classifies results, `M` says what a call without a slot does ([`Refuse`] or [`Wait`]), `L` and `C`
/// are the limiter's, `D` says what a call is.
pub struct LimiterLayer<
    K = OkOrErr,
    M = Refuse,
    L: Law = Knee,
    C: Clock = MonotonicClock,
    D = Alike,
> {
    limiter: Limiter<L, C>,
    classify: K,
    mode: M,
    describe: D,
}

impl<L: Law, C: Clock> LimiterLayer<OkOrErr, Refuse, L, C> {
    /// A layer that refuses what is beyond the limit, and takes `Ok` for a success and `Err` for a failure.
    pub const fn new(limiter: Limiter<L, C>) -> Self {
        Self {
            limiter,
            classify: OkOrErr,
            mode: Refuse,
            describe: Alike,
        }
    }
}

impl<K, M, L: Law, C: Clock, D> LimiterLayer<K, M, L, C, D> {
    /// Classifies results by `classify`, which is cloned for each call.
    pub fn classify<K2>(self, classify: K2) -> LimiterLayer<K2, M, L, C, D> {
        LimiterLayer {
            limiter: self.limiter,
            classify,
            mode: self.mode,
            describe: self.describe,
        }
    }

    /// Says by `describe` what each call is: its priority, its weight, its partition, its caller. See
    /// [`Describe`]; it is cloned with the service.
    pub fn describe<D2>(self, describe: D2) -> LimiterLayer<K, M, L, C, D2> {
        LimiterLayer {
            limiter: self.limiter,
            classify: self.classify,
            mode: self.mode,
            describe,
        }
    }

    /// Lets calls wait in the limiter's queue when there is no slot, for as long as their callers do.
    ///
    /// The inner service must be `Clone`: the one that was polled ready waits with the call.
    ///
    /// Where one limiter is applied twice, one call takes two slots; a call that waits for its second slot
    /// holds its first, and calls can wait for each other. Do not do this, or do not wait.
    ///
    /// # Errors
    ///
    /// Calls fail with [`QueueFull`](crate::RejectReason::QueueFull) when as many wait as the queue holds.
    ///
    /// # Fairness
    ///
    /// First come, first served, in the order in which the response futures are first polled.
    pub fn wait(self) -> LimiterLayer<K, Wait, L, C, D> {
        LimiterLayer {
            limiter: self.limiter,
            classify: self.classify,
            mode: Wait,
            describe: self.describe,
        }
    }

    /// As [`wait`](Self::wait), each call until its timer is done: any future, usually a sleep.
    ///
    /// ```
    /// use limiter_std::Limiter;
    /// use limiter_std::tower::LimiterLayer;
    /// use std::time::Duration;
    ///
    /// let layer = LimiterLayer::new(Limiter::default())
    ///     .wait_until(|| tokio::time::sleep(Duration::from_millis(50)));
    /// # let _ = layer;
    /// ```
    ///
    /// # Errors
    ///
    /// Calls also fail with [`TimedOut`](crate::RejectReason::TimedOut).
    pub fn wait_until<T, F>(self, timer: T) -> LimiterLayer<K, WaitUntil<T>, L, C, D>
    where
        T: Fn() -> F,
        F: Future<Output = ()>,
    {
        LimiterLayer {
            limiter: self.limiter,
            classify: self.classify,
            mode: WaitUntil { timer },
            describe: self.describe,
        }
    }

    /// The limiter.
    pub const fn limiter(&self) -> &Limiter<L, C> {
        &self.limiter
    }
}

impl<S, K: Clone, M: Clone, L: Law, C: Clock, D: Clone> Layer<S> for LimiterLayer<K, M, L, C, D> {
    type Service = LimiterService<S, Self>;

    fn layer(&self, inner: S) -> Self::Service {
        LimiterService::new(inner, self.clone())
    }
}

impl<S, Req, K, M, L, C, D> Role<S, Req> for LimiterLayer<K, M, L, C, D>
where
    S: Service<Req>,
    K: Classify<S::Response, S::Error> + Clone,
    M: Mode<S, L, C>,
    L: Law,
    C: Clock,
    D: Describe<Req>,
{
    type Law = L;
    type Clock = C;
    type Guard = Running<K, L, C>;
    type Wait = M::Wait;

    fn limiter(&self) -> &Limiter<L, C> {
        &self.limiter
    }

    fn enter(&self, request: &Req, inner: &mut S) -> Entry<S, M::Wait, L, C> {
        let asked = Asked::of(&self.describe, request);
        self.mode.enter(&self.limiter, asked, inner)
    }

    fn begin(&self, permit: Permit<L, C>, _: &mut Req) -> Self::Guard {
        Running {
            permit,
            classify: self.classify.clone(),
        }
    }

    fn refuse(&self, rejected: Rejected, _: Req) -> Answer<Self, S, Req> {
        Err(Error::Rejected(rejected))
    }

    fn closed(&self, rejected: Rejected) -> Option<Error<S::Error>> {
        Some(Error::Rejected(rejected))
    }
}

/// A permit and what will be made of the result.
#[derive(Debug)]
pub struct Running<K, L: Law, C: Clock> {
    permit: Permit<L, C>,
    classify: K,
}

impl<T, E, K: Classify<T, E>, L: Law, C: Clock> Guard<T, E> for Running<K, L, C> {
    type Response = T;
    type Error = Error<E>;

    fn end(self, result: Result<T, E>) -> Result<T, Error<E>> {
        let outcome = self.classify.classify(result.as_ref());
        self.permit.finish(outcome);
        result.map_err(Error::Inner)
    }

    fn error(error: E) -> Error<E> {
        Error::Inner(error)
    }

    fn abandon(self) {
        self.permit.forget();
    }
}

impl<K: Clone, M: Clone, L: Law, C: Clock, D: Clone> Clone for LimiterLayer<K, M, L, C, D> {
    fn clone(&self) -> Self {
        Self {
            limiter: self.limiter.clone(),
            classify: self.classify.clone(),
            mode: self.mode.clone(),
            describe: self.describe.clone(),
        }
    }
}

impl<K, M: fmt::Debug, L: Law, C: Clock, D> fmt::Debug for LimiterLayer<K, M, L, C, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimiterLayer")
            .field("limiter", &self.limiter)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}
