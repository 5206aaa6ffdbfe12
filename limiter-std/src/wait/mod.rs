//! Waiting for a slot: a bounded queue for threads and futures alike.
//!
//! Everything about waiters happens under one lock; nothing else does. The rules that keep a waiter from
//! being stranded:
//!
//! 1. Whoever joins sets the waiting bit of the admission word *before* the last try. The bit and the
//!    slots are one word, so either the try sees a slot that came free, or whoever frees one later sees
//!    the bit and serves the queue.
//! 2. Everything that may make room serves the queue: a release that saw the bit, a limit that rose, shares
//!    that changed, a waiter that gave its grant back or left, closing. To serve is to give slots to those
//!    whose turn it is as long as there are any.
//! 3. The bit is cleared under the lock and only when nobody is queued.
//! 4. Granted slots belong to the waiter's node, not to its wake-up: a waiter that gives up finds them
//!    there and uses them or gives them back.
//! 5. No code that is not this crate's runs under the lock: wakers are cloned before it, woken and
//!    dropped after it, the clock is read before it.
//!
//! Whose turn it is: the highest class first. In a class the oldest, or the newest while the delay stands
//! ([`standing`]). Nobody passes the one whose turn it is, also not a lighter one that would fit: a heavy
//! one would never be served. One whose time is over is never given a slot, one whose time will be over
//! ([`pace`]) is not let into the queue, and one whose caller came to have more than its share is refused.
//!
//! With partitions that is the turn at what is for everybody. Slots of a partition's own are for the first of
//! those who wait of that partition, whoever waits elsewhere: nobody else could have them.

mod acquire;
mod grant;
mod line;
mod pace;
mod queue;
mod settings;
mod snapshot;
mod standing;
mod thread;
mod until;
mod wakers;

pub use acquire::Acquire;
pub(crate) use line::Line;
pub(crate) use settings::Settings;
pub use snapshot::QueueSnapshot;
pub(crate) use standing::{Allowed, DEFAULT_INTERVAL, DEFAULT_TARGET};
pub use until::AcquireUntil;

use crate::clock::{Clock, RATE};
use crate::request::Request;
use crate::shared::Lane;
use crate::sync::{AtomicU32, Mutex, MutexGuard, Ordering};
use crate::telemetry::PRESSURE;
use core::task::{Poll, Waker};
use grant::{announce, grant};
use limiter_core::{Forecast, Priority, RejectReason, Rejected, Seat, Ticks, Timestamp};
use queue::{Key, Queue, State, Waiter};
use std::sync::PoisonError;
pub(crate) use thread::block;
use wakers::Wakers;

/// How a wait ended: with slots, or without where the limiter only watches, or why there are none.
pub(crate) type Ended = Result<Option<Seat>, Rejected>;

/// The queue behind its lock, and what it goes by.
#[derive(Debug)]
pub(crate) struct Waiters {
    queue: Mutex<Queue>,
    /// How many it may hold, outside the lock: where nobody may wait a refusal takes none.
    length: AtomicU32,
}

/// What somebody who waits says of itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) request: Request,
    /// A slot after it is of no use. `None` while the queue's longest wait is all that bounds it.
    pub(crate) deadline: Option<Timestamp>,
}

/// How joining the queue ended.
pub(crate) enum Joined {
    /// At once.
    Ended(Ended),
    /// The waiter has a node now, and must take it out by [`check`] or [`leave`]; it gives up by then.
    Queued(Key, Option<Timestamp>),
}

