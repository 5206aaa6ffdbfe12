//! Twenty waiters in random orders for a million steps, as an executor would poll them: only when woken.

mod common;

use common::{Count, poll};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use limiter_embassy::law::Fixed;
use limiter_embassy::{Acquire, Limiter, Permit, config};
use std::sync::Arc;
use std::task::{Poll, Waker};

const WAITERS: usize = 20;
const STEPS: usize = 1_000_000;
const MOST: u32 = 6;

type Shuffled = Limiter<CriticalSectionRawMutex, Fixed, WAITERS>;

enum Job<'a> {
    Idle,
    Waiting {
        future: Acquire<'a, CriticalSectionRawMutex, Fixed, WAITERS>,
        seen: usize,
    },
    Working(
        #[allow(dead_code, reason = "held")] Permit<'a, CriticalSectionRawMutex, Fixed, WAITERS>,
    ),
}

struct Task<'a> {
    job: Job<'a>,
    woken: Arc<Count>,
    waker: Waker,
    polls: usize,
}

impl<'a> Task<'a> {
    fn new() -> Self {
        let (woken, waker) = Count::new();
        Self {
            job: Job::Idle,
            woken,
            waker,
            polls: 0,
        }
    }

    fn start(&mut self, limiter: &'a Shuffled) {
        let (mut future, seen) = (limiter.acquire(), self.woken.get());
        self.polls += 1;
        self.job = match poll(&mut future, &self.waker) {
            Poll::Ready(permit) => Job::Working(permit.expect("everybody has a place in line")),
            Poll::Pending => Job::Waiting { future, seen },
        };
    }

    /// Polls it if it was woken.
    fn run(&mut self) {
        if let Job::Waiting { future, seen } = &mut self.job {
            if self.woken.get() > *seen {
                assert_eq!(self.woken.get(), *seen + 1, "woken twice for one wait");
                self.polls += 1;
                match poll(future, &self.waker) {
                    Poll::Ready(permit) => self.job = Job::Working(permit.expect("granted")),
                    Poll::Pending => panic!("woken for nothing"),
                }
            }
        }
    }
}

#[test]
fn twenty_waiters_cancelled_and_woken_in_any_order_strand_nobody() {
    let mut random = fastrand::Rng::with_seed(20);
    let limiter: Shuffled = Limiter::new(config(Fixed).initial(3).max(MOST));
    let mut tasks: Vec<_> = (0..WAITERS).map(|_| Task::new()).collect();
    let (mut cancelled, mut granted_unseen) = (0, 0);
    for step in 0..STEPS {
        let index = random.usize(..WAITERS);
        let task = &mut tasks[index];
        match (&task.job, random.u8(..8)) {
            (Job::Idle, _) => task.start(&limiter),
            // Cancelled at any point: in line, and granted but not polled yet.
            (Job::Waiting { seen, .. }, 0) => {
                granted_unseen += usize::from(task.woken.get() > *seen);
                cancelled += 1;
                task.job = Job::Idle;
            }
            (Job::Waiting { .. }, _) => task.run(),
            (Job::Working(_), 0..4) => task.job = Job::Idle,
            (Job::Working(_), _) => {}
        }
        if random.u16(..1_000) == 0 {
            limiter
                .set_limit(random.u32(1..=MOST))
                .expect("within the bounds");
        }
        let seen = limiter.snapshot();
        // F30: never somebody in line and a slot free.
        assert!(
            limiter.queued() == 0 || seen.inflight >= seen.limit,
            "stranded at step {step}: {seen:?}"
        );
        assert_eq!(seen.waiting, limiter.queued() > 0);
    }
    assert!(
        cancelled > 10_000 && granted_unseen > 1_000,
        "{cancelled} {granted_unseen}"
    );

    // Everybody still in line gets through with nothing but releases.
    limiter.set_limit(1).expect("within the bounds");
    for _ in 0..WAITERS {
        for task in &mut tasks {
            if let Job::Working(_) = task.job {
                task.job = Job::Idle;
            }
            task.run();
        }
    }
    assert!(
        tasks
            .iter()
            .all(|task| !matches!(task.job, Job::Waiting { .. }))
    );
    let polls: usize = tasks.iter().map(|task| task.polls).sum();
    let wakes: usize = tasks.iter().map(|task| task.woken.get()).sum();
    // The first poll of each wait, and one for each wake that was not cancelled.
    assert!(wakes > 10_000 && polls > 100_000, "{wakes} {polls}");
    drop(tasks);
    assert_eq!(limiter.snapshot().inflight, 0);
    assert!(!limiter.snapshot().waiting);
}
