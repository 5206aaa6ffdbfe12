//! The future that waits for a slot.

use super::queue::Key;
use super::{Joined, Lane};
use crate::Permit;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use embassy_sync::blocking_mutex::raw::RawMutex;
use limiter_core::law::{Aimd, Law};
use limiter_core::{RejectReason, Rejected};

/// A future that resolves to a [`Permit`]: made by [`Limiter::acquire`](crate::Limiter::acquire). It joins the line when it is first
/// polled.
///
/// # Cancellation
///
/// Drop it at any time, after any poll. One that is neither polled nor dropped keeps its place, and a slot
/// that it was granted, from everybody.
#[must_use = "a future does nothing until it is polled"]
pub struct Acquire<'a, M: RawMutex, L: Law = Aimd, const WAITERS: usize = 8> {
    /// `None` once it was ready; after that it stays pending.
    lane: Option<Lane<'a, M, L, WAITERS>>,
    queued: Option<Key>,
}

impl<'a, M: RawMutex, L: Law, const WAITERS: usize> Acquire<'a, M, L, WAITERS> {
    pub(crate) const fn new(lane: Lane<'a, M, L, WAITERS>) -> Self {
        Self {
            lane: Some(lane),
            queued: None,
        }
    }

    /// It was ready before.
    pub(crate) const fn is_over(&self) -> bool {
        self.lane.is_none()
    }

    /// Ends the wait: with the slot if it was granted by now, else with `TimedOut`.
    pub(crate) fn give_up(&mut self) -> Result<Permit<'a, M, L, WAITERS>, Rejected> {
        let key = self.queued.take();
        let Some(lane) = self.lane.take() else {
            return Err(Rejected::new(RejectReason::TimedOut, 0, 0));
        };
        let ended = match key.and_then(|key| lane.leave(&key)) {
            Some(ended) => ended,
            None => Err(lane.refusal(RejectReason::TimedOut)),
        };
        end(lane, ended)
    }
}

fn end<M: RawMutex, L: Law, const WAITERS: usize>(
    lane: Lane<'_, M, L, WAITERS>,
    ended: Result<limiter_core::Slot, Rejected>,
) -> Result<Permit<'_, M, L, WAITERS>, Rejected> {
    match ended {
        Ok(slot) => {
            let permit = Permit::new(lane, slot);
            lane.settled(lane.core.tend(crate::clock::now()));
            Ok(permit)
        }
        Err(refused) => {
            lane.line.reporter.refused(&refused);
            Err(refused)
        }
    }
}

impl<'a, M: RawMutex, L: Law, const WAITERS: usize> Future for Acquire<'a, M, L, WAITERS> {
    type Output = Result<Permit<'a, M, L, WAITERS>, Rejected>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(lane) = self.lane else {
            return Poll::Pending;
        };
        let joined = match &self.queued {
            Some(key) => match lane.check(key, context.waker()) {
                Poll::Ready(ended) => Joined::Ended(ended),
                Poll::Pending => return Poll::Pending,
            },
            None => match lane.admit() {
                Ok(slot) => Joined::Ended(Ok(slot)),
                Err(refused) => lane.join(refused, context.waker()),
            },
        };
        match joined {
            Joined::Queued(key) => {
                self.queued = Some(key);
                Poll::Pending
            }
            Joined::Ended(ended) => {
                self.queued = None;
                self.lane = None;
                Poll::Ready(end(lane, ended))
            }
        }
    }
}

impl<M: RawMutex, L: Law, const WAITERS: usize> Drop for Acquire<'_, M, L, WAITERS> {
    fn drop(&mut self) {
        let (Some(lane), Some(key)) = (self.lane.take(), self.queued.take()) else {
            return;
        };
        if let Some(Ok(slot)) = lane.leave(&key) {
            // Granted and not taken: the next in line gets it.
            lane.release(slot);
        }
    }
}

impl<M: RawMutex, L: Law, const WAITERS: usize> fmt::Debug for Acquire<'_, M, L, WAITERS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire")
            .field("queued", &self.queued.is_some())
            .finish_non_exhaustive()
    }
}
