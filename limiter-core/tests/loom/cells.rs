//! Models of single cells, without a bound. Included by the library as unit tests, for the cells are private.

#[path = "callers.rs"]
mod callers;
#[allow(dead_code, reason = "the bounded search is for the integration models")]
#[path = "explore.rs"]
mod explore;

use crate::cell::admission::{Admission, Arrival};
use crate::cell::gate::{DUE, Gate, Holder, SET};
use crate::cell::state::Cells;
use crate::cell::window::{OpenWindow, Schedule};
use explore::explore;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use loom::thread;

const AT_ONCE: Schedule = Schedule {
    settle: 0,
    length: 0,
    need: 1,
};

/// Runs `work` with what is pending until nothing is, as the limiter does.
fn hold(mut holder: Holder<'_>, mut work: impl FnMut(u32)) {
    loop {
        work(holder.take());
        match holder.leave() {
            Ok(()) => return,
            Err(again) => holder = again,
        }
    }
}

#[test]
fn what_permits_add_is_taken_once() {
    explore("cell-window", || {
        let window = Arc::new(OpenWindow::new(AT_ONCE));
        window.add_success(200, 0);
        let thread = {
            let window = Arc::clone(&window);
            thread::spawn(move || window.add_success(100, 0).successes)
        };
        let first = window.take();
        let counted = thread.join().unwrap();
        assert!(counted == 1 || counted == 2);
        let all = [first, window.take()];
        assert_eq!(all[0].successes + all[1].successes, 2);
        assert_eq!(all[0].rtt_sum + all[1].rtt_sum, 300);
        assert_eq!(all[0].rtt_min.min(all[1].rtt_min), 100);
    });
}

#[test]
fn two_that_add_at_once_are_both_in_the_sums() {
    explore("cell-adders", || {
        let window = Arc::new(OpenWindow::new(AT_ONCE));
        let thread = {
            let window = Arc::clone(&window);
            thread::spawn(move || window.add_success(100, 0))
        };
        window.add_success(200, 0);
        thread.join().unwrap();
        let sums = window.take();
        assert_eq!((sums.successes, sums.rtt_sum, sums.rtt_min), (2, 300, 100));
    });
}

/// Everything but the gate is relaxed: only the gate keeps two holders apart, shows one what the other
/// learned, and shows whoever takes a bit what was stored before it was left.
#[test]
fn holders_come_one_after_the_other_and_leave_no_work_behind() {
    explore("cell-gate", || {
        let shared = Arc::new((
            Gate::new(),
            [AtomicU32::new(0), AtomicU32::new(0)],
            <[AtomicU32; 1] as Cells<[u32; 1]>>::zero(),
        ));
        let work = |bits: u32, own: usize| {
            let shared = Arc::clone(&shared);
            move || {
                let (gate, wishes, state) = &*shared;
                wishes[own].store(1 << own, Relaxed);
                if let Some(holder) = gate.enter(bits) {
                    hold(holder, |pending| {
                        let [mut learned] = state.load();
                        for (bit, wish) in [DUE, SET].into_iter().zip(wishes) {
                            if pending & bit != 0 {
                                learned += wish.load(Relaxed);
                            }
                        }
                        state.store([learned]);
                    });
                }
            }
        };
        let thread = thread::spawn(work(SET, 1));
        work(DUE, 0)();
        thread.join().unwrap();
        let (gate, _, state) = &*shared;
        assert_eq!(state.load(), [3], "a wish that was left was not seen once");
        assert_eq!((gate.read().cuts(), gate.read().pending()), (0, false));
        assert!(gate.enter(0).is_some(), "the gate is open at the end");
    });
}

/// Whoever finds the gate taken leaves it as it is, so that the next to come finds it taken too.
#[test]
fn two_are_never_inside_however_often_they_come() {
    explore("cell-gate-twice", || {
        let shared = Arc::new((Gate::new(), AtomicU32::new(0)));
        let come = |shared: &(Gate, AtomicU32)| {
            let (gate, inside) = shared;
            if let Some(holder) = gate.enter(DUE) {
                hold(holder, |_| {
                    assert_eq!(inside.swap(1, Relaxed), 0, "two are inside");
                    inside.store(0, Relaxed);
                });
            }
        };
        let thread = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                come(&shared);
                come(&shared);
            })
        };
        come(&shared);
        thread.join().unwrap();
        assert_eq!(
            (shared.0.read().cuts(), shared.0.read().pending()),
            (0, false)
        );
    });
}

/// An interrupt marks, a thread works: the mark is seen by the thread that is inside or by the next.
#[test]
fn what_was_stored_before_a_mark_is_seen_by_whoever_takes_it() {
    explore("cell-mark", || {
        let shared = Arc::new((Gate::new(), AtomicU32::new(0)));
        let marker = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.1.store(7, Relaxed);
                shared.0.mark(SET);
            })
        };
        let (gate, wanted) = &*shared;
        let mut seen = 0;
        let look = |seen: &mut u32| {
            if let Some(holder) = gate.enter(0) {
                hold(holder, |pending| {
                    if pending & SET != 0 {
                        *seen = wanted.load(Relaxed);
                    }
                });
            }
        };
        look(&mut seen);
        marker.join().unwrap();
        look(&mut seen);
        assert_eq!(seen, 7, "the wish that the bit announced");
    });
}

#[test]
fn inflight_and_limit_are_conserved_under_release_acquire_and_shrink() {
    explore("cell-admission", || {
        let word = Arc::new(Admission::new(2));
        word.acquire(Arrival::Newcomer).unwrap();
        let setter = {
            let word = Arc::clone(&word);
            thread::spawn(move || word.set_limit(1))
        };
        let newcomer = {
            let word = Arc::clone(&word);
            thread::spawn(move || match word.acquire(Arrival::Newcomer) {
                Ok(after) => {
                    assert!(after.inflight() <= after.limit());
                    word.release(1);
                }
                Err(seen) => assert!(seen.inflight() >= seen.limit()),
            })
        };
        word.release(1);
        assert!(setter.join().unwrap().is_some());
        newcomer.join().unwrap();
        let end = word.load();
        assert_eq!((end.inflight(), end.limit(), end.waiting()), (0, 1, false));
    });
}
