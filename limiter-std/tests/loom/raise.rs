//! A limit that rises while others wait, and nobody releases anything.

use crate::support::{Modelled, assert_idle, check, limiter, queued, with_law};
use core::time::Duration;
use limiter_std::law::{Decision, Law, Reason, Window};
use limiter_std::{Config, Outcome, Timestamp};
use loom::{future::block_on, thread};

/// Catches: a set limit that does not serve the queue.
#[test]
fn a_raised_limit_reaches_a_thread_that_is_just_joining_the_queue() {
    check("raise meets join", || {
        let limiter = limiter(1);
        let held = limiter.try_acquire().expect("nothing is in flight");
        let waiter = waiter(&limiter);
        limiter.set_limit(2).expect("within the bounds");
        drop((held, waiter.join().expect("no panic")));
        assert_idle(&limiter, 2);
    });
}

/// Catches: one waiter served for a limit raised by two.
#[test]
fn a_limit_raised_by_two_lets_in_one_who_waits_and_one_who_is_just_joining() {
    check("raise by two", || {
        let limiter = limiter(1);
        let held = limiter.try_acquire().expect("nothing is in flight");
        let first = queued(&limiter);
        let second = waiter(&limiter);
        limiter.set_limit(3).expect("within the bounds");
        let permits = (block_on(first), second.join().expect("no panic"));
        drop((held, permits));
        assert_idle(&limiter, 3);
    });
}

/// Takes a slot and keeps it until the thread is joined: what it gives back must not help the others.
fn waiter<L: Law + Send + Sync + 'static>(
    limiter: &Modelled<L>,
) -> thread::JoinHandle<limiter_std::Permit<L, crate::support::Still>> {
    let limiter = limiter.clone();
    thread::spawn(move || limiter.acquire().expect("not closed"))
}

/// One more after every window.
#[derive(Clone, Copy, Debug)]
struct Growing;

impl Law for Growing {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], window: &Window) -> Decision {
        Decision::new(window.limit + 1, Reason::Grew)
    }
}

/// Catches: a window that raises the limit without serving the queue.
#[test]
fn a_law_that_raises_the_limit_reaches_a_thread_that_is_just_joining_the_queue() {
    check("law meets join", || {
        let config = Config::new(Growing)
            .initial(1)
            .min_samples(1)
            .windows(Duration::ZERO, Duration::from_secs(1));
        let limiter = with_law(config);
        let hold = limiter
            .try_acquire()
            .expect("nothing is in flight")
            .into_hold();
        let waiter = waiter(&limiter);
        assert!(hold.record(Outcome::Success, Timestamp::from_ticks(1 << 20)));
        waiter.join().expect("no panic").forget();
        drop(hold);
        assert_idle(&limiter, 2);
    });
}
