//! What several test programs use.
#![allow(dead_code, unreachable_pub, reason = "each program uses a part")]

use limiter_std::law::Fixed;
use limiter_std::{Acquire, Config, Limiter, ManualClock, Permit, Rejected, Request};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

pub type Fixture = Limiter<Fixed, ManualClock>;
pub type Waiting = Acquire<Fixed, ManualClock>;
pub type Taken = Permit<Fixed, ManualClock>;

/// A limiter whose limit stays where it is put, on a clock that stands still.
pub fn fixed(limit: u32) -> (Fixture, ManualClock) {
    with(Config::new(Fixed).initial(limit))
}

pub fn with(config: Config<Fixed>) -> (Fixture, ManualClock) {
    let clock = ManualClock::new();
    let limiter = Limiter::with_clock(config, clock.clone()).expect("a configuration that works");
    (limiter, clock)
}

/// Counts how often it is woken.
#[derive(Debug, Default)]
pub struct Count(AtomicUsize);

impl Count {
    pub fn new() -> (Arc<Self>, Waker) {
        let count = Arc::new(Self::default());
        let waker = Waker::from(Arc::clone(&count));
        (count, waker)
    }

    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// One poll by hand.
pub fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// A future with a waker of its own that is polled by hand.
#[derive(Debug)]
pub struct Task {
    future: Waiting,
    woken: Arc<Count>,
    waker: Waker,
}

impl Task {
    /// Not polled yet.
    pub fn new(limiter: &Fixture) -> Self {
        Self::of(limiter.acquire_async())
    }

    pub fn of(future: Waiting) -> Self {
        let (woken, waker) = Count::new();
        Self {
            future,
            woken,
            waker,
        }
    }

    /// Of a request that has to be queued.
    pub fn queued_for(limiter: &Fixture, request: Request) -> Self {
        let mut task = Self::of(limiter.acquire_async_for(request));
        assert!(task.poll().is_pending(), "there was a slot");
        task
    }

    /// Polled once, which has to queue it.
    pub fn queued(limiter: &Fixture) -> Self {
        Self::queued_for(limiter, Request::new())
    }

    /// Another task goes on with the future; returns how often the old one is woken.
    pub fn move_to_another(&mut self) -> Arc<Count> {
        let (woken, waker) = Count::new();
        self.waker = waker;
        std::mem::replace(&mut self.woken, woken)
    }

    pub fn poll(&mut self) -> Poll<Result<Taken, Rejected>> {
        poll(&mut self.future, &self.waker)
    }

    pub fn woken(&self) -> usize {
        self.woken.get()
    }

    /// The permit of a task that was woken for one.
    pub fn permit(&mut self) -> Taken {
        assert_eq!(self.woken(), 1, "woken once, for the grant");
        match self.poll() {
            Poll::Ready(Ok(permit)) => permit,
            other => panic!("woken, and then {other:?}"),
        }
    }
}

/// Nothing is in flight, nobody waits, and the whole limit can be had.
pub fn assert_idle(limiter: &Fixture) {
    let seen = limiter.snapshot();
    assert_eq!(seen.inflight, 0, "a slot was not given back");
    assert!(!seen.waiting, "the waiting bit is left");
    assert_eq!(limiter.queued(), 0, "somebody is left in the queue");
    let all: Vec<_> = (0..seen.limit).map(|_| limiter.try_acquire()).collect();
    assert!(
        all.iter().all(Result::is_ok),
        "less than the limit admitted"
    );
    assert!(
        limiter.try_acquire().is_err(),
        "more than the limit admitted"
    );
}
