//! A dependency on a clock that stands still, and a server that answers when it is told.

use crate::nap::Napping;
use limiter_std::law::Fixed;
use limiter_std::{
    Attempt, BreakerConfig, CallOptions, Config, Dependency, DependencyConfig, Ending, GaveUp,
    Jitter, ManualClock, Sleep,
};
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub(crate) type Store = Dependency<Fixed, ManualClock>;
pub(crate) type Outcome = Result<u32, Bad>;
pub(crate) type Answer = Result<u32, GaveUp<u32, Bad>>;
pub(crate) type Calling = Pin<Box<dyn Future<Output = Answer>>>;

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// How an attempt fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    Broken,
    Full,
    Stop,
    Wrong,
    Mine,
}

pub(crate) fn judge(result: Result<&u32, &Bad>) -> Ending {
    match result {
        Ok(_) => Ending::success(),
        Err(Bad::Broken) => Ending::failure(),
        Err(Bad::Full) => Ending::overload(),
        Err(Bad::Stop) => Ending::overload().do_not_retry(),
        Err(Bad::Wrong) => Ending::permanent(),
        Err(Bad::Mine) => Ending::ignored(),
    }
}

/// A dependency with a limit of two, nobody in line, delays of exactly 100 ms and a breaker that opens for
/// no number of failures that a test makes by the way.
pub(crate) struct Lab {
    pub(crate) store: Store,
    pub(crate) clock: ManualClock,
    pub(crate) server: Server,
}

impl Lab {
    pub(crate) fn new() -> Self {
        Self::with(|config| config)
    }

    pub(crate) fn with(
        configure: impl FnOnce(DependencyConfig<Fixed>) -> DependencyConfig<Fixed>,
    ) -> Self {
        Self::limited(Config::new(Fixed).initial(2).without_queue(), configure)
    }

    pub(crate) fn limited(
        limiter: Config<Fixed>,
        configure: impl FnOnce(DependencyConfig<Fixed>) -> DependencyConfig<Fixed>,
    ) -> Self {
        let clock = ManualClock::new();
        let config = DependencyConfig::new(limiter)
            .backoff(Jitter::Decorrelated, ms(100), ms(100))
            .breaker(never())
            .throttle(None);
        let store = Dependency::with_clock(configure(config), clock.clone(), 7);
        Self {
            store: store.expect("a configuration that works"),
            clock,
            server: Server::default(),
        }
    }

    /// A call that is polled by hand.
    pub(crate) fn calling(&self, options: CallOptions) -> Calling {
        let (server, sleep) = (self.server.clone(), Nap(self.clock.clone()));
        let attempt = move |attempt| server.attempt(attempt);
        Box::pin(self.store.call_async(sleep, options, judge, attempt))
    }

    /// A call of this thread, whose attempts end as they are told, each after a millisecond.
    pub(crate) fn call(
        &self,
        options: CallOptions,
        mut attempt: impl FnMut(Attempt) -> Outcome,
    ) -> Answer {
        self.store.call(options, judge, |next| {
            let result = attempt(next);
            self.clock.advance(ms(1));
            result
        })
    }

    pub(crate) fn inflight(&self) -> u32 {
        self.store.snapshot().limiter.inflight
    }

    /// Nothing is left of any call.
    pub(crate) fn assert_idle(&self) {
        let seen = self.store.snapshot();
        assert_eq!(seen.limiter.inflight, 0, "a slot was not given back");
        assert!(!seen.limiter.waiting, "the waiting bit is left");
        assert_eq!(seen.backing_off, 0, "a place in back-off is left");
        assert_eq!(self.store.queued(), 0, "somebody is left in line");
        assert_eq!(self.server.running(), 0, "an attempt runs on");
    }
}

pub(crate) const fn never() -> BreakerConfig {
    BreakerConfig::new().consecutive(None).failure_share(None)
}

pub(crate) fn poll(calling: &mut Calling) -> Poll<Answer> {
    calling
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
}

/// Sleeps on a clock that is moved by hand.
#[derive(Clone, Debug)]
pub(crate) struct Nap(pub(crate) ManualClock);

impl Sleep for Nap {
    type Sleeping = Napping;

    fn sleep(&self, time: Duration) -> Napping {
        Napping::new(&self.0, time)
    }
}

/// A server whose attempts wait until they are answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Server(Rc<RefCell<Vec<Running>>>);

#[derive(Debug)]
struct Running {
    attempt: Attempt,
    answer: Option<Outcome>,
    gone: bool,
}

impl Server {
    pub(crate) fn attempt(&self, attempt: Attempt) -> Attempting {
        let mut all = self.0.borrow_mut();
        all.push(Running {
            attempt,
            answer: None,
            gone: false,
        });
        Attempting(self.clone(), all.len() - 1)
    }

    /// Attempts that came, in their order.
    pub(crate) fn attempts(&self) -> Vec<Attempt> {
        self.0
            .borrow()
            .iter()
            .map(|running| running.attempt)
            .collect()
    }

    /// Attempts that were neither answered nor dropped.
    pub(crate) fn running(&self) -> usize {
        self.0
            .borrow()
            .iter()
            .filter(|running| !running.gone)
            .count()
    }

    /// Answers the attempt that came as the `index`-th.
    pub(crate) fn answer(&self, index: usize, answer: Outcome) {
        self.0.borrow_mut()[index].answer = Some(answer);
    }

    /// Answers every attempt that is not answered yet.
    pub(crate) fn answer_all(&self, answer: Outcome) {
        for running in self.0.borrow_mut().iter_mut() {
            running.answer.get_or_insert(answer);
        }
    }
}

pub(crate) struct Attempting(Server, usize);

impl Future for Attempting {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Outcome> {
        match self.0.0.borrow()[self.1].answer {
            Some(answer) => Poll::Ready(answer),
            None => Poll::Pending,
        }
    }
}

impl Drop for Attempting {
    fn drop(&mut self) {
        self.0.0.borrow_mut()[self.1].gone = true;
    }
}
