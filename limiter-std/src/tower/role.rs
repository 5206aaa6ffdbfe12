//! What the layers differ in: how they take a slot, and what they do before, after and instead of the
//! inner service.

use crate::clock::Clock;
use crate::{Limiter, Permit, Rejected};
use core::future::Future;
use limiter_core::law::Law;
use tower_service::Service;

/// A layer as its service sees it. Sealed: it cannot be named from outside.
pub trait Role<S: Service<Req>, Req> {
    type Law: Law;
    type Clock: Clock;
    /// What is kept while the inner service runs.
    type Guard: Guard<S::Response, S::Error>;
    /// The wait for a slot.
    type Wait: Future<Output = Result<Permit<Self::Law, Self::Clock>, Rejected>>;

    fn limiter(&self) -> &Limiter<Self::Law, Self::Clock>;

    /// Whether a request is worth a slot at all; asked before one is taken.
    fn welcome(&self, request: &mut Req) -> Result<(), Rejected> {
        let _ = request;
        Ok(())
    }

    /// Whether it is still, after it waited for its slot.
    fn is_wanted(&self, request: &Req) -> Result<(), Rejected> {
        let _ = request;
        Ok(())
    }

    /// Takes a slot for a call of `inner`, or moves `inner` out, ready as it is, to wait for one.
    fn enter(&self, request: &Req, inner: &mut S) -> Entry<S, Self::Wait, Self::Law, Self::Clock>;

    /// The slot is taken, the inner service is about to be called.
    fn begin(&self, permit: Permit<Self::Law, Self::Clock>, request: &mut Req) -> Self::Guard;

    /// The answer in place of the inner service's.
    fn refuse(&self, rejected: Rejected, request: Req) -> Answer<Self, S, Req>;

    /// What readiness fails with when the limiter is closed; `None` to let `call` answer.
    fn closed(&self, rejected: Rejected) -> Option<Failed<Self, S, Req>>;
}

/// What holds a slot while the inner service runs. Dropping it is a cancellation.
pub trait Guard<T, E> {
    type Response;
    type Error;

    /// The inner service answered.
    fn end(self, result: Result<T, E>) -> Result<Self::Response, Self::Error>;

    /// The inner service is not ready and never will be.
    fn error(error: E) -> Self::Error;

    /// The inner service panicked: frees the slot and teaches nothing.
    fn abandon(self);
}

type GuardOf<Y, S, Req> = <Y as Role<S, Req>>::Guard;
type Response<S, Req> = <S as Service<Req>>::Response;
type Error<S, Req> = <S as Service<Req>>::Error;
pub(crate) type Done<Y, S, Req> =
    <GuardOf<Y, S, Req> as Guard<Response<S, Req>, Error<S, Req>>>::Response;
pub(crate) type Failed<Y, S, Req> =
    <GuardOf<Y, S, Req> as Guard<Response<S, Req>, Error<S, Req>>>::Error;
pub(crate) type Answer<Y, S, Req> = Result<Done<Y, S, Req>, Failed<Y, S, Req>>;

/// How a call takes its slot.
#[derive(Debug)]
pub enum Entry<S, W, L: Law, C: Clock> {
    /// At once or not at all.
    Now(Result<Permit<L, C>, Rejected>),
    /// By waiting, with the inner service that was ready for this call.
    Later(W, S),
}

/// Runs code of the inner service. If it panics, the guard is taken out and abandoned.
pub(super) fn run<G: Guard<T, E>, T, E, R>(guard: &mut Option<G>, work: impl FnOnce() -> R) -> R {
    let on_panic = OnPanic {
        guard,
        abandon: G::abandon,
    };
    let done = work();
    core::mem::forget(on_panic);
    done
}

struct OnPanic<'a, G> {
    guard: &'a mut Option<G>,
    abandon: fn(G),
}

impl<G> Drop for OnPanic<'_, G> {
    fn drop(&mut self) {
        if let Some(guard) = self.guard.take() {
            (self.abandon)(guard);
        }
    }
}
