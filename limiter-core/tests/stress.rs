//! Many threads on one limiter until collisions have provably happened.

use limiter_core::law::{Decision, Law, Reason, Window};
use limiter_core::{Config, Limiter, Outcome, TickRate, Timestamp};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Counts what it is shown and moves the limit up and down.
#[derive(Clone, Copy, Debug)]
struct Tally;

static JUDGED: AtomicU64 = AtomicU64::new(0);
static INSIDE: AtomicBool = AtomicBool::new(false);

impl Law for Tally {
    type State = [u32; 1];

    fn on_window(&self, [windows]: &mut [u32; 1], window: &Window) -> Decision {
        assert!(!INSIDE.swap(true, Relaxed), "two closers at once");
        JUDGED.fetch_add(window.successes.into(), Relaxed);
        *windows = windows.wrapping_add(1);
        INSIDE.store(false, Relaxed);
        Decision::new(2 + *windows % 6, Reason::Grew)
    }
}

#[test]
fn eight_threads_lose_no_slot_no_sample_and_never_pass_the_limit() {
    const THREADS: u64 = 8;
    const ROUNDS: u64 = 20_000;
    let limiter = Limiter::new(
        Config::new(Tally, TickRate::MICROS)
            .initial(4)
            .max(8)
            .min_samples(1)
            // A part that stands for all would not add up to the last one.
            .one_timed_of(1)
            .windows(Duration::ZERO, Duration::from_secs(1)),
    );
    let (finished, refused, clock) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let mut batches = 0;
    // Until threads have met at the limit, and windows have been closed by several.
    while refused.load(Relaxed) < 1_000 || batches == 0 {
        batches += 1;
        assert!(
            batches <= 50,
            "the threads never met: {} refusals",
            refused.load(Relaxed)
        );
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (limiter, finished, refused, clock) = (&limiter, &finished, &refused, &clock);
                scope.spawn(move || {
                    for round in 0..ROUNDS / THREADS {
                        let now = Timestamp::from_ticks(clock.fetch_add(7, Relaxed));
                        match limiter.try_acquire(now) {
                            Ok(permit) => {
                                assert!(limiter.snapshot().inflight <= 8);
                                if (round + thread) % 3 == 0 {
                                    std::thread::yield_now();
                                }
                                match round % 5 {
                                    0 => drop(permit),
                                    1 => {
                                        permit.finish(Outcome::Failure, now);
                                    }
                                    _ => {
                                        let end = clock.fetch_add(7, Relaxed);
                                        permit.finish(Outcome::Success, Timestamp::from_ticks(end));
                                        finished.fetch_add(1, Relaxed);
                                    }
                                }
                            }
                            Err(_) => {
                                refused.fetch_add(1, Relaxed);
                                std::thread::yield_now();
                            }
                        }
                    }
                });
            }
        });
    }
    let end = limiter.snapshot();
    assert_eq!(end.inflight, 0);
    assert_eq!(
        JUDGED.load(Relaxed) + u64::from(end.window_successes),
        finished.load(Relaxed),
        "every success is in one window"
    );
}
