//! What allocates: a hold, and a queue that grows. Nothing else.

mod common;

use common::{Fixture, Taken, fixed, poll};
use limiter_std::Outcome;
use std::task::Waker;
use std::time::Duration;

/// How often `work` allocates on this thread.
fn allocations(work: impl FnMut()) -> u64 {
    allocation_counter::measure(work).count_total
}

#[test]
fn taking_a_slot_and_giving_it_back_allocates_nothing() {
    let (limiter, _) = fixed(2);
    let ways: [fn(&Fixture) -> Taken; 3] = [
        |limiter| limiter.try_acquire().unwrap(),
        |limiter| limiter.acquire().unwrap(),
        |limiter| limiter.acquire_timeout(Duration::MAX).unwrap(),
    ];
    for way in ways {
        // The first wait of a thread makes its waker.
        drop(way(&limiter));
        assert_eq!(allocations(|| way(&limiter).finish(Outcome::Success)), 0);
        assert_eq!(allocations(|| drop(way(&limiter))), 0);
    }
    assert_eq!(
        allocations(|| drop(limiter.try_acquire().unwrap().into_hold())),
        1
    );
    assert_eq!(
        allocations(|| assert!(poll(&mut limiter.acquire_async(), Waker::noop()).is_ready())),
        0
    );
}

#[test]
fn a_refusal_allocates_nothing() {
    let (limiter, _) = fixed(1);
    let _held = limiter.try_acquire().unwrap();
    assert_eq!(allocations(|| assert!(limiter.try_acquire().is_err())), 0);
}

#[test]
fn waiting_allocates_only_while_the_queue_becomes_longer_than_it_ever_was() {
    let (limiter, _) = fixed(1);
    let wait = |waiters: usize| {
        let held = limiter.try_acquire().unwrap();
        let mut waiting: Vec<_> = (0..waiters).map(|_| limiter.acquire_async()).collect();
        let count = allocations(|| {
            for future in &mut waiting {
                assert!(poll(future, Waker::noop()).is_pending());
                assert!(poll(future, Waker::noop()).is_pending());
            }
        });
        // Half of them go away, the others are served one after the other.
        waiting.truncate(waiters / 2);
        let served = allocations(|| limiter.set_limit(100).unwrap());
        assert_eq!(served, 0);
        drop((held, waiting));
        limiter.set_limit(1).unwrap();
        count
    };
    assert_ne!(wait(50), 0);
    assert_eq!(wait(50), 0);
    assert_eq!(wait(20), 0);

    let _held = limiter.try_acquire().unwrap();
    let block = || assert!(limiter.acquire_timeout(Duration::ZERO).is_err());
    block();
    assert_eq!(allocations(block), 0);
}
