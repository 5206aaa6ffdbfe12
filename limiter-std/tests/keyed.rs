//! A limiter for each key: how many there are, and which of them go.

mod common;

use common::{Count, poll};
use limiter_std::law::{Decision, Fixed, Law, Reason, Window};
use limiter_std::{
    Config, Guarantee, KeyRefused, Keyed, Limiter, MAX_KEYS, ManualClock, Partitions, Priority,
    RejectReason, Request,
};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::Duration;

type Table = Keyed<u64, Fixed, ManualClock>;

fn table(keys: u32) -> Table {
    let config = Config::new(Fixed).initial(1);
    Keyed::with_clock(config, keys, ManualClock::new()).expect("a configuration that works")
}

fn has(table: &Table, key: u64) -> bool {
    table.limiters().iter().any(|(other, _)| *other == key)
}

#[test]
fn each_key_has_a_limit_of_its_own_and_keeps_it() {
    let table = table(10);
    let held = table.try_acquire(1).expect("nothing is in flight");
    assert!(matches!(table.try_acquire(1), Err(KeyRefused::Rejected(_))));
    assert!(table.try_acquire(2).is_ok());
    drop(held);
    assert!(table.try_acquire(1).is_ok());
    assert_eq!(table.len(), 2);
}

#[test]
fn the_idle_key_that_was_asked_for_least_recently_goes_first() {
    let table = table(3);
    for key in [1, 2, 3, 1] {
        table.get(key).expect("there is place");
    }
    table.get(4).expect("one is idle");
    assert_eq!(
        [1, 2, 3, 4].map(|key| has(&table, key)),
        [true, false, true, true]
    );
}

#[test]
fn a_key_with_a_permit_a_waiter_or_a_handle_out_never_goes() {
    let table = table(3);
    let permit = table.try_acquire(1).expect("nothing is in flight");
    let handle = table.get(2).expect("there is place");
    let held = table
        .get(3)
        .unwrap()
        .acquire()
        .expect("nothing is in flight");
    let mut waiting = table.get(3).unwrap().acquire_async();
    let (_, waker) = Count::new();
    assert!(poll(&mut waiting, &waker).is_pending());
    held.forget();
    for key in 10..100 {
        let busy = table.get(key).expect_err("all are in use");
        assert_eq!(busy.keys, 3);
        assert!(matches!(
            table.try_acquire(key),
            Err(KeyRefused::KeysBusy(_))
        ));
    }
    drop(handle);
    table.get(10).expect("one is idle now");
    assert_eq!([1, 2, 3].map(|key| has(&table, key)), [true, false, true]);
    drop(waiting);
    drop(permit);
    for key in 20..23 {
        table.get(key).expect("all are idle");
    }
    assert!(!has(&table, 1) && !has(&table, 3));
}

#[test]
fn f101_a_million_keys_take_no_more_memory_than_ten_thousand_and_leave_those_in_flight() {
    let table = table(10_000);
    let held: Vec<_> = (0..100)
        .map(|key| table.try_acquire(key).expect("idle"))
        .collect();
    for key in 1_000..1_001_000 {
        table.get(key).expect("nearly all are idle");
        if key % 100_000 == 0 {
            assert!(table.len() <= 10_000);
        }
    }
    assert_eq!(table.len(), 10_000);
    assert!(
        (0..100).all(|key| table.try_acquire(key).is_err()),
        "in flight all the time"
    );
    drop(held);
}

#[test]
fn a_size_of_zero_or_beyond_all_measure_and_a_bad_limit_are_errors_when_the_table_is_made() {
    for keys in [0, MAX_KEYS + 1] {
        let made = Keyed::<u64, _>::try_new(Config::new(Fixed), keys);
        assert_eq!(made.unwrap_err().field(), "keys");
    }
    let made = Keyed::<u64, _>::try_new(Config::new(Fixed).min(0), 1);
    assert_eq!(made.unwrap_err().field(), "min");
}

#[test]
fn threads_that_fight_for_few_places_never_have_two_limiters_of_one_key_at_work() {
    const KEYS: u64 = 16;
    let table = table(8);
    let at_work: [AtomicUsize; KEYS as usize] = Default::default();
    thread::scope(|scope| {
        for seed in 0..4 {
            let (table, at_work) = (&table, &at_work);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                for _ in 0..50_000 {
                    let key = random.u64(..KEYS);
                    if let Ok(permit) = table.try_acquire(key) {
                        let count = &at_work[key as usize];
                        assert_eq!(count.fetch_add(1, Ordering::Relaxed), 0, "limit 1");
                        if random.bool() {
                            thread::yield_now();
                        }
                        count.fetch_sub(1, Ordering::Relaxed);
                        permit.forget();
                    }
                }
            });
        }
    });
    assert!(table.len() <= 8);
    let idle = |(_, limiter): &(u64, Limiter<Fixed, ManualClock>)| limiter.snapshot().inflight == 0;
    assert!(table.limiters().iter().all(idle));
}