impl Waiters {
    /// For requests of so many partitions and of none.
    pub(crate) fn new(settings: Settings, partitions: usize) -> Self {
        Self {
            queue: Mutex::new(Queue::new(settings, partitions)),
            length: AtomicU32::new(settings.length),
        }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// How many of a partition wait.
    pub(crate) fn of_partition(&self, index: usize) -> usize {
        self.lock().waiting_of(index)
    }

    /// Whether one that was refused for this reason may wait here.
    pub(crate) fn takes(&self, refused: Rejected) -> bool {
        may_come(refused) && self.length() != 0
    }

    /// Goes by other settings from now on. Who waits stays, also in a queue that is longer than allowed.
    pub(crate) fn set(&self, settings: Settings) {
        let mut queue = self.lock();
        queue.settings = settings;
        self.length.store(settings.length, Ordering::Relaxed);
    }

    /// How many of a class wait, for how long the oldest does, and whether the newest go first.
    pub(crate) fn class(&self, class: Priority, now: Timestamp) -> (usize, Ticks, bool) {
        let queue = self.lock();
        let oldest = queue.oldest(class, now);
        (queue.waiting(class), oldest, queue.stands(class))
    }

    fn length(&self) -> u32 {
        // Relaxed: the queue itself has a copy under the lock.
        self.length.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing under the lock panics, and the queue is in order between any two steps.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Queues a waiter that was just refused for the reason in `refused`.
pub(crate) fn join<A: Lane + ?Sized>(
    lane: &A,
    refused: Rejected,
    wish: Wish,
    waker: &Waker,
) -> Joined {
    if !lane.waiters().takes(refused) {
        return Joined::Ended(Err(refused));
    }
    let (now, waker) = (lane.clock().now(), waker.clone());
    let mut woken = Wakers::new();
    let mut queue = lane.waiters().lock();
    let waiter = Waiter {
        request: wish.request,
        since: now,
        deadline: queue.deadline(wish.deadline, now),
    };
    if let Err(reason) = make_place(&mut queue, waiter, refused, &mut woken) {
        return Joined::Ended(Err(refused.because(reason)));
    }
    let key = queue.push(waiter, waker);
    announce(lane.way(), &mut queue, &wish.request);
    let more = grant(lane, &mut queue, now, &mut woken, Some(&key));
    let ended = take_ended(&mut queue, &key);
    drop(queue);
    wake(lane, woken, more);
    if ended.is_none() {
        lane.alarm().call(PRESSURE);
    }
    ended.map_or(Joined::Queued(key, waiter.deadline), Joined::Ended)
}

/// Looks whether a waiter's wait has ended, and takes its node out if it has.
pub(crate) fn check<A: Lane + ?Sized>(lane: &A, key: &Key, waker: &Waker) -> Poll<Ended> {
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
pub(crate) fn leave<A: Lane + ?Sized>(lane: &A, key: &Key) -> Option<Ended> {
    let now = lane.clock().now();
    let mut woken = Wakers::new();
    let mut queue = lane.waiters().lock();
    let left = queue.remove(key);
    let more = grant(lane, &mut queue, now, &mut woken, None);
    drop(queue);
    wake(lane, woken, more);
    left.and_then(State::ended)
}

/// Gives slots to those whose turn it is as long as there are any.
#[cold]
pub(crate) fn serve<A: Lane + ?Sized>(lane: &A) {
    loop {
        let now = lane.clock().now();
        let mut woken = Wakers::new();
        let more = grant(lane, &mut lane.waiters().lock(), now, &mut woken, None);
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

/// Under the lock: makes sure that `waiter` may join, or says why not.
///
/// When the queue is full, one whose time is over makes place; else one of a lower class, who would be
/// served last, or of another partition that has more in the queue. Nobody makes place for its own class and
/// partition.
fn make_place(
    queue: &mut Queue,
    waiter: Waiter,
    refused: Rejected,
    woken: &mut Wakers,
) -> Result<(), RejectReason> {
    let (request, now) = (&waiter.request, waiter.since);
    if let (Some(deadline), Some(wait)) = (waiter.deadline, queue.forecast(request, now)) {
        let left = deadline.since(now).unwrap_or_default();
        if wait.get() > left.get() {
            let forecast = Forecast::new(RATE.duration(wait), RATE.duration(left));
            return Err(RejectReason::WouldExpire(forecast));
        }
    }
    let bound = queue.settings.length as usize;
    if queue.len() != bound {
        // Above a bound that was lowered nobody makes place: one place would not be enough.
        return if queue.len() < bound {
            Ok(())
        } else {
            Err(RejectReason::QueueFull)
        };
    }
    let first = queue.first().map(|(place, _)| place);
    let made = if let Some(late) = queue.late(first, now) {
        queue.end(late, Err(refused.because(RejectReason::TimedOut)), now)
    } else {
        let place = queue.evictable(request).ok_or(RejectReason::QueueFull)?;
        queue.end(place, Err(refused.because(RejectReason::QueueFull)), now)
    };
    if let Some(waker) = made {
        woken.push(waker);
    }
    Ok(())
}

/// Under the lock: takes a node out if its wait has ended.
fn take_ended(queue: &mut Queue, key: &Key) -> Option<Ended> {
    if !queue.has_ended(key) {
        return None;
    }
    queue.remove(key).and_then(State::ended)
}

/// Whether one who was refused may be let in later: neither closed, nor too heavy for ever.
pub(crate) fn may_come(refused: Rejected) -> bool {
    matches!(
        refused.reason,
        RejectReason::AtLimit
            | RejectReason::TooFewFree(_)
            | RejectReason::PartitionFull { .. }
            | RejectReason::ShareTaken
            | RejectReason::WaitersAhead
    )
}

/// That the time of a waiter is over.
pub(crate) fn timed_out<A: Lane + ?Sized>(lane: &A) -> Rejected {
    lane.refusal(RejectReason::TimedOut)
}
