//! Waiting for a slot: a bounded first-in first-out line of tasks.
//!
//! The rules that keep a waiter from being stranded are those of the adapter for servers:
//!
//! 1. Whoever joins an empty line sets the waiting bit of the admission word before the last try. The bit
//!    and the slots are one word, so either the try sees a slot that came free, or whoever frees one sees
//!    the bit.
//! 2. Everything that may make room serves the line: a release that saw the bit, a limit that rose, a
//!    waiter that gave its grant back, closing.
//! 3. The bit is cleared under the lock and only when the line is empty.
//! 4. A granted slot belongs to the waiter's node, not to its wake-up.
//! 5. Under the lock runs no code but this crate's and the core's: wakers are cloned before it, called and
//!    dropped after it, the clock is read before it.
//!
//! And one for interrupts: under the lock there is no loop. Each step serves one waiter; serving eight
//! takes the lock eight times, so that no interrupt is held off longer than one step.

mod acquire;
mod queue;
mod timeout;

pub use acquire::Acquire;
pub use timeout::AcquireTimeout;

use crate::clock::now;
use crate::report::Reporter;
use core::task::{Poll, Waker};
use embassy_sync::blocking_mutex::Mutex;
use embassy_sync::blocking_mutex::raw::RawMutex;
use limiter_core::law::Law;
use limiter_core::{Change, Outcome, RejectReason, Rejected, Settled, Slot, Timestamp};
use queue::{Key, Queue, State};

/// The line behind its lock, and what is written about those it refuses.
pub(crate) struct Line<M: RawMutex, const N: usize> {
    queue: Mutex<M, Queue<N>>,
    pub(crate) reporter: Reporter,
}

/// A limiter of the core and the line in front of it: what futures and permits lead to.
pub(crate) struct Lane<'a, M: RawMutex, L: Law, const N: usize> {
    pub(crate) core: &'a limiter_core::Limiter<L>,
    pub(crate) line: &'a Line<M, N>,
}

impl<M: RawMutex, L: Law, const N: usize> Clone for Lane<'_, M, L, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: RawMutex, L: Law, const N: usize> Copy for Lane<'_, M, L, N> {}

/// How joining the line ended.
pub(crate) enum Joined {
    /// At once.
    Ended(Result<Slot, Rejected>),
    /// The waiter has a node now, and must take it out by `check` or `leave`.
    Queued(Key),
}

/// What one step under the lock left to do.
struct Step {
    wake: Option<Waker>,
    /// Another waiter can be served.
    more: bool,
}

impl<M: RawMutex, const N: usize> Line<M, N> {
    pub(crate) const fn new() -> Self {
        Self {
            queue: Mutex::new(Queue::new()),
            reporter: Reporter::new(),
        }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.queue.lock(|queue| queue.len())
    }
}

