use super::*;
use crate::wait::standing::Allowed;
use core::time::Duration;
use limiter_core::RejectReason;
use proptest::prelude::*;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
enum Step {
    Push(usize),
    /// Ends the wait of whoever's turn it is.
    EndFirst,
    /// Of the nodes that there are, in order of arrival.
    Remove(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0_usize..CLASSES).prop_map(Step::Push),
        1 => Just(Step::EndFirst),
        2 => (0_usize..64).prop_map(Step::Remove),
    ];
    proptest::collection::vec(step, 0..200)
}

const ENDED: Result<Slot, Rejected> = Err(Rejected::new(RejectReason::Closed, 0, 0));
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
    queue.push(waiter(class, 0), Waker::noop().clone())
}

proptest! {
    #[test]
    fn nodes_end_by_class_and_in_order_of_arrival_whoever_leaves_from_wherever(steps in steps()) {
        let mut queue = Queue::new(settings());
        let (mut waiting, mut ended) = (VecDeque::<(usize, Key)>::new(), Vec::new());
        for step in steps {
            match step {
                Step::Push(class) => waiting.push_back((class, push(&mut queue, class))),
                Step::EndFirst => {
                    let highest = waiting.iter().map(|(class, _)| *class).max();
                    let turn = waiting.iter().position(|(class, _)| Some(*class) == highest);
                    let first = queue.first();
                    prop_assert_eq!(first.is_some(), turn.is_some());
                    if let (Some((place, _)), Some(turn)) = (first, turn) {
                        let (_, key) = waiting.remove(turn).unwrap();
                        prop_assert!(key.is(place));
                        prop_assert!(queue.end(place, ENDED, NOW).is_some());
                        ended.push(key);
                    }
                }
                Step::Remove(index) if index < waiting.len() => {
                    let left = waiting.remove(index).and_then(|(_, key)| queue.remove(&key));
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
                let those = waiting.iter().filter(|(other, _)| *other == class as usize).count();
                prop_assert_eq!(queue.waiting(class), those);
            }
            prop_assert!(waiting.iter().all(|(_, key)| !queue.has_ended(key)));
            prop_assert!(ended.iter().all(|key| queue.has_ended(key)));
            prop_assert_eq!(queue.nodes.len(), waiting.len() + ended.len());
        }
    }

    #[test]
    fn the_slab_never_holds_more_than_there_were_at_once(waiters in 1_usize..50, rounds in 1_usize..20) {
        let mut queue = Queue::new(settings());
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
    let mut queue = Queue::new(settings());
    let _higher = push(&mut queue, 2);
    let _first = push(&mut queue, 1);
    let last = push(&mut queue, 1);
    assert!(queue.evictable(Priority::BestEffort).is_none());
    assert!(queue.evictable(Priority::Batch).is_none());
    for class in [Priority::Interactive, Priority::Critical] {
        assert!(last.is(queue.evictable(class).unwrap()));
    }
}

#[test]
fn who_is_late_is_found_where_its_turn_would_come() {
    let mut queue = Queue::new(settings());
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
