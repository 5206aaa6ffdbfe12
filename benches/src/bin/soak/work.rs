//! What the threads do, a thousand operations or one wait at a time.

use limiter_core::law::{Aimd, Knee};
use limiter_core::{
    BudgetConfig, CallOptions, Config, Dependency, DependencyConfig, Ending, Outcome, Random, Step,
    TickRate, Timestamp,
};
use limiter_std::Limiter;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Operations between two looks at the clock.
const BATCH: u64 = 1_000;

/// What everything is done on, and the count of permits that were let in and that ended.
#[derive(Debug)]
pub(crate) struct World {
    limiter: Limiter<Knee>,
    core: limiter_core::Limiter<Aimd>,
    dependency: Dependency<Knee>,
    start: Instant,
    random: Random,
    taken: AtomicU64,
    ended: AtomicU64,
    firsts: AtomicU64,
    retries: AtomicU64,
}

type Work = fn(&World) -> u64;

/// Each thread's work by its name.
pub(crate) const ALL: [(&str, Work); 10] = [
    ("std", World::plain),
    ("std again", World::plain),
    ("core", World::core),
    ("core again", World::core),
    ("calls", World::calls),
    ("calls again", World::calls),
    ("cancels", World::cancels),
    ("times out", World::times_out),
    ("panics", World::panics),
    ("reconfigures", World::reconfigures),
];

impl World {
    pub(crate) fn new() -> Result<Self, limiter_core::ConfigError> {
        let rate = TickRate::NANOS;
        let budget = BudgetConfig::new().without_floor();
        Ok(Self {
            limiter: Limiter::try_new(limiter_std::Config::new(Knee::new()).initial(3).max(6))?,
            core: limiter_core::Limiter::try_new(Config::new(Aimd::new(), rate).initial(2).max(3))?,
            dependency: Dependency::try_new(
                Config::new(Knee::new(), rate).initial(2).max(4),
                DependencyConfig::new(rate).budget(budget),
            )?,
            start: Instant::now(),
            random: Random::new(0x50a_4ed),
            taken: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            firsts: AtomicU64::new(0),
            retries: AtomicU64::new(0),
        })
    }

    fn now(&self) -> Timestamp {
        limiter_std::timestamp(self.start.elapsed())
    }

    fn count(&self, taken: u64) {
        self.taken.fetch_add(taken, Ordering::Relaxed);
        self.ended.fetch_add(taken, Ordering::Relaxed);
    }

    fn plain(&self) -> u64 {
        let mut taken = 0;
        for operation in 0..BATCH {
            if let Ok(permit) = self.limiter.try_acquire() {
                taken += 1;
                match operation % 8 {
                    0 => permit.finish(Outcome::Overload),
                    1 => drop(permit),
                    2 => permit.forget(),
                    3 => drop(permit.into_hold()),
                    _ => permit.finish(Outcome::Success),
                }
            }
        }
        self.count(taken);
        BATCH
    }

    fn core(&self) -> u64 {
        let now = self.now();
        let mut taken = 0;
        for operation in 0..BATCH {
            if let Ok(permit) = self.core.try_acquire(now) {
                taken += 1;
                match operation % 8 {
                    0 => drop(permit),
                    1 => _ = permit.finish_from_isr(Outcome::Success, now),
                    _ => _ = permit.finish(Outcome::Success, now),
                }
            }
        }
        self.count(taken);
        BATCH
    }

    fn calls(&self) -> u64 {
        let mut operations = 0;
        while operations < BATCH {
            let mut now = self.now();
            let mut call = self.dependency.call(now, CallOptions::new());
            loop {
                operations += 1;
                match call.step(now, self.random.word()) {
                    Step::Attempt(attempt) => {
                        let kind = if attempt.number == 1 {
                            &self.firsts
                        } else {
                            &self.retries
                        };
                        kind.fetch_add(1, Ordering::Relaxed);
                        let ending = match self.random.word() % 64 {
                            0 => Ending::failure(),
                            1 => Ending::overload(),
                            2 => break,
                            _ => Ending::success(),
                        };
                        call.finish(attempt.number, ending, now, self.random.word());
                    }
                    // Nobody sleeps here: the call's clock does.
                    Step::Wait(until) => now = until,
                    _ => break,
                }
            }
        }
        operations
    }

    /// Joins the line and goes away, at once or later.
    fn cancels(&self) -> u64 {
        let mut context = Context::from_waker(Waker::noop());
        for round in 0..BATCH {
            let mut waiting = self.limiter.acquire_async();
            for _ in 0..round % 3 {
                if Pin::new(&mut waiting).poll(&mut context).is_ready() {
                    self.count(1);
                    break;
                }
            }
        }
        thread::yield_now();
        BATCH
    }

    fn times_out(&self) -> u64 {
        if let Ok(permit) = self.limiter.acquire_timeout(Duration::from_micros(200)) {
            self.count(1);
            permit.finish(Outcome::Success);
        }
        1
    }

    /// Panics with a slot in hand.
    fn panics(&self) -> u64 {
        for _ in 0..10 {
            // Without the hook, which would print it.
            let ended = catch_unwind(AssertUnwindSafe(|| {
                if let Ok(_permit) = self.limiter.try_acquire() {
                    self.taken.fetch_add(1, Ordering::Relaxed);
                    resume_unwind(Box::new("on purpose"));
                }
            }));
            if ended.is_err() {
                self.ended.fetch_add(1, Ordering::Relaxed);
            }
        }
        thread::yield_now();
        10
    }

    fn reconfigures(&self) -> u64 {
        let word = self.random.word();
        let (min, max) = (1 + word % 2, 3 + word / 2 % 4);
        let settled = [
            self.limiter.set_bounds(min, max).is_ok(),
            self.limiter.set_limit(min + word / 8 % 2).is_ok(),
            self.core.set_limit(1 + word / 16 % 3, self.now()).is_ok(),
        ];
        thread::sleep(Duration::from_micros(100));
        settled.len() as u64
    }

    /// What has to be true when everybody has left; how many permits there were.
    pub(crate) fn check(&self) -> Result<u64, String> {
        let left = [
            self.limiter.snapshot().inflight,
            self.core.snapshot().inflight,
            self.dependency.limiter().snapshot().inflight,
        ];
        if left != [0, 0, 0] || self.limiter.queued() != 0 {
            return Err(format!("slots are left taken: {left:?}"));
        }
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (taken, ended) = (count(&self.taken), count(&self.ended));
        if taken != ended || taken == 0 {
            return Err(format!("{taken} permits were taken and {ended} ended"));
        }
        let (firsts, retries) = (count(&self.firsts), count(&self.retries));
        // Ten tokens, and a tenth for each first attempt.
        if retries > 10 + firsts / 10 || retries == 0 {
            return Err(format!("{retries} retries for {firsts} first attempts"));
        }
        let backing_off = self.dependency.snapshot(self.now()).backing_off;
        if backing_off != 0 {
            return Err(format!("{backing_off} calls are left in back-off"));
        }
        Ok(taken + firsts + retries)
    }
}
