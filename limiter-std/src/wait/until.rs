//! The future that waits for a slot no longer than another future.

use super::Acquire;
use crate::clock::{Clock, MonotonicClock};
use crate::permit::Permit;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use limiter_core::Rejected;
use limiter_core::law::{Knee, Law};
use pin_project_lite::pin_project;

pin_project! {
    /// A future that resolves to a [`Permit`], or to a refusal when its timer is done first: made by
    /// [`Limiter::acquire_until`](crate::Limiter::acquire_until).
    ///
    /// When both come together the permit wins.
    ///
    /// # Cancellation
    ///
    /// As that of [`Acquire`].
    #[must_use = "a future does nothing until it is polled"]
    pub struct AcquireUntil<T, L: Law = Knee, C: Clock = MonotonicClock> {
        acquire: Acquire<L, C>,
        #[pin]
        timer: T,
    }
}

impl<T, L: Law, C: Clock> AcquireUntil<T, L, C> {
    pub(crate) fn new(acquire: Acquire<L, C>, timer: T) -> Self {
        Self { acquire, timer }
    }
}

impl<T: Future<Output = ()>, L: Law, C: Clock> Future for AcquireUntil<T, L, C> {
    type Output = Result<Permit<L, C>, Rejected>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(ended) = Pin::new(&mut *this.acquire).poll(context) {
            return Poll::Ready(ended);
        }
        if this.acquire.is_over() {
            return Poll::Pending;
        }
        match this.timer.poll(context) {
            Poll::Ready(()) => Poll::Ready(this.acquire.give_up()),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T, L: Law, C: Clock> fmt::Debug for AcquireUntil<T, L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcquireUntil")
            .field("acquire", &self.acquire)
            .finish_non_exhaustive()
    }
}
