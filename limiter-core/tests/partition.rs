//! Partitions: guarantees, what is for everybody, lending, and the rules that hold after any operation.

#[path = "partition/model.rs"]
mod model;

use model::{Store, WHO, at, free, quotas, store};

use core::time::Duration;
use limiter_core::law::Fixed;
use limiter_core::{
    Config, Guarantee, Outcome, Partitioned, Priority, RejectReason, Request, Seat, Shares,
    TickRate, Timestamp,
};

const NOW: Timestamp = Timestamp::from_ticks(0);
fn fill(store: &Store, request: &Request, now: Timestamp) -> Vec<Seat> {
    core::iter::from_fn(|| store.admit(request, now).ok()).collect()
}

#[test]
fn a_guarantee_is_free_whatever_the_others_ask_for() {
    let store = store(10, [Guarantee::of(300), Guarantee::of(200)]);
    let others = fill(&store, &WHO[2], NOW);
    assert_eq!(others.len(), 5, "what is for everybody");
    let first = fill(&store, &WHO[0], NOW);
    let second = fill(&store, &WHO[1], NOW);
    assert_eq!((first.len(), second.len()), (3, 2));
    free(&store, others);
    // And beyond it there is what is for everybody.
    let more = fill(&store, &WHO[1], NOW);
    assert_eq!(more.len(), 5);
    assert!(more.iter().all(|seat| !seat.is_own()));
    assert_eq!(store.partition(1).unwrap().pooled, 5);
    free(&store, first.into_iter().chain(second).chain(more));
    assert_eq!(store.partition(1).unwrap().pooled, 0);
}

/// F15 of others: a global limit that is read, a partition that is skipped, a count that is raised later.
#[test]
fn a_refusal_leaves_no_trace_in_any_count() {
    let store = store(10, [Guarantee::of(300), Guarantee::of(200)]);
    let held: Vec<_> = WHO.iter().flat_map(|who| fill(&store, who, NOW)).collect();
    assert_eq!(held.len(), 10);
    let before = (store.limiter().snapshot(), quotas(&store));
    let full = |partition, quota| RejectReason::PartitionFull { partition, quota };
    let reasons = [full(0, 3), full(1, 2), RejectReason::AtLimit];
    for (who, reason) in WHO.iter().zip(reasons) {
        assert_eq!(store.admit(who, NOW).unwrap_err().reason, reason);
    }
    assert_eq!((store.limiter().snapshot(), quotas(&store)), before);
    assert_eq!(store.partition(0).unwrap().refused, 2, "filling, and this");
    free(&store, held);
    assert_eq!(store.limiter().snapshot().inflight, 5, "what is booked");
}

/// Quotas follow at the next request.
#[test]
fn nothing_is_in_flight_and_nothing_full_while_quotas_are_those_of_another_limit() {
    let store = store(20, [Guarantee::of(500), Guarantee::of(400)]);
    assert!(
        store
            .admit(&WHO[0], NOW)
            .is_ok_and(|seat| !store.release(seat).wake())
    );
    for limit in [10, 3, 30, 1, 20] {
        store.limiter().set_limit(limit, NOW).unwrap();
        let seen = store.snapshot();
        assert_eq!((seen.inflight, seen.inflight_peak), (0, 0), "{limit}");
        assert!(seen.idle <= limit, "{} of {limit}", seen.idle);
        assert_eq!(seen.utilisation(), 0);
        assert!(!seen.is_nearly_full());
    }
}

#[test]
fn quotas_follow_the_limit_and_leave_a_part_for_everybody_at_every_size() {
    let store = store(1, [Guarantee::of(600), Guarantee::of(300)]);
    for limit in (1..=40).chain((1..=40).rev()) {
        store.limiter().set_limit(limit, NOW).unwrap();
        store.balance();
        let [first, second] = quotas(&store);
        assert_eq!([first, second], [limit * 6 / 10, limit * 3 / 10]);
        let everybody = fill(&store, &WHO[2], NOW);
        assert_eq!(everybody.len() as u32, limit - first - second);
        assert!(!everybody.is_empty());
        free(&store, everybody);
    }
}

