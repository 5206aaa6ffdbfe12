//! A user's own code under the model checker: a limiter in front of a pool with one connection.
//!
//! The library is built with `--cfg limiter_loom` and the feature `loom`, the user's atomics are loom's; everything
//! else is as always, but for constructors, which are not `const` then.

use super::{NOW, eager, explore, later};
use limiter_core::law::Fixed;
use limiter_core::{Limiter, Outcome};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

/// The limit is the number of connections, so whoever has a slot finds one.
struct Pool {
    limiter: Limiter<Fixed>,
    connection: AtomicBool,
}

impl Pool {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            limiter: eager(Fixed, 1),
            connection: AtomicBool::new(true),
        })
    }

    fn query(&self, put_back_first: bool) {
        let Ok(permit) = self.limiter.try_acquire(NOW) else {
            return;
        };
        // Relaxed: what the last holder did is seen by whoever has its slot.
        let there = self.connection.load(Ordering::Relaxed);
        assert!(there, "a slot, and no connection");
        self.connection.store(false, Ordering::Relaxed);
        if put_back_first {
            self.connection.store(true, Ordering::Relaxed);
            permit.finish(Outcome::Success, later());
        } else {
            permit.finish(Outcome::Success, later());
            self.connection.store(true, Ordering::Relaxed);
        }
    }
}

fn two_queries(name: &str, put_back_first: bool) {
    explore(name, move || {
        let pool = Pool::new();
        let other = Arc::clone(&pool);
        let thread = thread::spawn(move || other.query(put_back_first));
        pool.query(put_back_first);
        thread.join().unwrap();
        assert_eq!(pool.limiter.snapshot().inflight, 0);
    });
}

#[test]
fn a_connection_that_is_put_back_before_its_slot_is_free_is_there_for_the_next() {
    two_queries("users-pool", true);
}

#[test]
#[should_panic = "a slot, and no connection"]
fn the_model_checker_finds_a_slot_that_is_freed_before_its_connection_is_put_back() {
    two_queries("users-pool-wrong", false);
}
