//! Requests of partitions against what is published, in any order of events.

use super::common::{Taken, Task};
use super::{assert_idle, of, parted};
use limiter_std::{Guarantee, Partitions, Request};
use proptest::prelude::*;
use std::task::Poll;

#[derive(Clone, Copy, Debug)]
enum Event {
    Try(usize, u32),
    Join(usize, u32),
    Release(usize),
    Cancel(usize),
    SetLimit(u32),
    SetGuarantees(u16, u16),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        3 => (0_usize..3, 1_u32..3).prop_map(|(who, weight)| Event::Try(who, weight)),
        5 => (0_usize..3, 1_u32..3).prop_map(|(who, weight)| Event::Join(who, weight)),
        6 => (0_usize..16).prop_map(Event::Release),
        2 => (0_usize..16).prop_map(Event::Cancel),
        1 => (4_u32..16).prop_map(Event::SetLimit),
        1 => (0_u16..=450, 0_u16..=450).prop_map(|(a, b)| Event::SetGuarantees(a, b)),
    ];
    proptest::collection::vec(event, 1..150)
}

proptest! {
    /// Of requests of one class: whoever waits could not be let in by what is published at that moment, in the
    /// order of arrival; all together never pass the largest limit there was while they came.
    #[test]
    fn after_anything_that_may_make_room_nobody_waits_while_there_is_some(events in events()) {
        let guarantees = [("reads", Guarantee::of(200)), ("writes", Guarantee::of(400))];
        let (store, _) = parted(10, &guarantees);
        let mut shares = [200, 400];
        let requests = [of(&store, "reads"), of(&store, "writes"), Request::new()];
        let mut held: Vec<(Taken, u32)> = Vec::new();
        let mut waiting: Vec<(Task, usize, u32)> = Vec::new();
        for event in events {
            match event {
                Event::Try(who, weight) => {
                    let tried = store.try_acquire_for(requests[who].weight(weight));
                    held.extend(tried.ok().map(|permit| (permit, weight)));
                }
                Event::Join(who, weight) => {
                    let request = requests[who].weight(weight);
                    let mut task = Task::of(store.acquire_async_for(request));
                    match task.poll() {
                        Poll::Ready(ended) => held.extend(ended.ok().map(|permit| (permit, weight))),
                        Poll::Pending => waiting.push((task, who, weight)),
                    }
                }
                Event::Release(index) if index < held.len() => drop(held.swap_remove(index)),
                Event::Cancel(index) if index < waiting.len() => drop(waiting.remove(index)),
                Event::Release(_) | Event::Cancel(_) => {}
                Event::SetLimit(limit) => store.set_limit(limit).expect("within the bounds"),
                Event::SetGuarantees(reads, writes) => {
                    shares = [reads, writes];
                    let all = Partitions::new()
                        .partition("reads", Guarantee::of(reads))
                        .partition("writes", Guarantee::of(writes));
                    store.set_partitions(&all).expect("nine tenths at most");
                }
            }
            // Those who were woken have their slots, and nobody else has any.
            let (woken, still): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|(task, ..)| task.woken() > 0);
            for (mut task, _, weight) in woken {
                held.push((task.permit(), weight));
            }
            waiting = still;
            let seen = store.snapshot();
            let slots: u32 = held.iter().map(|(_, weight)| weight).sum();
            prop_assert_eq!(seen.inflight, slots, "in flight");
            prop_assert_eq!(store.queued(), waiting.len());
            let partitions = store.partitions();
            let quotas: u32 = partitions.iter().map(|each| each.seen.quota).sum();
            prop_assert!(quotas <= seen.limit * 9 / 10);
            // What a quota is to be is owed to it.
            let booked = partitions.iter().zip(shares).map(|(each, share)| {
                let owed = seen.limit * u32::from(share) / 1_000;
                owed.max(each.seen.quota).max(each.seen.inflight)
            });
            let booked: u32 = booked.sum();
            let pooled = slots - partitions.iter().map(|each| each.seen.inflight).sum::<u32>();
            let free = seen.limit.saturating_sub(booked + pooled);
            if let Some((_, _, weight)) = waiting.first() {
                prop_assert!(*weight > free, "{} free for everybody, first of {}", free, weight);
            }
            for (index, partition) in partitions.iter().enumerate() {
                let first = waiting.iter().find(|(_, who, _)| *who == index);
                let own = partition.seen.quota.saturating_sub(partition.seen.inflight);
                if let Some((.., weight)) = first {
                    prop_assert!(*weight > own, "{} own free, first of {}", own, weight);
                }
            }
        }
        drop(held);
        while let Some(index) = waiting.iter().position(|(task, ..)| task.woken() > 0) {
            drop(waiting.remove(index).0.permit());
        }
        prop_assert!(waiting.is_empty(), "{} stranded", waiting.len());
        assert_idle(&store);
    }
}