/// F62 of others: a shrink that forgets what is in use, and ends with more or for good with nothing.
#[test]
fn a_shrink_below_what_is_in_flight_admits_when_enough_have_left_and_gives_all_back() {
    let store = store(8, [Guarantee::of(500), Guarantee::NONE]);
    let mut own = fill(&store, &WHO[0], NOW);
    let pooled = own.split_off(4);
    assert_eq!((own.len(), pooled.len()), (4, 4));
    store.limiter().set_limit(4, NOW).unwrap();
    for who in &WHO {
        assert!(store.admit(who, NOW).is_err());
    }
    free(&store, pooled);
    assert!(
        store.admit(&WHO[2], NOW).is_err(),
        "4 of 4 are the partition's"
    );
    free(&store, own.drain(..2));
    let everybody = fill(&store, &WHO[2], NOW);
    assert_eq!(everybody.len(), 2);
    free(&store, own.into_iter().chain(everybody));
    assert_eq!(fill(&store, &WHO[0], NOW).len(), 4);
}

#[test]
fn a_guarantee_that_grows_over_a_full_limiter_gets_the_next_slots_that_come_free() {
    let store = store(4, [Guarantee::of(500), Guarantee::NONE]);
    let mut everybody = fill(&store, &WHO[2], NOW);
    store.limiter().set_limit(2, NOW).unwrap();
    store.balance();
    store.limiter().set_limit(3, NOW).unwrap();
    let own = fill(&store, &WHO[0], NOW);
    assert_eq!((everybody.len(), own.len()), (2, 1));
    store.limiter().set_limit(4, NOW).unwrap();
    let more = fill(&store, &WHO[0], NOW);
    assert_eq!(more.len(), 1, "of the two that are guaranteed");
    assert!(store.admit(&WHO[2], NOW).is_err());
    free(&store, everybody.drain(..).chain(own).chain(more));
}

#[test]
fn an_idle_guarantee_is_lent_by_choice_and_taken_back_as_borrowers_leave() {
    let lends = Guarantee::of(500).lend_after(Duration::from_millis(100));
    let store = store(10, [lends, Guarantee::of(0)]);
    let mut others = fill(&store, &WHO[1], at(1_000));
    assert_eq!(others.len(), 5, "nobody knows yet whether it is idle");
    others.extend(fill(&store, &WHO[1], at(1_099)));
    assert_eq!(others.len(), 5);
    others.extend(fill(&store, &WHO[1], at(1_100)));
    assert_eq!(others.len(), 9, "one stays");
    assert!(store.partition(0).unwrap().lent);
    // The owner comes back: its first request is let in at once, the next as borrowers leave.
    let mut own = fill(&store, &WHO[0], at(1_101));
    assert_eq!(own.len(), 1);
    assert!(!store.partition(0).unwrap().lent);
    for left in (5..9).rev() {
        free(&store, others.pop());
        assert_eq!(others.len(), left);
        assert!(
            store.admit(&WHO[1], at(1_102)).is_err(),
            "it is owed to the owner"
        );
        own.extend(store.admit(&WHO[0], at(1_102)).ok());
        assert_eq!(own.len() + others.len(), 10);
    }
    assert_eq!(own.len(), 5);
    assert!(store.admit(&WHO[0], at(1_103)).is_err());
    free(&store, own.into_iter().chain(others));
    assert_eq!(quotas(&store), [5, 0]);
}

#[test]
fn a_guarantee_that_is_used_or_not_for_lending_is_not_lent() {
    let lends = Guarantee::of(500).lend_after(Duration::from_millis(100));
    let mut held = Vec::new();
    let store = store(10, [lends, Guarantee::of(300)]);
    held.extend(fill(&store, &WHO[2], at(1_000)));
    for now in (1_000..5_000).step_by(50) {
        let used: Vec<_> = (0..5)
            .map(|_| store.admit(&WHO[0], at(now)).unwrap())
            .collect();
        assert!(store.admit(&WHO[2], at(now)).is_err());
        assert!(
            store
                .admit(&WHO[1], at(now))
                .map(|seat| free(&store, [seat]))
                .is_ok()
        );
        free(&store, used);
    }
    assert_eq!(quotas(&store), [5, 3]);
    free(&store, held);
}

