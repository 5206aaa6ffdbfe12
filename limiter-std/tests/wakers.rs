//! Wakers are somebody else's code: they panic, call back, and are dropped at any time.

mod common;

use common::{Fixture, Task, assert_idle, fixed, poll};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        // Not `panic!`: it needs no message from the hook in the output of a test that succeeds.
        std::panic::resume_unwind(Box::new("a waker that panics"));
    }
}

#[test]
fn a_waker_that_panics_strands_nobody_and_spoils_nothing() {
    let (limiter, _) = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let panics = Waker::from(Arc::new(Panics));
    let mut others = Vec::new();
    let mut bad = Vec::new();
    for _ in 0..20 {
        let mut future = limiter.acquire_async();
        assert!(poll(&mut future, &panics).is_pending());
        bad.push(future);
        others.push(Task::queued(&limiter));
    }
    limiter.set_limit(41).unwrap();
    let permits: Vec<_> = others.iter_mut().map(Task::permit).collect();
    // Their slots wait for them all the same.
    for future in &mut bad {
        assert!(poll(future, &panics).is_ready());
    }
    drop((held, permits));
    assert_idle(&limiter);
}

#[test]
fn a_release_does_not_unwind_for_a_waker_that_panics() {
    let (limiter, _) = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let panics = Waker::from(Arc::new(Panics));
    let mut future = limiter.acquire_async();
    assert!(poll(&mut future, &panics).is_pending());
    drop(held);
    drop(future);
    assert_idle(&limiter);
}

/// Uses the limiter, and so its lock, in everything that a waker can do.
struct CallsBack {
    limiter: Fixture,
    calls: Arc<AtomicUsize>,
}

impl CallsBack {
    fn call(&self) {
        let mut future = self.limiter.acquire_async();
        let _ = poll(&mut future, Waker::noop());
        self.limiter.queued();
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

impl Wake for CallsBack {
    fn wake(self: Arc<Self>) {
        self.call();
    }
}

impl Drop for CallsBack {
    fn drop(&mut self) {
        self.call();
    }
}

#[test]
fn a_waker_may_use_the_limiter_when_it_is_woken_replaced_or_dropped() {
    let (limiter, _) = fixed(1);
    let calls = Arc::new(AtomicUsize::new(0));
    let calls_back = || {
        let (limiter, calls) = (limiter.clone(), Arc::clone(&calls));
        Waker::from(Arc::new(CallsBack { limiter, calls }))
    };
    let count = || calls.load(Ordering::Relaxed);
    let held = limiter.try_acquire().unwrap();

    let (mut woken, mut replaced, mut dropped) = (
        limiter.acquire_async(),
        limiter.acquire_async(),
        limiter.acquire_async(),
    );
    assert!(poll(&mut woken, &calls_back()).is_pending());
    assert!(poll(&mut replaced, &calls_back()).is_pending());
    assert!(poll(&mut dropped, &calls_back()).is_pending());
    assert_eq!(count(), 0, "all three are in the queue");

    assert!(poll(&mut replaced, Waker::noop()).is_pending());
    assert_eq!(count(), 1);
    drop(dropped);
    assert_eq!(count(), 2);
    drop(held);
    assert_eq!(count(), 4, "woken, and then dropped");
    drop((woken, replaced));
    assert_idle(&limiter);
}
