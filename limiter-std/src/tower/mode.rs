//! What a call does when there is no slot: fail, or wait.

use super::describe::Asked;
use super::role::Entry;
use crate::clock::Clock;
use crate::{Acquire, AcquireUntil, Limiter, Permit, RejectReason, Rejected};
use core::fmt;
use core::future::{Future, Pending};
use limiter_core::law::Law;

/// Without a slot, a call is refused at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refuse;

/// Without a slot, a call waits in the limiter's queue, for as long as its caller does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait;

/// Without a slot, a call waits in the limiter's queue until a timer, made for each call, is done.
#[derive(Clone, Copy)]
pub struct WaitUntil<T> {
    pub(crate) timer: T,
}

impl<T> fmt::Debug for WaitUntil<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitUntil").finish_non_exhaustive()
    }
}

/// A mode for inner services of type `S`. Sealed: it cannot be named from outside.
pub trait Mode<S, L: Law, C: Clock> {
    type Wait: Future<Output = Result<Permit<L, C>, Rejected>>;

    fn enter(
        &self,
        limiter: &Limiter<L, C>,
        asked: Asked,
        inner: &mut S,
    ) -> Entry<S, Self::Wait, L, C>;
}

impl<S, L: Law, C: Clock> Mode<S, L, C> for Refuse {
    type Wait = Pending<Result<Permit<L, C>, Rejected>>;

    #[inline]
    fn enter(
        &self,
        limiter: &Limiter<L, C>,
        asked: Asked,
        _: &mut S,
    ) -> Entry<S, Self::Wait, L, C> {
        Entry::Now(match asked.request {
            Some(request) => limiter.try_acquire_for(request),
            None => limiter.try_acquire(),
        })
    }
}

impl<S: Clone, L: Law, C: Clock> Mode<S, L, C> for Wait {
    type Wait = Acquire<L, C>;

    fn enter(
        &self,
        limiter: &Limiter<L, C>,
        asked: Asked,
        inner: &mut S,
    ) -> Entry<S, Self::Wait, L, C> {
        now_or_later(limiter, asked, inner, |wait| wait)
    }
}

impl<S, T, F, L, C> Mode<S, L, C> for WaitUntil<T>
where
    S: Clone,
    T: Fn() -> F,
    F: Future<Output = ()>,
    L: Law,
    C: Clock,
{
    type Wait = AcquireUntil<F, L, C>;

    fn enter(
        &self,
        limiter: &Limiter<L, C>,
        asked: Asked,
        inner: &mut S,
    ) -> Entry<S, Self::Wait, L, C> {
        now_or_later(limiter, asked, inner, |wait| wait.until((self.timer)()))
    }
}

/// A slot at once, or the wait for one; who may never get one is refused.
fn now_or_later<S: Clone, W, L: Law, C: Clock>(
    limiter: &Limiter<L, C>,
    asked: Asked,
    inner: &mut S,
    wait: impl FnOnce(Acquire<L, C>) -> W,
) -> Entry<S, W, L, C> {
    match now(limiter, asked) {
        Err(rejected) if rejected.reason != RejectReason::Closed => {
            Entry::Later(wait(later(limiter, asked)), take_ready(inner))
        }
        ended => Entry::Now(
            ended.map_err(|rejected| limiter.refused(rejected, &asked.request.unwrap_or_default())),
        ),
    }
}

fn now<L: Law, C: Clock>(limiter: &Limiter<L, C>, asked: Asked) -> Result<Permit<L, C>, Rejected> {
    match asked.request {
        Some(request) => limiter.try_now_for(request),
        None => limiter.try_now(),
    }
}

fn later<L: Law, C: Clock>(limiter: &Limiter<L, C>, asked: Asked) -> Acquire<L, C> {
    let wait = limiter.acquire_async_for(asked.request.unwrap_or_default());
    match asked.within {
        Some(time) => wait.within(time),
        None => wait,
    }
}

/// Moves the service out that was polled ready, with whatever its readiness reserved, and leaves a clone
/// that was not.
fn take_ready<S: Clone>(inner: &mut S) -> S {
    let unready = inner.clone();
    core::mem::replace(inner, unready)
}