#[test]
fn classes_and_weights_hold_on_the_own_slots_and_on_those_for_everybody() {
    let store = store(20, [Guarantee::of(500), Guarantee::NONE]);
    let batch = WHO[0].priority(Priority::Batch);
    let held = fill(&store, &batch, NOW);
    assert_eq!(held.iter().filter(|seat| seat.is_own()).count(), 7);
    assert_eq!(held.len(), 14);
    assert_eq!(
        store.admit(&batch, NOW).unwrap_err().reason,
        RejectReason::ShareTaken
    );
    // Three are left on either side: four fit into neither, and are not split.
    let refused = store.admit(&WHO[0].weight(4), NOW).unwrap_err();
    let (partition, quota) = (0, 10);
    let full = RejectReason::PartitionFull { partition, quota };
    assert_eq!(refused.reason, full);
    let both = [0, 1].map(|_| store.admit(&WHO[0].weight(3), NOW).unwrap());
    assert!(both[0].is_own() && !both[1].is_own());
    free(&store, held.into_iter().chain(both));
    assert_eq!(
        store.admit(&WHO[0].weight(0), NOW).unwrap_err().reason,
        RejectReason::ZeroWeight
    );
    assert_eq!(store.limiter().snapshot().inflight, 10);
}

#[test]
fn new_shares_hold_on_the_own_slots_too_and_so_does_a_share_of_one_request() {
    let store = store(20, [Guarantee::of(500), Guarantee::NONE]);
    let own = |store: &Store, request: &Request| {
        let held = fill(store, request, NOW);
        let own = held.iter().filter(|seat| seat.is_own()).count();
        free(store, held);
        own
    };
    let batch = WHO[0].priority(Priority::Batch);
    assert_eq!(own(&store, &batch), 7);
    store
        .limiter()
        .set_shares(Shares::new().batch(600))
        .unwrap();
    store.balance();
    assert_eq!(own(&store, &batch), 6);
    assert_eq!(own(&store, &WHO[0]), 10);
    assert_eq!(own(&store, &WHO[0].at_most(300)), 3);
    assert_eq!(own(&store, &WHO[0].at_most(300).at_most(1_000)), 10);
}

#[test]
fn what_a_partition_used_of_late_is_known_however_its_requests_came_in() {
    let idle = Duration::from_millis(100);
    let store = store(20, [Guarantee::of(500).lend_after(idle), Guarantee::NONE]);
    let refuse = |now| {
        let held = fill(&store, &WHO[2], at(now));
        free(&store, held);
    };
    // Looked at from here on: six at once, then one after the other.
    refuse(1_000);
    let held: Vec<_> = (0..6)
        .map(|_| store.admit(&WHO[0], at(1_010)).unwrap())
        .collect();
    free(&store, held);
    for now in 1_020..1_050 {
        let one = store.admit(&WHO[0], at(now)).unwrap();
        free(&store, [one]);
    }
    refuse(1_110);
    assert_eq!(quotas(&store), [6, 0]);
    // The same while it is lent, and none above six.
    for now in 1_120..1_150 {
        let two = [0, 1].map(|_| store.admit(&WHO[0], at(now)).unwrap());
        free(&store, two);
    }
    refuse(1_220);
    assert_eq!(quotas(&store), [2, 0]);
}

#[test]
fn outcomes_are_counted_by_partition_so_that_reads_do_not_hide_failing_writes() {
    let store = store(10, [Guarantee::of(300), Guarantee::of(300)]);
    for _ in 0..9 {
        let read = store.admit(&WHO[0], NOW).unwrap();
        store.settle(read, Outcome::Success, at(5));
    }
    let write = store.admit(&WHO[1], NOW).unwrap();
    store.settle(write, Outcome::Failure, at(5));
    let [reads, writes] = [0, 1].map(|index| store.partition(index).unwrap());
    assert_eq!((reads.successes, reads.failures), (9, 0));
    assert_eq!((writes.successes, writes.failures), (0, 1));
    assert!(store.partition(2).is_none());
}

#[test]
fn an_unknown_partition_and_guarantees_of_more_than_nine_tenths_are_refused() {
    let store = store(10, [Guarantee::NONE; 2]);
    let refused = store.admit(&Request::new().partition(2), NOW).unwrap_err();
    assert_eq!(refused.reason, RejectReason::NoSuchPartition);
    let config = Config::new(Fixed, TickRate::MILLIS);
    let error = Partitioned::try_new(config, [Guarantee::of(500), Guarantee::of(401)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "guarantees together = 901: allowed are 0 to 900"
    );
}

#[test]
fn a_closed_limiter_lets_nobody_in_on_any_word() {
    let store = store(10, [Guarantee::of(300), Guarantee::of(200)]);
    let held = store.admit(&WHO[0], NOW).unwrap();
    store.limiter().close();
    for who in &WHO {
        assert_eq!(
            store.admit(who, NOW).unwrap_err().reason,
            RejectReason::Closed
        );
    }
    free(&store, [held]);
}
