//! Waiting for a slot: a bounded first-in first-out queue for threads and futures alike.
//!
//! Everything about waiters happens under one lock; nothing else does. The rules that keep a waiter from
//! being stranded:
//!
//! 1. Whoever joins sets the waiting bit of the admission word *before* the last try. The bit and the
//!    slots are one word, so either the try sees a slot that came free, or whoever frees one later sees
//!    the bit and serves the queue.
//! 2. Everything that may make room serves the queue: a release that saw the bit, a limit that rose, a
//!    waiter that gave its grant back, closing. To serve is to give slots to the heads, in order, as long
//!    as there are any.
//! 3. The bit is cleared under the lock and only when nobody is queued.
//! 4. A granted slot belongs to the waiter's node, not to its wake-up: a waiter that gives up finds it
//!    there and uses it or gives it back.
//! 5. No code that is not this crate's runs under the lock: wakers are cloned before it, woken and
//!    dropped after it, the clock is read before it.

mod acquire;
mod line;
mod queue;
mod thread;
mod until;
mod wakers;

pub use acquire::Acquire;
pub(crate) use line::Line;
pub use until::AcquireUntil;

use crate::clock::Clock;
use crate::shared::Lane;
use crate::sync::{Mutex, MutexGuard};
use core::task::{Poll, Waker};
use limiter_core::law::Law;
use limiter_core::{Limiter, RejectReason, Rejected, Slot, Timestamp};
use queue::{Key, Queue, State};
use std::sync::PoisonError;
pub(crate) use thread::{block, block_until};
use wakers::Wakers;

/// The queue behind its lock, and how many it may hold.
#[derive(Debug)]
pub(crate) struct Waiters {
    queue: Mutex<Queue>,
    /// 0 where nobody may wait.
    bound: usize,
}

/// How joining the queue ended.
pub(crate) enum Joined {
    /// At once.
    Ended(Result<Slot, Rejected>),
    /// The waiter has a node now, and must take it out by [`check`] or [`leave`].
    Queued(Key),
}

impl Waiters {
    pub(crate) fn new(bound: usize) -> Self {
        Self {
            queue: Mutex::new(Queue::new()),
            bound,
        }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(crate) const fn may_wait(&self) -> bool {
        self.bound != 0
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing under the lock panics, and the queue is in order between any two steps.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Queues a waiter that was just refused for the reason in `refused`.
pub(crate) fn join<A: Lane + ?Sized>(lane: &A, refused: Rejected, waker: &Waker) -> Joined {
    let may_wait = matches!(
        refused.reason,
        RejectReason::AtLimit | RejectReason::WaitersAhead
    );
    if lane.waiters().bound == 0 || !may_wait {
        return Joined::Ended(Err(refused));
    }
    let (now, waker) = (lane.clock().now(), waker.clone());
    let mut woken = Wakers::new();
    let mut queue = lane.waiters().lock();
    if queue.len() >= lane.waiters().bound {
        drop(queue);
        return Joined::Ended(Err(Rejected::new(
            RejectReason::QueueFull,
            refused.limit,
            refused.inflight,
        )));
    }
    let key = queue.push(waker);
    lane.core().set_waiting();
    let more = grant(lane.core(), &mut queue, now, &mut woken);
    let ended = take_ended(&mut queue, &key);
    drop(queue);
    if ended.is_some() {
        // The last whose wait ended was this one, who is awake.
        drop(woken.pop());
    }
    wake(lane, woken, more);
    ended.map_or(Joined::Queued(key), Joined::Ended)
}

/// Looks whether a waiter's wait has ended, and takes its node out if it has.
pub(crate) fn check<A: Lane + ?Sized>(
    lane: &A,
    key: &Key,
    waker: &Waker,
) -> Poll<Result<Slot, Rejected>> {
    let mut waker = waker.clone();
    let mut queue = lane.waiters().lock();
    let ended = take_ended(&mut queue, key);
    if ended.is_none() {
        queue.renew(key, &mut waker);
    }
    drop(queue);
    // After the lock, like everything that is the executor's: the old waker, or the new one.
    drop(waker);
    ended.map_or(Poll::Pending, Poll::Ready)
}

/// Takes a waiter's node out, whether its wait has ended or not; if it has, returns how.
pub(crate) fn leave<A: Lane + ?Sized>(lane: &A, key: &Key) -> Option<Result<Slot, Rejected>> {
    let now = lane.clock().now();
    let mut woken = Wakers::new();
    let mut queue = lane.waiters().lock();
    let left = queue.remove(key);
    let more = grant(lane.core(), &mut queue, now, &mut woken);
    drop(queue);
    wake(lane, woken, more);
    match left {
        Some(State::Ended(ended)) => Some(ended),
        Some(State::Waiting(_)) | None => None,
    }
}

/// Gives slots to the heads of the queue as long as there are any.
#[cold]
pub(crate) fn serve<A: Lane + ?Sized>(lane: &A) {
    loop {
        let now = lane.clock().now();
        let mut woken = Wakers::new();
        let more = grant(lane.core(), &mut lane.waiters().lock(), now, &mut woken);
        woken.wake();
        if !more {
            return;
        }
    }
}

fn wake<A: Lane + ?Sized>(lane: &A, woken: Wakers, more: bool) {
    woken.wake();
    if more {
        serve(lane);
    }
}
/// Under the lock: takes a node out if its wait has ended.
fn take_ended(queue: &mut Queue, key: &Key) -> Option<Result<Slot, Rejected>> {
    if !queue.has_ended(key) {
        return None;
    }
    match queue.remove(key) {
        Some(State::Ended(ended)) => Some(ended),
        Some(State::Waiting(_)) | None => None,
    }
}

/// Under the lock: gives slots to the heads as long as there are any, or tells all of them that the
/// limiter is closed. Returns whether `woken` was full before that was done.
fn grant<L: Law>(core: &Limiter<L>, queue: &mut Queue, now: Timestamp, woken: &mut Wakers) -> bool {
    while !queue.is_empty() {
        if woken.is_full() {
            return true;
        }
        let ended = match core.admit_waiter(now) {
            Err(refused) if refused.reason != RejectReason::Closed => return false,
            ended => ended,
        };
        if let Some(waker) = queue.end_head(ended) {
            woken.push(waker);
        }
    }
    core.clear_waiting();
    false
}
