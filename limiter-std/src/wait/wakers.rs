//! Wakers collected under the lock, to be called after it.

use core::task::Waker;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many are woken before the lock is taken again: enough to make the lock cheap, few enough for the
/// stack.
const MOST: usize = 16;

#[derive(Debug)]
pub(crate) struct Wakers {
    wakers: [Option<Waker>; MOST],
    len: usize,
    /// The place of one that is dropped instead of called.
    quiet: Option<usize>,
}

impl Wakers {
    pub(crate) const fn new() -> Self {
        Self {
            wakers: [const { None }; MOST],
            len: 0,
            quiet: None,
        }
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.len >= MOST
    }

    /// Adds one; the caller has seen that there is room.
    pub(crate) fn push(&mut self, waker: Waker) {
        if let Some(place) = self.wakers.get_mut(self.len) {
            *place = Some(waker);
            self.len += 1;
        }
    }

    /// Adds one that is dropped where the others are called: its waiter is awake.
    pub(crate) fn push_quiet(&mut self, waker: Waker) {
        self.quiet = Some(self.len);
        self.push(waker);
    }

    /// Calls all of them in order.
    ///
    /// A waker is some executor's code. If one panics, the others are called all the same, and whoever
    /// happened to free the slot does not unwind for it: the panic hook has reported it.
    pub(crate) fn wake(mut self) {
        if let Some(quiet) = self.quiet.and_then(|place| self.wakers.get_mut(place)) {
            drop(quiet.take());
        }
        for waker in self.wakers.into_iter().flatten() {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
                // Its destructor might panic as well.
                core::mem::forget(payload);
            }
        }
    }
}
