//! Waiters of partitions, whose own slots are in words of their own.

use crate::support::{Modelled, Still, assert_idle, check_bounded, poll, queued};
use limiter_std::law::Fixed;
use limiter_std::{Config, Guarantee, Limiter, Partitions, Request};
use loom::thread;

/// Two slots, of which so many thousandths are for writes.
fn parted(guarantee: u16) -> (Modelled, Request) {
    let partitions = Partitions::new().partition("writes", Guarantee::of(guarantee));
    let config = Config::new(Fixed).initial(2).without_longest_wait();
    let limiter = Limiter::partitioned_with_clock(config, &partitions, Still);
    let limiter = limiter.expect("a configuration that works");
    let writes = limiter.partition("writes").expect("a name that there is");
    (limiter, Request::new().partition(writes))
}

/// Catches: a waiter that is not announced where its partition's own slots are freed.
///
/// With three preemptions the threads meet at any one step.
#[test]
fn a_release_of_an_own_slot_reaches_a_thread_of_its_partition_that_is_just_joining_the_queue() {
    check_bounded("own release meets join", Some(3), || {
        let (limiter, write) = parted(500);
        let own = limiter.try_acquire_for(write).expect("its own");
        let pool = limiter.try_acquire().expect("for everybody");
        let waiter = {
            let limiter = limiter.clone();
            thread::spawn(move || drop(limiter.acquire_for(write).expect("not closed")))
        };
        own.forget();
        // While what is for everybody is taken.
        waiter.join().expect("no panic");
        pool.forget();
        assert_idle(&limiter, 2);
    });
}

/// Catches: quotas that are set without serving the queue.
#[test]
fn a_quota_that_is_given_up_reaches_a_thread_that_is_just_joining_the_queue() {
    check_bounded("quota meets join", Some(3), || {
        let (limiter, _) = parted(500);
        let pool = limiter.try_acquire().expect("for everybody");
        let waiter = {
            let limiter = limiter.clone();
            thread::spawn(move || drop(limiter.acquire().expect("not closed")))
        };
        let none = Partitions::new().partition("writes", Guarantee::NONE);
        limiter.set_partitions(&none).expect("nothing");
        waiter.join().expect("no panic");
        pool.forget();
        assert_idle(&limiter, 2);
    });
}

/// Catches: a newcomer that changes the quotas in another's stead, and serves nobody after it.
#[test]
fn a_quota_that_is_given_up_while_a_newcomer_balances_reaches_who_waits() {
    check_bounded("quota meets newcomer", Some(1), || {
        let (limiter, write) = parted(0);
        let held = [(); 2].map(|()| limiter.try_acquire().expect("for everybody"));
        let half = Partitions::new().partition("writes", Guarantee::of(500));
        // Owed, for two are in flight.
        limiter.set_partitions(&half).expect("a half");
        let mut waiter = queued(&limiter);
        let [one, two] = held;
        one.forget();
        let setter = {
            let limiter = limiter.clone();
            thread::spawn(move || {
                let none = Partitions::new().partition("writes", Guarantee::NONE);
                limiter.set_partitions(&none).expect("nothing");
            })
        };
        let entered = limiter.try_acquire_for(write);
        setter.join().expect("no panic");
        assert!(entered.is_ok() || poll(&mut waiter).is_ready());
        drop((waiter, entered));
        two.forget();
        assert_idle(&limiter, 2);
    });
}
