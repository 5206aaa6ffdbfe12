//! Everything at once on eight threads, until what rarely meets has met.

mod common;

use common::{Count, poll};
use limiter_std::{Limiter, Outcome, RejectReason, Rejected};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

/// How often each collision has to be seen.
const ENOUGH: usize = 2_000;
/// A thread that waits so long for a slot is stranded: all others work in microseconds.
const STRANDED: Duration = Duration::from_secs(60);
/// For collisions that do not come.
const PATIENCE: Duration = Duration::from_secs(120);

const LARGEST: u32 = 3;

#[derive(Default)]
struct Collisions {
    /// A future was dropped after it had been woken for its slot.
    grant_met_cancel: AtomicUsize,
    /// A timer was done when the slot was there as well.
    grant_met_timeout: AtomicUsize,
    /// A thread's timeout ran out.
    timed_out: AtomicUsize,
    /// The limit rose while somebody waited.
    raise_met_wait: AtomicUsize,
}

impl Collisions {
    fn all(&self) -> [&AtomicUsize; 4] {
        [
            &self.grant_met_cancel,
            &self.grant_met_timeout,
            &self.timed_out,
            &self.raise_met_wait,
        ]
    }

    fn enough(&self) -> bool {
        let seen = |count: &&AtomicUsize| count.load(Ordering::Relaxed) >= ENOUGH;
        self.all().iter().all(seen)
    }
}

fn once(count: &AtomicUsize) {
    count.fetch_add(1, Ordering::Relaxed);
}

type Fixed = Limiter<limiter_std::law::Fixed>;
type Ended = Result<limiter_std::Permit<limiter_std::law::Fixed>, Rejected>;

fn real() -> Fixed {
    let config = limiter_std::Config::new(limiter_std::law::Fixed).initial(1);
    Limiter::try_new(config).unwrap()
}

/// What a thread that has the slot does with it.
fn use_and_release(ended: Ended, random: &mut fastrand::Rng) {
    let permit = match ended {
        Ok(permit) => permit,
        Err(refused) => panic!("{refused}"),
    };
    pause(random);
    match random.u8(..4) {
        0 => drop(permit),
        1 => permit.forget(),
        2 => drop(permit.into_hold()),
        _ => permit.finish(Outcome::Success),
    }
}

fn pause(random: &mut fastrand::Rng) {
    match random.u8(..8) {
        0 => thread::yield_now(),
        n => (0..u32::from(n) * 16).for_each(|_| std::hint::spin_loop()),
    }
}

/// Joins the queue, waits a little, and goes away.
fn cancel(limiter: &Fixed, random: &mut fastrand::Rng, seen: &Collisions) {
    let (woken, waker) = Count::new();
    let mut future = limiter.acquire_async();
    if let Poll::Ready(ended) = poll(&mut future, &waker) {
        return use_and_release(ended, random);
    }
    pause(random);
    if woken.get() > 0 {
        once(&seen.grant_met_cancel);
    }
    drop(future);
}

/// Joins the queue with a timer that is done at the second look.
fn time_out(limiter: &Fixed, random: &mut fastrand::Rng, seen: &Collisions) {
    let mut looked = false;
    let timer = std::future::poll_fn(move |_| {
        if std::mem::replace(&mut looked, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    });
    let (_, waker) = Count::new();
    let mut future = Box::pin(limiter.acquire_until(timer));
    if let Poll::Ready(ended) = poll(&mut future, &waker) {
        return use_and_release(ended, random);
    }
    pause(random);
    match poll(&mut future, &waker) {
        Poll::Ready(Err(refused)) => assert_eq!(refused.reason, RejectReason::TimedOut),
        Poll::Ready(ended) => {
            once(&seen.grant_met_timeout);
            use_and_release(ended, random);
        }
        Poll::Pending => panic!("the timer is done"),
    }
}

/// Blocks for about as long as a wait lasts: for less, those ahead would take too long.
fn block_briefly(limiter: &Fixed, random: &mut fastrand::Rng, seen: &Collisions) {
    match limiter.acquire_timeout(Duration::from_micros(random.u64(..1_000))) {
        Err(refused) if refused.reason == RejectReason::TimedOut => once(&seen.timed_out),
        // Those ahead take longer.
        Err(refused) if matches!(refused.reason, RejectReason::WouldExpire(_)) => {}
        ended => use_and_release(ended, random),
    }
}

fn resize(limiter: &Fixed, random: &mut fastrand::Rng, seen: &Collisions) {
    let before = limiter.snapshot();
    let limit = random.u32(1..=LARGEST);
    limiter.set_limit(limit).expect("within the bounds");
    if before.waiting && limit > before.limit {
        once(&seen.raise_met_wait);
    }
    assert!(before.inflight <= LARGEST);
}

#[test]
fn nobody_is_stranded_and_no_slot_is_lost_when_everything_meets() {
    let (limiter, seen, start) = (real(), Collisions::default(), Instant::now());
    thread::scope(|scope| {
        for seed in 0..8 {
            let (limiter, seen) = (&limiter, &seen);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                while !seen.enough() && start.elapsed() < PATIENCE {
                    match random.u8(..16) {
                        0..4 => use_and_release(limiter.acquire_timeout(STRANDED), &mut random),
                        4..8 => cancel(limiter, &mut random, seen),
                        8..12 => time_out(limiter, &mut random, seen),
                        12..15 => block_briefly(limiter, &mut random, seen),
                        _ => resize(limiter, &mut random, seen),
                    }
                }
            });
        }
    });
    let counts = seen.all().map(|count| count.load(Ordering::Relaxed));
    println!(
        "cancel, timeout, timed out, raise: {counts:?} in {:?}",
        start.elapsed()
    );
    assert!(seen.enough(), "not seen often enough: {counts:?}");

    let snapshot = limiter.snapshot();
    assert_eq!(
        (snapshot.inflight, snapshot.waiting, limiter.queued()),
        (0, false, 0)
    );
    limiter.set_limit(2).unwrap();
    let both = (limiter.try_acquire(), limiter.try_acquire());
    assert!(both.0.is_ok() && both.1.is_ok() && limiter.try_acquire().is_err());
}
