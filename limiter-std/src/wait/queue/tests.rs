use super::*;
use crate::wait::standing::Allowed;
use core::time::Duration;
use limiter_core::{RejectReason, Rejected};
use proptest::prelude::*;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
enum Step {
    Push(usize, u8),
    /// Ends the wait of whoever's turn it is.
    EndFirst,
    /// Of the nodes that there are, in order of arrival.
    Remove(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0_usize..CLASSES, 0_u8..3).prop_map(|(class, part)| Step::Push(class, part)),
        1 => Just(Step::EndFirst),
        2 => (0_usize..64).prop_map(Step::Remove),
    ];
    proptest::collection::vec(step, 0..200)
}

const ENDED: Ended = Err(Rejected::new(RejectReason::Closed, 0, 0));
const NOW: Timestamp = Timestamp::from_ticks(0);

fn settings() -> Settings {
    Settings {
        length: 100,
        longest: None,
        allowed: Allowed::new(Duration::from_nanos(5_000), Duration::from_nanos(100_000)),
    }
}

fn waiter(class: usize, since: u64) -> Waiter {
    Waiter {
        request: Request::new().priority(Priority::ALL[class]),
        since: Timestamp::from_ticks(since),
        deadline: None,
    }
}

fn push(queue: &mut Queue, class: usize) -> Key {
    push_of(queue, class, 2)
}

/// One of a partition, or of none.
fn push_of(queue: &mut Queue, class: usize, partition: u8) -> Key {
    let mut one = waiter(class, 0);
    if partition < 2 {
        one.request.core = one.request.core.partition(partition.into());
    }
    queue.push(one, Waker::noop().clone())
}

proptest! {
    #[test]
    fn nodes_end_by_class_and_in_order_of_arrival_whoever_leaves_from_wherever_and_those_of_each_partition_so(steps in steps()) {
        let mut queue = Queue::new(settings(), 2);
        let (mut waiting, mut ended) = (VecDeque::<(usize, u8, Key)>::new(), Vec::new());
        for step in steps {
            match step {
                Step::Push(class, part) => {
                    waiting.push_back((class, part, push_of(&mut queue, class, part)));
                }
                Step::EndFirst => {
                    let highest = waiting.iter().map(|(class, ..)| *class).max();
                    let turn = waiting.iter().position(|(class, ..)| Some(*class) == highest);
                    let first = queue.first();
                    prop_assert_eq!(first.is_some(), turn.is_some());
                    if let (Some((place, _)), Some(turn)) = (first, turn) {
                        let (.., key) = waiting.remove(turn).unwrap();
                        prop_assert!(key.is(place));
                        prop_assert!(queue.end(place, ENDED, NOW).is_some());
                        ended.push(key);
                    }
                }
                Step::Remove(index) if index < waiting.len() => {
                    let left = waiting.remove(index).and_then(|(.., key)| queue.remove(&key));
                    prop_assert!(matches!(left, Some(State::Waiting(_))));
                }
                Step::Remove(index) if index - waiting.len() < ended.len() => {
                    let left = queue.remove(&ended.remove(index - waiting.len()));
                    prop_assert!(matches!(left, Some(State::Ended(_))));
                }
                Step::Remove(_) => {}
            }
            prop_assert_eq!(queue.len(), waiting.len());
            for class in Priority::ALL {
                let those = waiting.iter().filter(|(other, ..)| *other == class as usize).count();
                prop_assert_eq!(queue.waiting(class), those);
            }
            prop_assert!(waiting.iter().all(|(.., key)| !queue.has_ended(key)));
            let own: Vec<_> = queue.first_of_each().map(|(place, _)| place).collect();
            for part in 0..2 {
                let those = || waiting.iter().filter(|(_, other, _)| *other == part);
                prop_assert_eq!(queue.waiting_of(part.into()), those().count());
                let highest = those().map(|(class, ..)| *class).max();
                let turn = those().find(|(class, ..)| Some(*class) == highest);
                prop_assert!(turn.is_none_or(|(.., key)| own.iter().any(|place| key.is(*place))));
            }
            prop_assert!(ended.iter().all(|key| queue.has_ended(key)));
            prop_assert_eq!(queue.nodes.len(), waiting.len() + ended.len());
        }
    }

    #[test]
    fn the_slab_never_holds_more_than_there_were_at_once(waiters in 1_usize..50, rounds in 1_usize..20) {
        let mut queue = Queue::new(settings(), 2);
        for _ in 0..rounds {
            let keys: Vec<_> = (0..waiters).map(|index| push(&mut queue, index % CLASSES)).collect();
            let capacity = queue.nodes.capacity();
            for key in keys {
                queue.remove(&key);
            }
            prop_assert_eq!(queue.nodes.capacity(), capacity);
            prop_assert!(capacity < 2 * waiters.max(4));
        }
    }
}

#[test]
fn who_would_be_served_last_of_the_lowest_class_makes_place_for_a_higher_one_only() {
    let mut queue = Queue::new(settings(), 2);
    let _higher = push(&mut queue, 2);
    let _first = push(&mut queue, 1);
    let last = push(&mut queue, 1);
    let of = |class| Request::new().priority(class);
    assert!(queue.evictable(&of(Priority::BestEffort)).is_none());
    assert!(queue.evictable(&of(Priority::Batch)).is_none());
    for class in [Priority::Interactive, Priority::Critical] {
        assert!(last.is(queue.evictable(&of(class)).unwrap()));
    }
}

#[test]
fn who_is_late_is_found_where_its_turn_would_come() {
    let mut queue = Queue::new(settings(), 2);
    let late = Waiter {
        deadline: Some(Timestamp::from_ticks(10)),
        ..waiter(0, 0)
    };
    let _critical = push(&mut queue, 3);
    let key = queue.push(late, Waker::noop().clone());
    let late = |now| {
        let first = queue.first().map(|(place, _)| place);
        queue.late(first, Timestamp::from_ticks(now))
    };
    assert!(late(10).is_none());
    assert!(key.is(late(11).unwrap()));
}

#[test]
fn in_a_full_queue_the_partition_that_has_the_most_in_it_makes_place_for_another_of_the_class() {
    let mut queue = Queue::new(settings(), 2);
    let of = |partition| Request {
        core: limiter_core::Request::new()
            .priority(Priority::Batch)
            .partition(partition),
        caller: None,
    };
    let _first = push_of(&mut queue, 1, 0);
    let last = push_of(&mut queue, 1, 0);
    let other = push_of(&mut queue, 1, 1);
    assert!(queue.evictable(&of(0)).is_none());
    // One more of its own would be as many as those.
    assert!(queue.evictable(&of(1)).is_none());
    drop(queue.remove(&other));
    assert!(last.is(queue.evictable(&of(1)).unwrap()));
}
