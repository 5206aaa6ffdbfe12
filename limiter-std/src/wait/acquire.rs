//! The future that waits for a slot.

use super::queue::Key;
use super::{AcquireUntil, Joined};
use crate::clock::{Clock, MonotonicClock};
use crate::permit::Permit;
use crate::shared::Shared;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use limiter_core::law::{Knee, Law};
use limiter_core::{RejectReason, Rejected};
use std::sync::Arc;

/// A future that resolves to a [`Permit`]: made by
/// [`Limiter::acquire_async`](crate::Limiter::acquire_async).
///
/// Needs no particular runtime. It joins the queue when it is first polled.
///
/// # Cancellation
///
/// Drop it at any time, after any poll: it leaves the queue, and a slot that it was granted but had not
/// taken yet goes to the next waiter.
///
/// A future that was granted a slot and is neither polled nor dropped keeps that slot from everybody:
/// do not hold it aside while waiting for something that needs a slot of the same limiter.
#[must_use = "a future does nothing until it is polled"]
pub struct Acquire<L: Law = Knee, C: Clock = MonotonicClock> {
    /// `None` once it was ready; after that it stays pending.
    shared: Option<Arc<Shared<L, C>>>,
    queued: Option<Key>,
}

impl<L: Law, C: Clock> Acquire<L, C> {
    pub(crate) fn new(shared: Arc<Shared<L, C>>) -> Self {
        Self {
            shared: Some(shared),
            queued: None,
        }
    }

    /// The same wait, ended by `timer` at the latest.
    ///
    /// `timer` is any future: a runtime's sleep, or a signal to stop. See
    /// [`Limiter::acquire_until`](crate::Limiter::acquire_until).
    pub fn until<T: Future<Output = ()>>(self, timer: T) -> AcquireUntil<T, L, C> {
        AcquireUntil::new(self, timer)
    }

    /// It was ready before.
    pub(crate) const fn is_over(&self) -> bool {
        self.shared.is_none()
    }

    /// Ends the wait: with the slot if it was granted by now, else with
    /// [`TimedOut`](RejectReason::TimedOut).
    pub(crate) fn give_up(&mut self) -> Result<Permit<L, C>, Rejected> {
        let key = self.queued.take();
        let Some(shared) = self.shared.take() else {
            return Err(Rejected::new(RejectReason::TimedOut, 0, 0));
        };
        match key.and_then(|key| shared.leave(&key)) {
            Some(Ok(slot)) => Ok(Permit::new(shared, slot)),
            Some(Err(refused)) => Err(refused),
            None => {
                let seen = shared.core.snapshot();
                Err(Rejected::new(
                    RejectReason::TimedOut,
                    seen.limit,
                    seen.inflight,
                ))
            }
        }
    }
}

impl<L: Law, C: Clock> Future for Acquire<L, C> {
    type Output = Result<Permit<L, C>, Rejected>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(shared) = &self.shared else {
            return Poll::Pending;
        };
        // The executor's wakers may panic in here: until the wait has ended, nothing is taken apart.
        let joined = match &self.queued {
            Some(key) => match shared.check(key, context.waker()) {
                Poll::Ready(ended) => Joined::Ended(ended),
                Poll::Pending => return Poll::Pending,
            },
            None => match shared.admit() {
                Ok(slot) => Joined::Ended(Ok(slot)),
                Err(refused) => shared.join(refused, context.waker()),
            },
        };
        match joined {
            Joined::Queued(key) => {
                self.queued = Some(key);
                Poll::Pending
            }
            Joined::Ended(ended) => {
                self.queued = None;
                let shared = self.shared.take();
                shared.map_or(Poll::Pending, |shared| {
                    Poll::Ready(ended.map(|slot| Permit::new(shared, slot)))
                })
            }
        }
    }
}

impl<L: Law, C: Clock> Drop for Acquire<L, C> {
    fn drop(&mut self) {
        let (Some(shared), Some(key)) = (self.shared.take(), self.queued.take()) else {
            return;
        };
        if let Some(Ok(slot)) = shared.leave(&key) {
            // Granted and not taken: the next waiter gets it.
            shared.release(slot);
        }
    }
}

impl<L: Law, C: Clock> fmt::Debug for Acquire<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire")
            .field("queued", &self.queued.is_some())
            .finish_non_exhaustive()
    }
}