impl<M: RawMutex, L: Law, const N: usize> Lane<'_, M, L, N> {
    /// Takes a slot and closes a window that an interrupt handler or a dropped permit left due.
    pub(crate) fn admit(self) -> Result<Slot, Rejected> {
        let mut read = None;
        let slot = self.core.admit_with(|| *read.insert(now()))?;
        // Where not all are timed, one that is comes soon.
        if let Some(now) = read {
            self.settled(self.core.tend(now));
            self.line.reporter.admitted(now);
        }
        Ok(slot)
    }

    pub(crate) fn settle(self, slot: Slot, outcome: Outcome) {
        self.settled(self.core.settle(slot, outcome, now()));
    }

    /// Records and frees without running a law: in interrupt handlers and destructors.
    pub(crate) fn settle_without_law(self, slot: Slot, outcome: Outcome) {
        if self.core.settle_from_isr(slot, outcome, now()).wake() {
            self.serve();
        }
    }

    pub(crate) fn release(self, slot: Slot) {
        self.settled(self.core.release(slot));
    }

    /// Does what follows from what the core did.
    pub(crate) fn settled(self, settled: Settled) {
        self.follow(settled.change(), settled.wake());
    }

    pub(crate) fn follow(self, change: Option<Change>, wake: bool) {
        if let Some(change) = &change {
            self.line.reporter.changed(change);
        }
        // Another limit may have made room although nothing was released.
        if wake || change.is_some() {
            self.serve();
        }
    }

    /// Puts a waiter that was just refused for the reason in `refused` into the line.
    pub(crate) fn join(self, refused: Rejected, waker: &Waker) -> Joined {
        let may_wait = matches!(
            refused.reason,
            RejectReason::AtLimit | RejectReason::WaitersAhead
        );
        if !may_wait {
            return Joined::Ended(Err(refused));
        }
        let (now, waker) = (now(), waker.clone());
        let (joined, unused) = self.line.queue.lock(|queue| {
            // Behind others there is nothing to try: whoever makes room sees the bit, and serves them first.
            if queue.is_empty() {
                self.core.set_waiting();
                match self.core.admit_waiter(now) {
                    Err(refused) if refused.reason != RejectReason::Closed => {}
                    ended => {
                        self.core.clear_waiting();
                        return (Some(Joined::Ended(ended)), Some(waker));
                    }
                }
            }
            match queue.push(waker) {
                Ok(key) => (Some(Joined::Queued(key)), None),
                Err(waker) => {
                    if queue.is_empty() {
                        self.core.clear_waiting();
                    }
                    (None, Some(waker))
                }
            }
        });
        drop(unused);
        joined.unwrap_or_else(|| Joined::Ended(Err(refused.because(RejectReason::QueueFull))))
    }

    /// Looks whether a waiter's wait has ended, and takes its node out if it has.
    pub(crate) fn check(self, key: &Key, waker: &Waker) -> Poll<Result<Slot, Rejected>> {
        let waker = waker.clone();
        let (ended, unused) = self.line.queue.lock(|queue| match queue.take_ended(key) {
            Some(state) => (Some(state), Some(waker)),
            None => (None, queue.renew(key, waker)),
        });
        drop(unused);
        match ended {
            Some(state) => Poll::Ready(self.ending(state)),
            None => Poll::Pending,
        }
    }

    /// Takes a waiter's node out, whether its wait has ended or not; if it has, returns how.
    pub(crate) fn leave(self, key: &Key) -> Option<Result<Slot, Rejected>> {
        let state = self.line.queue.lock(|queue| {
            let state = queue.remove(key);
            if queue.is_empty() {
                self.core.clear_waiting();
            }
            state
        });
        match state {
            // Dropped here, after the lock.
            State::Waiting(_) | State::Free => None,
            ended => Some(self.ending(ended)),
        }
    }

    /// Gives slots to the heads of the line as long as there are any.
    #[cold]
    #[inline(never)]
    pub(crate) fn serve(self) {
        loop {
            let now = now();
            let step = self.line.queue.lock(|queue| self.step(queue, now));
            if let Some(waker) = step.wake {
                waker.wake();
            }
            if !step.more {
                return;
            }
        }
    }

    /// Under the lock: gives a slot to the head if there is one, or tells it that the limiter is closed.
    fn step(self, queue: &Queue<N>, now: Timestamp) -> Step {
        let mut step = Step {
            wake: None,
            more: false,
        };
        if !queue.is_empty() {
            let state = match self.core.admit_waiter(now) {
                Ok(slot) => State::Granted(slot),
                Err(refused) if refused.reason == RejectReason::Closed => State::Closed,
                Err(_) => return step,
            };
            let closed = matches!(state, State::Closed);
            step.wake = queue.end_head(state);
            step.more = !queue.is_empty() && (closed || self.core.has_room());
        }
        if queue.is_empty() {
            self.core.clear_waiting();
        }
        step
    }

    fn ending(self, state: State) -> Result<Slot, Rejected> {
        match state {
            State::Granted(slot) => Ok(slot),
            _ => Err(self.refusal(RejectReason::Closed)),
        }
    }

    pub(crate) fn refusal(self, reason: RejectReason) -> Rejected {
        let seen = self.core.snapshot();
        Rejected::new(reason, seen.limit, seen.inflight)
    }
}
