//! A slot that two threads share.

use crate::support::{assert_idle, check, limiter};
use limiter_std::Outcome;
use loom::thread;

/// Catches: an outcome that counts twice.
#[test]
fn of_two_threads_that_record_an_outcome_one_does() {
    check("record meets record", || {
        let limiter = limiter(1);
        let hold = limiter
            .try_acquire()
            .expect("nothing is in flight")
            .into_hold();
        let other = {
            let hold = hold.clone();
            thread::spawn(move || hold.record(Outcome::Overload, hold.now()))
        };
        let mine = hold.record(Outcome::Overload, hold.now());
        drop(hold);
        let others = other.join().expect("no panic");
        assert!(mine != others, "by both or by none");
        assert_eq!(limiter.snapshot().window_overloads, 1);
        assert_idle(&limiter, 1);
    });
}
