//! What several test programs use.
#![allow(dead_code, unreachable_pub, reason = "each program uses a part")]

use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_time::Duration;
use limiter_embassy::law::Fixed;
use limiter_embassy::{Limiter, Rejected, config};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

pub const ROOM: usize = 4;
pub type Fixture = Limiter<CriticalSectionRawMutex, Fixed, ROOM>;
pub type Waiting<'a> = limiter_embassy::Acquire<'a, CriticalSectionRawMutex, Fixed, ROOM>;
pub type Taken<'a> = limiter_embassy::Permit<'a, CriticalSectionRawMutex, Fixed, ROOM>;

/// A limiter whose limit stays where it is put.
pub fn fixed(limit: u32) -> Fixture {
    Limiter::new(config(Fixed).initial(limit))
}

/// The one clock of the process, for the test that holds it. Others see it move and must not mind.
pub struct Clock(#[allow(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Clock {
    pub fn take() -> Self {
        static ONE: Mutex<()> = Mutex::new(());
        Self(ONE.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn advance(&self, by: Duration) {
        mock_clock::advance(by.as_ticks());
    }
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

/// The end of a future that needs one poll.
pub fn now_or_never<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

/// A future with a waker of its own that is polled by hand.
#[derive(Debug)]
pub struct Task<'a> {
    future: Waiting<'a>,
    woken: Arc<Count>,
    waker: Waker,
}

impl<'a> Task<'a> {
    /// Not polled yet.
    pub fn new(limiter: &'a Fixture) -> Self {
        let (woken, waker) = Count::new();
        Self {
            future: limiter.acquire(),
            woken,
            waker,
        }
    }

    /// Polled once, which has to queue it.
    pub fn queued(limiter: &'a Fixture) -> Self {
        let mut task = Self::new(limiter);
        assert!(task.poll().is_pending(), "there was a slot");
        task
    }

    /// Another task goes on with the future; returns how often the old one is woken.
    pub fn move_to_another(&mut self) -> Arc<Count> {
        let (woken, waker) = Count::new();
        self.waker = waker;
        std::mem::replace(&mut self.woken, woken)
    }

    pub fn poll(&mut self) -> Poll<Result<Taken<'a>, Rejected>> {
        poll(&mut self.future, &self.waker)
    }

    pub fn woken(&self) -> usize {
        self.woken.get()
    }

    /// The permit of a task that was woken for one.
    pub fn permit(&mut self) -> Taken<'a> {
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
    assert_eq!(limiter.queued(), 0, "somebody is left in line");
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
