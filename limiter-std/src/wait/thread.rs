//! Threads wait like futures, with a waker that unparks them.

use super::Acquire;
use crate::clock::Clock;
use crate::permit::Permit;
use crate::sync::{thread, thread_local};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use limiter_core::law::Law;
use limiter_core::{Rejected, Timestamp};
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

/// Blocks until the wait ends.
pub(crate) fn block<L: Law, C: Clock>(
    mut acquire: Acquire<L, C>,
) -> Result<Permit<L, C>, Rejected> {
    let waker = waker();
    loop {
        if let Poll::Ready(ended) = poll(&mut acquire, &waker) {
            return ended;
        }
        // The waker may have been called before: then this returns at once. It may also return for
        // nothing, and then the next poll finds that nothing has changed.
        thread::park();
    }
}

/// Blocks until the wait ends or `deadline` has come. A slot that was granted by then is kept.
pub(crate) fn block_until<L: Law, C: Clock>(
    mut acquire: Acquire<L, C>,
    clock: &C,
    deadline: Timestamp,
) -> Result<Permit<L, C>, Rejected> {
    let waker = waker();
    loop {
        if let Poll::Ready(ended) = poll(&mut acquire, &waker) {
            return ended;
        }
        if clock.now() >= deadline {
            return acquire.give_up();
        }
        clock.park_until(deadline);
    }
}

fn poll<L: Law, C: Clock>(
    acquire: &mut Acquire<L, C>,
    waker: &Waker,
) -> Poll<Result<Permit<L, C>, Rejected>> {
    Pin::new(acquire).poll(&mut Context::from_waker(waker))
}
