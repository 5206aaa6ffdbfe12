//! Threads wait like futures, with a waker that unparks them.

use super::line::{Granted, Line};
use crate::clock::Clock;
use crate::shared::Lane;
use crate::sync::{thread, thread_local};
use core::task::{Poll, Waker};
use limiter_core::Rejected;
use std::sync::Arc;
use std::task::Wake;

struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    // Made once for a thread: waiting does not allocate.
    static WAKER: Waker = new_waker();
}

fn new_waker() -> Waker {
    Waker::from(Arc::new(Unpark(thread::current())))
}

fn waker() -> Waker {
    // While the thread's locals are being destroyed there is none.
    WAKER.try_with(Waker::clone).unwrap_or_else(|_| new_waker())
}

/// Blocks until the wait ends: with a slot, a refusal, or its deadline. A slot that was granted by then is
/// kept.
pub(crate) fn block<A: Lane>(mut line: Line<A>, clock: &A::Clock) -> Result<Granted<A>, Rejected> {
    let waker = waker();
    loop {
        if let Poll::Ready(ended) = line.poll(&waker) {
            return ended;
        }
        // The waker may have been called before: then these return at once. They may also return for
        // nothing, and then the next poll finds that nothing has changed.
        match line.deadline() {
            Some(deadline) if clock.now() >= deadline => return line.give_up(),
            Some(deadline) => clock.park_until(deadline),
            None => thread::park(),
        }
    }
}
