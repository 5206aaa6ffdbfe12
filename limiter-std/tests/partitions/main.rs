//! Partitions by name: whose turn it is, what a guarantee keeps, and what is reported. Polled by hand.

#[path = "../common/mod.rs"]
mod common;
mod model;
mod served;

use common::{Fixture, Taken, Task, poll};
use limiter_std::law::Fixed;
use limiter_std::{
    Config, Guarantee, Limiter, ManualClock, Outcome, PartitionError, Partitions, Priority,
    RejectReason, Request, Shares,
};
use std::task::Poll;
use std::time::Duration;

fn parted(limit: u32, guarantees: &[(&'static str, Guarantee)]) -> (Fixture, ManualClock) {
    let clock = ManualClock::new();
    let partitions = guarantees
        .iter()
        .fold(Partitions::new(), |all, (name, each)| {
            all.partition(*name, *each)
        });
    let config = Config::new(Fixed).initial(limit);
    let limiter = Limiter::partitioned_with_clock(config, &partitions, clock.clone());
    (limiter.expect("a configuration that works"), clock)
}

/// Ten slots, of which three are for writes.
fn store() -> Fixture {
    let guarantees = [("reads", Guarantee::NONE), ("writes", Guarantee::of(300))];
    parted(10, &guarantees).0
}

fn of(limiter: &Fixture, name: &str) -> Request {
    Request::new().partition(limiter.partition(name).expect("a name that there is"))
}

fn fill(limiter: &Fixture, name: &str) -> Vec<Taken> {
    let request = of(limiter, name);
    std::iter::from_fn(|| limiter.try_acquire_for(request).ok()).collect()
}

fn assert_idle(limiter: &Fixture) {
    let seen = limiter.snapshot();
    assert_eq!((seen.inflight, seen.waiting), (0, false));
    assert_eq!(limiter.queued(), 0);
    for partition in limiter.partitions() {
        assert_eq!((partition.seen.inflight, partition.seen.pooled), (0, 0));
    }
}

#[test]
fn an_unknown_name_is_an_error_that_lists_the_names() {
    let error = store().partition("write").unwrap_err();
    let said = "no partition \"write\"; there are \"reads\", \"writes\"";
    assert_eq!(error.to_string(), said);
    let error = Fixture::with_clock(Config::new(Fixed), ManualClock::new())
        .expect("the defaults work")
        .partition("reads")
        .unwrap_err();
    assert_eq!(error.to_string(), "no partition \"reads\"; there are none");
}

#[test]
fn a_partition_of_another_limiter_is_refused_where_there_is_none_of_its_place() {
    let other = parted(10, &[("only", Guarantee::NONE)]).0;
    let writes = of(&store(), "writes");
    let refused = other.try_acquire_for(writes).unwrap_err();
    assert_eq!(refused.reason, RejectReason::NoSuchPartition);
    let mut waiting = Task::of(other.acquire_async_for(writes));
    assert!(matches!(waiting.poll(), Poll::Ready(Err(_))), "never waits");
    assert_idle(&other);
}

#[test]
fn too_many_partitions_and_guarantees_that_leave_nothing_for_everybody_are_errors() {
    let refused = |partitions: &Partitions| {
        let limiter = Limiter::partitioned(Config::new(Fixed), partitions);
        limiter.unwrap_err().to_string()
    };
    let many = (0..17).fold(Partitions::new(), |all, index| {
        all.partition(index.to_string(), Guarantee::NONE)
    });
    assert_eq!(refused(&many), "partitions = 17: allowed are 0 to 16");
    let much = Partitions::new()
        .partition("a", Guarantee::of(500))
        .partition("b", Guarantee::of(401));
    let said = "guarantees together = 901: allowed are 0 to 900";
    assert_eq!(refused(&much), said);
}

#[test]
fn a_guarantee_is_free_whatever_the_others_take_and_its_idle_slots_are_not_in_flight() {
    let store = store();
    assert_eq!(store.snapshot().inflight, 0);
    let reads = fill(&store, "reads");
    assert_eq!((reads.len(), store.snapshot().inflight), (7, 7));
    assert!(store.try_acquire().is_err(), "one of no partition");
    let seen = store.snapshot();
    assert_eq!((seen.idle, seen.utilisation()), (3, 1_000));
    assert!(seen.is_nearly_full());
    let writes = fill(&store, "writes");
    assert_eq!((writes.len(), store.snapshot().inflight), (3, 10));
    drop((reads, writes));
    assert_idle(&store);
}

#[test]
fn a_permit_goes_back_to_where_it_is_from_on_every_way_out() {
    let store = store();
    for _ in 0..3 {
        let mut held = fill(&store, "writes");
        assert_eq!(held.len(), 10, "three of its own, seven of everybody's");
        held.drain(..2)
            .for_each(|permit| permit.finish(Outcome::Success));
        held.drain(..2).for_each(Taken::forget);
        held.drain(..2).for_each(|permit| drop(permit.into_hold()));
        drop(held);
        assert_idle(&store);
    }
}

#[test]
fn reads_that_are_well_do_not_hide_writes_that_fail() {
    let store = store();
    for _ in 0..20 {
        let read = store.try_acquire_for(of(&store, "reads")).unwrap();
        read.finish(Outcome::Success);
    }
    let write = || store.try_acquire_for(of(&store, "writes")).unwrap();
    write().finish(Outcome::Failure);
    write().finish(Outcome::Overload);
    write().into_hold().record(Outcome::Success, store.now());
    drop(write());
    let _all = fill(&store, "writes");
    let [reads, writes] = &store.partitions()[..] else {
        panic!("there are two");
    };
    assert_eq!((reads.seen.successes, reads.seen.failures), (20, 0));
    let writes = writes.seen;
    assert_eq!(
        (
            writes.successes,
            writes.failures,
            writes.overloads,
            writes.cancelled
        ),
        (1, 1, 1, 1)
    );
    assert_eq!((writes.refused, reads.seen.refused), (1, 0));
}

#[test]
fn one_who_waits_for_what_is_for_everybody_keeps_nobody_from_slots_of_their_own() {
    let store = store();
    let mut reads = fill(&store, "reads");
    let mut writes = fill(&store, "writes");
    let mut read = Task::queued_for(&store, of(&store, "reads"));
    let mut write = Task::queued_for(&store, of(&store, "writes"));
    assert_eq!(store.partitions()[1].queued, 1);
    // A write ends: its slot is for writes, although the read has waited for longer.
    drop(writes.pop());
    assert_eq!((read.woken(), write.woken()), (0, 1));
    writes.push(write.permit());
    // A read ends: its slot is for whoever came first.
    let late = Task::queued_for(&store, of(&store, "writes"));
    drop(reads.pop());
    assert_eq!((read.woken(), late.woken()), (1, 0));
    reads.push(read.permit());
    // And newcomers of a partition of which nobody waits pass.
    drop(late);
    drop(writes.pop());
    writes.push(
        store
            .try_acquire_for(of(&store, "writes"))
            .expect("its own"),
    );
    drop((reads, writes));
    assert_idle(&store);
}

#[test]
fn a_lower_class_of_a_partition_is_let_in_on_its_own_slots_past_a_higher_one_of_another() {
    let store = store();
    let reads = fill(&store, "reads");
    let mut writes = fill(&store, "writes");
    let mut critical = Task::queued_for(&store, of(&store, "reads"));
    let batch = of(&store, "writes").priority(Priority::Interactive);
    let mut batch = Task::queued_for(&store, batch);
    drop(writes.pop());
    // Nine tenths of three, rounded up, are three.
    assert_eq!((critical.woken(), batch.woken()), (0, 1));
    drop((batch.permit(), reads));
    drop(critical.permit());
    drop(writes);
    assert_idle(&store);
}

#[test]
fn a_newcomer_of_a_partition_does_not_pass_its_own_who_wait() {
    let store = store();
    let held = (fill(&store, "reads"), fill(&store, "writes"));
    let mut heavy = Task::queued_for(&store, of(&store, "writes").weight(2));
    let (reads, mut writes) = held;
    drop(writes.pop());
    assert_eq!(heavy.woken(), 0, "two do not fit yet");
    assert!(store.try_acquire_for(of(&store, "writes")).is_err());
    drop(writes.pop());
    drop((heavy.permit(), reads, writes));
    assert_idle(&store);
}

#[test]
fn quotas_change_while_running_and_who_fits_then_is_let_in() {
    let store = store();
    let writes = fill(&store, "writes");
    assert_eq!(writes.len(), 10);
    let mut read = Task::queued_for(&store, of(&store, "reads"));
    let all = |reads, writes| {
        Partitions::new()
            .partition("reads", Guarantee::of(reads))
            .partition("writes", Guarantee::of(writes))
    };
    store.set_partitions(&all(500, 300)).expect("eight tenths");
    assert_eq!(read.woken(), 0, "all ten are taken");
    drop(writes);
    drop(read.permit());
    assert_eq!(
        fill(&store, "writes").len(),
        5,
        "three, and two of everybody's"
    );

    let reads = fill(&store, "reads");
    let mut write = Task::queued_for(&store, of(&store, "writes").weight(6));
    drop(reads);
    drop(write.permit());
    let unknown = all(100, 100).partition("deletes", Guarantee::of(1));
    let before = store.partitions();
    let refused = store.set_partitions(&unknown).unwrap_err();
    assert!(matches!(&refused, PartitionError::Unknown(error) if error.name == "deletes"));
    assert!(store.set_partitions(&all(500, 401)).is_err());
    assert_eq!(store.partitions(), before, "nothing changed");
    assert_idle(&store);
}

#[test]
fn an_idle_guarantee_is_lent_and_taken_back_when_its_owner_asks() {
    let lent = Guarantee::of(500).lend_after(Duration::from_secs(1));
    let (store, clock) = parted(10, &[("reads", Guarantee::NONE), ("writes", lent)]);
    let first = fill(&store, "reads");
    assert_eq!(first.len(), 5, "nobody knows yet whether it is idle");
    clock.advance(Duration::from_secs(2));
    let borrowed = fill(&store, "reads");
    assert_eq!(borrowed.len(), 4, "one stays");
    let mut writes = fill(&store, "writes");
    let mut waits = Task::queued_for(&store, of(&store, "writes"));
    let mut read = Task::queued_for(&store, of(&store, "reads"));
    drop(borrowed);
    // What the borrowers leave goes to the owner, and what is left over to nobody else.
    writes.push(waits.permit());
    writes.extend(fill(&store, "writes"));
    assert_eq!((writes.len(), read.woken()), (5, 0));
    drop(first);
    drop(read.permit());
    drop(writes);
    assert_idle(&store);
}

/// `cancel` drops the future after its k-th poll, queued or granted.
#[test]
fn a_wait_cancelled_at_any_poll_strands_nobody_of_any_partition() {
    for name in ["reads", "writes"] {
        for polls in 0..3 {
            let store = store();
            let mut held = (fill(&store, "reads"), fill(&store, "writes"));
            let mut first = Task::of(store.acquire_async_for(of(&store, name)));
            for _ in 0..polls {
                assert!(first.poll().is_pending());
            }
            let mut next = Task::queued_for(&store, of(&store, name));
            let released = if name == "reads" {
                &mut held.0
            } else {
                &mut held.1
            };
            drop(released.pop());
            drop(first);
            drop((next.permit(), held));
            assert_idle(&store);
        }
    }
}

#[test]
fn closing_tells_those_of_every_partition() {
    let store = store();
    let held = (fill(&store, "reads"), fill(&store, "writes"));
    let mut waiting = ["reads", "writes"].map(|name| Task::queued_for(&store, of(&store, name)));
    store.close();
    for task in &mut waiting {
        assert_eq!(task.woken(), 1);
        let Poll::Ready(Err(refused)) = task.poll() else {
            panic!("not told");
        };
        assert_eq!(refused.reason, RejectReason::Closed);
    }
    drop(held);
    assert_idle(&store);
}

#[test]
fn a_future_that_was_ready_stays_pending_and_takes_nothing() {
    let store = store();
    let mut future = store.acquire_async_for(of(&store, "writes"));
    let waker = std::task::Waker::noop();
    let permit = poll(&mut future, waker);
    assert!(matches!(permit, Poll::Ready(Ok(_))));
    assert!(poll(&mut future, waker).is_pending());
    drop(permit);
    assert_idle(&store);
}

#[test]
fn new_shares_hold_on_a_partition_s_own_slots_at_once_from_code_and_by_a_reconfiguration() {
    let store = parted(20, &[("reads", Guarantee::of(500))]).0;
    let batch = of(&store, "reads").priority(Priority::Batch);
    let together = || {
        let held: Vec<_> = std::iter::from_fn(|| store.try_acquire_for(batch).ok()).collect();
        held.len()
    };
    // Of the ten that are its own and of the ten for everybody.
    assert_eq!(together(), 7 + 7);
    let shares = Shares::new().batch(600);
    store.set_shares(shares).unwrap();
    assert_eq!(together(), 6 + 6);
    let config = Config::new(Fixed).initial(20);
    store.reconfigure(&config).unwrap();
    assert_eq!(together(), 7 + 7);
}

#[test]
fn a_partition_counts_who_was_refused_and_not_who_waited() {
    let store = store();
    let held = fill(&store, "reads");
    let refused = || store.partitions()[0].seen.refused;
    // Filling it asked for one more.
    assert_eq!(refused(), 1);
    let read = of(&store, "reads");
    // The first takes three slots, and looks each time that one is free.
    let mut waiting = vec![Task::queued_for(&store, read.weight(3))];
    waiting.extend((0..4).map(|_| Task::queued_for(&store, read)));
    held.into_iter()
        .for_each(|permit| permit.finish(Outcome::Success));
    waiting.iter_mut().for_each(|task| drop(task.permit()));
    assert_eq!((refused(), store.counts().refused.total()), (1, 1));
    // One that waited in vain is refused once.
    let held = fill(&store, "reads");
    let mut late = Task::queued_for(&store, read);
    store.close();
    assert!(matches!(late.poll(), Poll::Ready(Err(_))));
    assert_eq!((refused(), store.counts().refused.total()), (3, 3));
    drop(held);
}
