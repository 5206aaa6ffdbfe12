//! A place in the line, whoever's line it is.

use super::queue::Key;
use super::{Joined, Wish, check, join, leave, timed_out};
use crate::request::Request;
use crate::shared::Lane;
use core::task::{Poll, Waker};
use limiter_core::{RejectReason, Rejected, Seat, Timestamp};
use std::sync::Arc;

/// A slot that was granted, and the way back to where it is from; none where a limiter only watches.
pub(crate) type Granted<A> = (Arc<A>, Option<Seat>);

/// Waits for a slot of `A`. It joins the line when it is first polled; dropping it leaves the line, and a
/// slot that was granted and not taken goes to the next.
#[derive(Debug)]
pub(crate) struct Line<A: Lane> {
    /// `None` once it was ready; after that it stays pending.
    lane: Option<Arc<A>>,
    wish: Wish,
    queued: Option<Key>,
}

impl<A: Lane> Line<A> {
    pub(crate) const fn new(lane: Arc<A>, request: Request) -> Self {
        Self {
            lane: Some(lane),
            wish: Wish {
                request,
                deadline: None,
            },
            queued: None,
        }
    }

    /// The same wait, for slots that are of no use after `deadline`.
    pub(crate) const fn by(mut self, deadline: Timestamp) -> Self {
        self.wish.deadline = Some(deadline);
        self
    }

    /// Until when it waits, once it is queued.
    pub(crate) const fn deadline(&self) -> Option<Timestamp> {
        self.wish.deadline
    }

    pub(crate) const fn lane(&self) -> Option<&Arc<A>> {
        self.lane.as_ref()
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.lane.is_none()
    }

    pub(crate) const fn is_queued(&self) -> bool {
        self.queued.is_some()
    }

    pub(crate) fn poll(&mut self, waker: &Waker) -> Poll<Result<Granted<A>, Rejected>> {
        let Some(lane) = &self.lane else {
            return Poll::Pending;
        };
        // The executor's wakers may panic in here: until the wait has ended, nothing is taken apart.
        let joined = match &self.queued {
            Some(key) => match check(&**lane, key, waker) {
                Poll::Ready(ended) => Joined::Ended(ended),
                Poll::Pending => return Poll::Pending,
            },
            None => match lane.admit_for(&self.wish.request) {
                Ok(slot) => Joined::Ended(Ok(slot)),
                Err(refused) => join(&**lane, refused, self.wish, waker),
            },
        };
        match joined {
            Joined::Queued(key, deadline) => {
                self.queued = Some(key);
                self.wish.deadline = deadline;
                Poll::Pending
            }
            Joined::Ended(ended) => {
                self.queued = None;
                let (lane, request) = (self.lane.take(), &self.wish.request);
                lane.map_or(Poll::Pending, |lane| {
                    Poll::Ready(match ended {
                        Ok(slot) => Ok((lane, slot)),
                        Err(refused) => Err(lane.refused(refused, request)),
                    })
                })
            }
        }
    }

    /// Ends the wait: with the slot if it was granted by now.
    pub(crate) fn give_up(&mut self) -> Result<Granted<A>, Rejected> {
        let key = self.queued.take();
        let Some(lane) = self.lane.take() else {
            return Err(Rejected::new(RejectReason::TimedOut, 0, 0));
        };
        match key.and_then(|key| leave(&*lane, &key)) {
            Some(Ok(slot)) => Ok((lane, slot)),
            Some(Err(refused)) => Err(lane.refused(refused, &self.wish.request)),
            None => Err(lane.refused(timed_out(&*lane), &self.wish.request)),
        }
    }
}

impl<A: Lane> Drop for Line<A> {
    fn drop(&mut self) {
        let (Some(lane), Some(key)) = (self.lane.take(), self.queued.take()) else {
            return;
        };
        if let Some(Ok(mut slot)) = leave(&*lane, &key) {
            // Granted and not taken: the next waiter gets it.
            lane.release(&mut slot);
        }
    }
}
