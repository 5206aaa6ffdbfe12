//! The future that waits for a slot no longer than a given time.

use super::Acquire;
use crate::Permit;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use embassy_sync::blocking_mutex::raw::RawMutex;
use embassy_time::{Duration, Instant, Timer};
use limiter_core::Rejected;
use limiter_core::law::{Aimd, Law};

/// A future that resolves to a [`Permit`], or to a refusal when its time is up first: made by
/// [`Limiter::acquire_timeout`](crate::Limiter::acquire_timeout).
///
/// # Cancellation
///
/// As that of [`Acquire`].
#[must_use = "a future does nothing until it is polled"]
pub struct AcquireTimeout<'a, M: RawMutex, L: Law = Aimd, const WAITERS: usize = 8> {
    acquire: Acquire<'a, M, L, WAITERS>,
    deadline: Instant,
    timer: Timer,
}

impl<'a, M: RawMutex, L: Law, const WAITERS: usize> AcquireTimeout<'a, M, L, WAITERS> {
    pub(crate) fn new(acquire: Acquire<'a, M, L, WAITERS>, timeout: Duration) -> Self {
        // Not `Timer::after`, which panics when the sum does not fit.
        let ticks = Instant::now().as_ticks();
        let deadline = Instant::from_ticks(ticks.saturating_add(timeout.as_ticks()));
        Self {
            acquire,
            deadline,
            timer: Timer::at(deadline),
        }
    }
}

impl<'a, M: RawMutex, L: Law, const WAITERS: usize> Future for AcquireTimeout<'a, M, L, WAITERS> {
    type Output = Result<Permit<'a, M, L, WAITERS>, Rejected>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Poll::Ready(ended) = Pin::new(&mut this.acquire).poll(context) {
            return Poll::Ready(ended);
        }
        if this.acquire.is_over() {
            return Poll::Pending;
        }
        // The timer yields once even when its time has come.
        let late = Instant::now() >= this.deadline;
        if late || Pin::new(&mut this.timer).poll(context).is_ready() {
            return Poll::Ready(this.acquire.give_up());
        }
        Poll::Pending
    }
}

impl<M: RawMutex, L: Law, const WAITERS: usize> fmt::Debug for AcquireTimeout<'_, M, L, WAITERS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcquireTimeout")
            .field("acquire", &self.acquire)
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
