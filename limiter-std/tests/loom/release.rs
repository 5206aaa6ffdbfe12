//! A release while others come to wait.

use crate::support::{assert_idle, check, limiter};
use loom::thread;

/// Catches: the last try before the waiting bit is set; the bit cleared while somebody waits; a release
/// that does not serve the queue.
#[test]
fn a_release_reaches_a_thread_that_is_just_joining_the_queue() {
    check("release meets join", || {
        let limiter = limiter(1);
        let held = limiter.try_acquire().expect("nothing is in flight");
        let waiter = {
            let limiter = limiter.clone();
            thread::spawn(move || drop(limiter.acquire().expect("not closed")))
        };
        drop(held);
        waiter.join().expect("no panic");
        assert_idle(&limiter, 1);
    });
}