#[test]
fn a_borrowed_key_leads_to_the_limiter_of_the_owned_one_and_is_owned_only_when_it_is_new() {
    let config = Config::new(Fixed).initial(1);
    let tenants: Keyed<String, Fixed> = Keyed::try_new(config, 10).unwrap();
    let held = tenants.get_by("acme").unwrap().try_acquire().unwrap();
    assert!(tenants.try_acquire(String::from("acme")).is_err());
    assert!(tenants.get_by("acme").unwrap().try_acquire().is_err());
    assert_eq!(tenants.len(), 1);
    drop(held);
    assert!(tenants.try_acquire(String::from("acme")).is_ok());
}

#[test]
fn a_request_of_a_key_says_what_it_is() {
    let table = table(10);
    table.get(1).unwrap().set_limit(10).unwrap();
    let batch = Request::new().priority(Priority::Batch).weight(7);
    let _held = table.try_acquire_for(1, batch).unwrap();
    let refused = |refused| match refused {
        Err(KeyRefused::Rejected(rejected)) => rejected.reason,
        _ => panic!("let in"),
    };
    assert_eq!(
        refused(table.try_acquire_for(1, batch)),
        RejectReason::TooFewFree(7)
    );
    let light = batch.weight(1);
    assert_eq!(
        refused(table.try_acquire_for(1, light)),
        RejectReason::ShareTaken
    );
    let none = Duration::ZERO;
    assert_eq!(
        refused(table.acquire_timeout_for(1, light, none)),
        RejectReason::TimedOut
    );
    assert!(
        table
            .acquire_timeout_for(1, light.priority(Priority::Critical), none)
            .is_ok()
    );
}

#[test]
fn all_limiters_go_by_another_configuration_those_that_there_are_and_those_that_come() {
    let table = table(1_000);
    let first = table.get(1).unwrap();
    first.set_limit(7).unwrap();
    let config = Config::new(Fixed).initial(20).min(5);
    table.reconfigure(&config).unwrap();
    let limits = |key| {
        let seen = table.get(key).unwrap().snapshot();
        (seen.limit, seen.min)
    };
    assert_eq!(limits(1), (7, 5), "what was learned");
    assert_eq!(limits(2), (20, 5));
    assert!(table.reconfigure(&config.max(0)).is_err());
    assert_eq!((limits(1), limits(3)), ((7, 5), (20, 5)), "nothing changed");
}

/// A law that asks for a new key while it is compared.
#[derive(Clone, Copy, Debug)]
struct Asking;

static ASKED: OnceLock<Keyed<u64, Asking>> = OnceLock::new();
static REFUSED: AtomicUsize = AtomicUsize::new(0);

impl Law for Asking {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], window: &Window) -> Decision {
        Decision::new(window.limit, Reason::HeldSteady)
    }

    fn goes_on_from(&self, _: &Self) -> bool {
        let table = ASKED.get().expect("it is there");
        let refused = table.get(100).is_err();
        REFUSED.fetch_add(usize::from(refused), Ordering::Relaxed);
        true
    }
}

/// Nobody has a permit, a handle or a wait.
#[test]
fn a_new_key_makes_place_for_itself_while_all_limiters_are_changed() {
    let config = Config::new(Asking);
    let table = ASKED.get_or_init(|| Keyed::try_new(config, 4).expect("it works"));
    for key in 0..4 {
        table.get(key).expect("there is place");
    }
    table.reconfigure(&config.max(20)).expect("it works");
    assert_eq!(REFUSED.load(Ordering::Relaxed), 0);
    assert!(table.limiters().iter().any(|(key, _)| *key == 100));
}

#[test]
fn of_two_who_reconfigure_at_once_one_has_the_last_word_with_all_keys() {
    let table = table(256);
    for key in 0..200 {
        table.get(key).unwrap();
    }
    for round in 0..50 {
        let start = Barrier::new(2);
        thread::scope(|scope| {
            for min in [2, 3] {
                let (table, start) = (&table, &start);
                scope.spawn(move || {
                    start.wait();
                    for max in 20..40 {
                        let config = Config::new(Fixed).min(min).max(max);
                        table.reconfigure(&config).unwrap();
                    }
                });
            }
        });
        let mins: BTreeSet<_> = (0..201)
            .map(|key| table.get(key).unwrap().snapshot().min)
            .collect();
        assert_eq!(mins.len(), 1, "round {round}: {mins:?}");
    }
}

#[test]
fn every_key_has_the_same_partitions_and_quotas_of_its_own() {
    let of = |share| Partitions::new().partition("writes", Guarantee::of(share));
    let config = Config::new(Fixed).initial(10);
    let table: Keyed<u64, Fixed> = Keyed::partitioned(config, of(300), 10).unwrap();
    let writes = table.partition("writes").unwrap();
    assert_eq!(table.partition("reads").unwrap_err().known.len(), 1);
    let write = Request::new().partition(writes);
    let _held = table.try_acquire_for(1, write).unwrap();
    let quota = |key| table.get(key).unwrap().partitions()[0].seen.quota;
    assert_eq!((quota(1), quota(2)), (3, 3));
    table.set_partitions(&of(500)).unwrap();
    assert_eq!((quota(1), quota(2), quota(3)), (5, 5, 5));
    assert!(table.set_partitions(&of(901)).is_err());
    assert!(
        table
            .set_partitions(&of(100).partition("reads", Guarantee::NONE))
            .is_err()
    );
    assert_eq!((quota(1), quota(4)), (5, 5));
}
