//! A clock for `embassy-time` that stands still until it is told otherwise, at any tick rate: the one in
//! `embassy-time` is for 1 MHz only.
//!
//! One for the whole process. Timers are woken by whoever moves the clock.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use embassy_time_driver::Driver;
use embassy_time_queue_utils::Queue;

struct Mock(Mutex<State>);

struct State {
    now: u64,
    timers: Queue,
}

impl Mock {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Driver for Mock {
    fn now(&self) -> u64 {
        self.lock().now
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        let mut state = self.lock();
        state.timers.schedule_wake(at, waker);
        let now = state.now;
        state.timers.next_expiration(now);
    }
}

embassy_time_driver::time_driver_impl!(static MOCK: Mock = Mock(Mutex::new(State {
    now: 0,
    timers: Queue::new(),
})));

/// Moves the clock on and wakes the timers whose time has come. Saturates.
pub fn advance(ticks: u64) {
    let mut state = MOCK.lock();
    state.now = state.now.saturating_add(ticks);
    let now = state.now;
    state.timers.next_expiration(now);
}
