//! The future that waits for a slot.

use super::AcquireUntil;
use super::line::Line;
use crate::clock::{Clock, MonotonicClock, RATE};
use crate::permit::Permit;
use crate::shared::{Lane, Shared};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use limiter_core::Rejected;
use limiter_core::law::{Knee, Law};

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
    line: Line<Shared<L, C>>,
}

impl<L: Law, C: Clock> Acquire<L, C> {
    pub(crate) const fn new(line: Line<Shared<L, C>>) -> Self {
        Self { line }
    }

    /// The same wait, for a slot that is of no use after `timeout` from now: after that none is granted, and
    /// none is waited for if those ahead will take longer
    /// ([`WouldExpire`](limiter_core::RejectReason::WouldExpire)). Before the first poll.
    ///
    /// The queue has no timer: a wait that ends by this alone is told so when the queue next moves. For one
    /// that ends on time add [`until`](Acquire::until) with the runtime's timer.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { pollster::block_on(async {
    /// use core::time::Duration;
    /// use limiter_std::{Limiter, Priority, Request};
    ///
    /// # let sleep = |_: Duration| core::future::pending::<()>();
    /// let limiter = Limiter::default();
    /// let report = Request::new().priority(Priority::Batch);
    /// let second = Duration::from_secs(1);
    /// let permit = limiter
    ///     .acquire_async_for(report)
    ///     .within(second)
    ///     .until(sleep(second))
    ///     .await?;
    /// # drop(permit);
    /// # Ok(()) }) }
    /// ```
    pub fn within(mut self, timeout: Duration) -> Self {
        if let Some(shared) = self.line.lane() {
            let deadline = shared.clock().now().after(RATE.ticks(timeout));
            self.line = self.line.by(deadline);
        }
        self
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
        self.line.is_over()
    }

    /// Ends the wait: with the slot if it was granted by now, else with
    /// [`TimedOut`](limiter_core::RejectReason::TimedOut).
    pub(crate) fn give_up(&mut self) -> Result<Permit<L, C>, Rejected> {
        let (shared, slot) = self.line.give_up()?;
        Ok(Permit::new(shared, slot))
    }
}

impl<L: Law, C: Clock> Future for Acquire<L, C> {
    type Output = Result<Permit<L, C>, Rejected>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.line
            .poll(context.waker())
            .map_ok(|(shared, slot)| Permit::new(shared, slot))
    }
}

impl<L: Law, C: Clock> fmt::Debug for Acquire<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire")
            .field("queued", &self.line.is_queued())
            .finish_non_exhaustive()
    }
}
