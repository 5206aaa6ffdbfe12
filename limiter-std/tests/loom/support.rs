//! What the models share.

use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use limiter_std::law::{Fixed, Law};
use limiter_std::{Acquire, Clock, Config, Limiter, Permit, Rejected, Request, Timestamp};
// Not loom's: they count over all executions, and are no part of the model.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A clock that stands still and is no part of the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_ticks(0)
    }

    fn unix_time(&self) -> Option<Duration> {
        None
    }
}

pub(crate) type Modelled<L = Fixed> = Limiter<L, Still>;
pub(crate) type Waiting<L = Fixed> = Acquire<L, Still>;

/// How often something happened in all executions together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(Arc<AtomicUsize>);

impl Seen {
    pub(crate) fn once(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn assert_some(&self, what: &str) {
        assert_ne!(self.0.load(Ordering::Relaxed), 0, "no execution {what}");
    }
}

/// Explores `model` without a bound.
pub(crate) fn check(name: &str, model: impl Fn() + Send + Sync + 'static) {
    check_bounded(name, None, model);
}

/// Explores `model` with at most so many preemptions.
pub(crate) fn check_bounded(
    name: &str,
    preemptions: Option<usize>,
    model: impl Fn() + Send + Sync + 'static,
) {
    let executions = Seen::default();
    let mut builder = loom::model::Builder::new();
    if preemptions.is_some() {
        builder.preemption_bound = preemptions;
    }
    let counted = executions.clone();
    builder.check(move || {
        counted.once();
        model();
    });
    let count = executions.0.load(Ordering::Relaxed);
    println!("{name}: {count} executions");
    assert!(count > 1, "nothing was interleaved");
}

pub(crate) fn limiter(limit: u32) -> Modelled {
    with_law(Config::new(Fixed).initial(limit))
}

pub(crate) fn with_law<L: Law + Copy>(config: Config<L>) -> Modelled<L> {
    // Threads wait for loom's wake-ups only: the park of a clock is not loom's.
    Limiter::with_clock(config.without_longest_wait(), Still).expect("a configuration that works")
}

/// Polls with a waker that does nothing: for a waiter that is not polled again.
pub(crate) fn poll<L: Law>(waiting: &mut Waiting<L>) -> Poll<Result<Permit<L, Still>, Rejected>> {
    Pin::new(waiting).poll(&mut Context::from_waker(Waker::noop()))
}

/// A waiter that is in the queue.
pub(crate) fn queued<L: Law>(limiter: &Modelled<L>) -> Waiting<L> {
    queued_for(limiter, Request::new())
}

pub(crate) fn queued_for<L: Law>(limiter: &Modelled<L>, request: Request) -> Waiting<L> {
    let mut waiting = limiter.acquire_async_for(request);
    assert!(poll(&mut waiting).is_pending(), "there was a slot");
    waiting
}

/// Nothing is left behind.
pub(crate) fn assert_idle<L: Law>(limiter: &Modelled<L>, limit: u32) {
    let seen = limiter.snapshot();
    assert_eq!(seen.inflight, 0, "inflight");
    assert!(!seen.waiting, "the waiting bit");
    assert_eq!(limiter.queued(), 0, "the queue");
    assert_eq!(seen.limit, limit, "the limit");
}
