//! Whole limiters under random schedules, which are too big for every interleaving to be explored:
//! `RUSTFLAGS="--cfg limiter_shuttle" cargo test -p limiter-core --test shuttle`.
//!
//! Shuttle switches threads at every access of an atomic, but shows all of them the same order of accesses: what
//! weak orderings allow is for the loom models.

#![cfg(limiter_shuttle)]

use core::time::Duration;
use limiter_core::law::{Decision, Law, Reason, Window};
use limiter_core::{
    BudgetConfig, CallOptions, Config, Dependency, DependencyConfig, Ending, Limiter, Outcome,
    RejectReason, Step, TickRate, Tickets, Timestamp,
};
use shuttle::thread;
use std::sync::Arc;
// Not shuttle's: they count, and are no part of what is scheduled.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const THREADS: u64 = 4;
const ROUNDS: u64 = 12;

/// Random schedules, and those with few switches at unlikely places.
fn explore(scenario: fn()) {
    shuttle::check_random(scenario, 1_500);
    shuttle::check_pct(scenario, 500, 3);
}

fn at(ticks: u64) -> Timestamp {
    Timestamp::from_ticks(1_000 + ticks)
}

/// Counts what it is shown, and moves the limit up and down.
#[derive(Clone, Copy, Debug)]
struct Tally(&'static AtomicU64);

impl Law for Tally {
    type State = [u32; 1];

    fn on_window(&self, [windows]: &mut [u32; 1], window: &Window) -> Decision {
        self.0.fetch_add(window.successes.into(), Relaxed);
        *windows += 1;
        Decision::new(1 + *windows % 3, Reason::Grew)
    }
}

fn eager<L: Law + Copy>(law: L, limit: u32, max: u32) -> Limiter<L> {
    let config = Config::new(law, TickRate::MICROS).initial(limit).max(max);
    let windows = config.windows(Duration::ZERO, Duration::from_secs(1));
    Limiter::new(windows.min_samples(1))
}

/// Runs so many threads to their end.
fn all(work: impl Fn(u64) + Send + Sync + 'static) {
    let work = Arc::new(work);
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let work = Arc::clone(&work);
            thread::spawn(move || work(thread))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn windows_that_close_while_limits_are_set_lose_no_slot_and_no_success() {
    explore(|| {
        let judged: &'static AtomicU64 = Box::leak(Box::default());
        let limiter = Arc::new(eager(Tally(judged), 2, 3));
        let finished: &'static AtomicU64 = Box::leak(Box::default());
        let shared = Arc::clone(&limiter);
        all(move |thread| {
            for round in 0..ROUNDS {
                let now = at(round);
                if (thread + round) % 7 == 6 {
                    let _ = shared.set_limit(1 + (round % 3) as u32, now);
                    continue;
                }
                let Ok(permit) = shared.try_acquire(now) else {
                    continue;
                };
                assert!(
                    shared.snapshot().inflight <= 3,
                    "more than the largest limit"
                );
                match (thread + round) % 5 {
                    0 => drop(permit),
                    1 => _ = permit.finish(Outcome::Failure, at(round + 1)),
                    kind => {
                        finished.fetch_add(1, Relaxed);
                        if kind == 2 {
                            permit.finish_from_isr(Outcome::Success, at(round + 1));
                        } else {
                            permit.finish(Outcome::Success, at(round + 1));
                        }
                    }
                }
            }
        });
        let end = limiter.snapshot();
        assert_eq!(end.inflight, 0);
        let seen = judged.load(Relaxed) + u64::from(end.window_successes);
        assert_eq!(
            seen,
            finished.load(Relaxed),
            "every success is in one window"
        );
    });
}

#[test]
fn nobody_gets_in_once_closing_is_over_and_all_get_out() {
    explore(|| {
        let limiter = Arc::new(eager(Tally(Box::leak(Box::default())), 2, 3));
        let shared = Arc::clone(&limiter);
        all(move |thread| {
            for round in 0..ROUNDS {
                if thread == 0 && round == ROUNDS / 2 {
                    shared.close();
                    let refused = shared.try_acquire(at(round)).unwrap_err();
                    assert_eq!(refused.reason, RejectReason::Closed);
                }
                if let Ok(permit) = shared.try_acquire(at(round)) {
                    permit.finish(Outcome::Success, at(round + 1));
                }
            }
        });
        let end = limiter.snapshot();
        assert_eq!((end.inflight, end.limit, end.closed), (0, 0, true));
    });
}

#[test]
fn tickets_that_are_returned_twice_by_several_free_their_slots_once() {
    explore(|| {
        let limiter: &'static _ = Box::leak(Box::new(eager(limiter_core::law::Fixed, 3, 3)));
        let table: &'static Tickets<'_, 3, _> = Box::leak(Box::new(Tickets::new(limiter)));
        let (taken, returned): (&'static AtomicU64, &'static AtomicU64) =
            (Box::leak(Box::default()), Box::leak(Box::default()));
        all(move |_| {
            for round in 0..ROUNDS / 2 {
                let Ok(ticket) = table.try_acquire(at(round)) else {
                    continue;
                };
                taken.fetch_add(1, Relaxed);
                let again = thread::spawn(move || {
                    let ended = table.finish(ticket, Outcome::Success, at(round + 1));
                    u64::from(ended.is_ok())
                });
                let here = table
                    .finish(ticket, Outcome::Success, at(round + 1))
                    .is_ok();
                returned.fetch_add(u64::from(here) + again.join().unwrap(), Relaxed);
            }
        });
        assert_eq!(taken.load(Relaxed), returned.load(Relaxed));
        assert_eq!(table.limiter().snapshot().inflight, 0);
    });
}

#[test]
fn calls_that_fail_together_spend_no_more_than_their_budget_and_give_everything_back() {
    explore(|| {
        let rate = TickRate::MICROS;
        let config = DependencyConfig::new(rate).budget(BudgetConfig::new().without_floor());
        let limiter = Config::new(limiter_core::law::Fixed, rate).initial(3);
        let dependency = Arc::new(Dependency::<limiter_core::law::Fixed>::new(limiter, config));
        let shared = Arc::clone(&dependency);
        let (firsts, retries): (&'static AtomicU64, &'static AtomicU64) =
            (Box::leak(Box::default()), Box::leak(Box::default()));
        all(move |thread| {
            for round in 0..ROUNDS / 2 {
                let mut now = at(round);
                let mut call = shared.call(now, CallOptions::new());
                loop {
                    match call.step(now, (thread * 77 + round) as u32) {
                        Step::Attempt(attempt) => {
                            let count = if attempt.number == 1 { firsts } else { retries };
                            count.fetch_add(1, Relaxed);
                            if (thread + round) % 6 == 5 {
                                break;
                            }
                            call.finish(attempt.number, Ending::overload(), now, 0);
                        }
                        Step::Wait(until) => now = until,
                        _ => break,
                    }
                }
            }
        });
        let end = dependency.snapshot(at(0));
        assert_eq!((end.limiter.inflight, end.backing_off), (0, 0));
        assert!(retries.load(Relaxed) * 1_000 <= 10_000 + firsts.load(Relaxed) * 100);
    });
}
