//! Partitions: what all words let in together, and what is booked for them.

use super::{NOW, explore, explore_bounded};
use core::time::Duration;
use limiter_core::law::Fixed;
use limiter_core::{Config, Guarantee, Partitioned, Request, Seat, TickRate, Timestamp};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use loom::thread;

const OWNER: Request = Request::new().partition(0);
const OTHERS: Request = Request::new();

type Store = Partitioned<1, Fixed>;

/// Half of the limit is guaranteed, and booked.
fn half(limit: u32, guarantee: Guarantee) -> Arc<Store> {
    let config = Config::new(Fixed, TickRate::MILLIS).initial(limit).max(8);
    let store = Store::new(config, [guarantee]);
    store.balance();
    Arc::new(store)
}

fn booked(store: &Store) -> u32 {
    store.limiter().snapshot().inflight
}

/// Frees all, and finds that no slot was lost or made.
fn end(store: &Store, seats: impl IntoIterator<Item = Seat>) {
    for seat in seats {
        let _ = store.release(seat);
    }
    store.balance();
    let (all, own) = (store.limiter().snapshot(), store.partition(0).unwrap());
    assert_eq!((own.inflight, own.pooled), (0, 0));
    assert!(own.lent || own.quota == all.limit / 2);
    assert_eq!(all.inflight, own.quota, "booked at the end");
}

#[test]
fn an_own_slot_is_held_by_one_and_passes_on_what_was_written() {
    explore("partition-exclusion", || {
        let store = half(2, Guarantee::of(500));
        let pooled = store.admit(&OTHERS, NOW).unwrap();
        let data = Arc::new(AtomicU32::new(0));
        let come = |store: &Store, data: &AtomicU32| match store.admit(&OWNER, NOW) {
            Ok(seat) => {
                assert!(seat.is_own());
                let seen = data.load(Relaxed);
                data.store(seen + 1, Relaxed);
                let _ = store.release(seat);
                1
            }
            Err(_) => 0,
        };
        let thread = {
            let (store, data) = (Arc::clone(&store), Arc::clone(&data));
            thread::spawn(move || come(&store, &data))
        };
        let here = come(&store, &data);
        let admitted = here + thread.join().unwrap();
        assert!(admitted >= 1);
        assert_eq!(data.load(Relaxed), admitted);
        end(&store, [pooled]);
    });
}

#[test]
fn own_slots_and_those_for_everybody_are_within_a_limit_that_grows() {
    explore_bounded("partition-grows", 2, || {
        let store = half(1, Guarantee::of(500));
        let held = store.admit(&OTHERS, NOW).unwrap();
        let others = {
            let store = Arc::clone(&store);
            thread::spawn(move || store.admit(&OTHERS, NOW).ok())
        };
        store.limiter().set_limit(2, NOW).unwrap();
        let own = store.admit(&OWNER, NOW).ok();
        let seats: Vec<_> = own.into_iter().chain(others.join().unwrap()).collect();
        assert!(seats.len() <= 1, "two and one of two");
        end(&store, seats.into_iter().chain([held]));
    });
}

#[test]
fn an_own_release_beside_a_shrink_gives_back_what_is_beyond_the_quota() {
    explore_bounded("partition-shrinks", 3, || {
        let store = half(4, Guarantee::of(500));
        let [first, second] = [0, 1].map(|_| store.admit(&OWNER, NOW).unwrap());
        let thread = {
            let store = Arc::clone(&store);
            thread::spawn(move || store.release(first))
        };
        store.limiter().set_limit(2, NOW).unwrap();
        store.balance();
        thread.join().unwrap();
        assert_eq!(booked(&store), 1, "one that is in flight, one of one");
        end(&store, [second]);
    });
}

#[test]
fn one_who_waits_is_told_of_beside_a_release_that_ends_what_was_beyond_the_quota() {
    explore_bounded("partition-heeds", 3, || {
        let store = half(4, Guarantee::of(500));
        let [first, second] = [0, 1].map(|_| store.admit(&OWNER, NOW).unwrap());
        store.limiter().set_limit(2, NOW).unwrap();
        store.balance();
        let thread = {
            let store = Arc::clone(&store);
            thread::spawn(move || store.release(first))
        };
        store.set_waiting(&OWNER);
        thread.join().unwrap();
        assert!(store.release(second).wake());
        store.clear_waiting(0);
        store.limiter().clear_waiting();
        let newcomer = store.admit(&OWNER, NOW).unwrap();
        assert!(newcomer.is_own());
        end(&store, [newcomer]);
    });
}

#[test]
fn own_slots_are_within_a_quota_that_shrinks() {
    explore_bounded("partition-admits", 2, || {
        let store = half(4, Guarantee::of(500));
        let first = store.admit(&OWNER, NOW).unwrap();
        let thread = {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                store.limiter().set_limit(2, NOW).unwrap();
                store.balance();
            })
        };
        let second = store.admit(&OWNER, NOW).ok();
        thread.join().unwrap();
        let own = store.partition(0).unwrap();
        assert_eq!(own.quota, 1);
        assert_eq!(booked(&store), own.inflight + own.pooled, "all is in use");
        assert!(
            booked(&store) <= 2,
            "the second was of four, and the first left none of two"
        );
        end(&store, second.into_iter().chain([first]));
    });
}

#[test]
fn what_was_lent_is_granted_again_only_as_borrowers_leave() {
    explore_bounded("partition-lent", 2, || {
        let store = half(4, Guarantee::of(500).lend_after(Duration::from_millis(1)));
        let mut seats = Vec::new();
        // It starts to look, and lends one of two when another partition's request would be refused.
        for now in [10, 20, 30] {
            let now = Timestamp::from_ticks(now);
            while let Ok(seat) = store.admit(&OTHERS, now) {
                seats.push(seat);
            }
        }
        assert_eq!(seats.len(), 3);
        seats.push(store.admit(&OWNER, NOW).unwrap());
        let borrower = seats.remove(0);
        let thread = {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                let _ = store.release(borrower);
                store.admit(&OTHERS, NOW).ok()
            })
        };
        let own = store.admit(&OWNER, NOW).ok();
        let other = thread.join().unwrap();
        seats.extend(own.into_iter().chain(other));
        assert!(seats.len() <= 4, "{} of four", seats.len());
        end(&store, seats);
    });
}
