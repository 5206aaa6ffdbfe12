//! The line against a reference that is too simple to be wrong.

extern crate std;

use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::vec::Vec;

const ROOM: usize = 6;

#[derive(Clone, Copy, Debug)]
enum Step {
    Push,
    EndHead,
    /// Of the nodes that there are, in order of arrival.
    Remove(usize),
    TakeEnded(usize),
    Renew(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Push),
        2 => Just(Step::EndHead),
        2 => (0..ROOM).prop_map(Step::Remove),
        1 => (0..ROOM).prop_map(Step::TakeEnded),
        1 => (0..ROOM).prop_map(Step::Renew),
    ];
    proptest::collection::vec(step, 0..200)
}

proptest! {
    #[test]
    fn nodes_end_in_order_of_arrival_whoever_leaves_from_wherever(steps in steps()) {
        let queue = Queue::<ROOM>::new();
        let (mut waiting, mut ended) = (VecDeque::new(), Vec::new());
        for step in steps {
            match step {
                Step::Push => match queue.push(Waker::noop().clone()) {
                    Ok(key) => waiting.push_back(key),
                    Err(_) => prop_assert_eq!(waiting.len() + ended.len(), ROOM),
                },
                Step::EndHead => {
                    prop_assert_eq!(queue.end_head(State::Closed).is_some(), !waiting.is_empty());
                    ended.extend(waiting.pop_front());
                }
                Step::Remove(index) if index < waiting.len() => {
                    let left = waiting.remove(index).map(|key| queue.remove(&key));
                    prop_assert!(matches!(left, Some(State::Waiting(_))));
                }
                Step::TakeEnded(index) if index < waiting.len() => {
                    prop_assert!(queue.take_ended(&waiting[index]).is_none());
                }
                Step::Renew(index) if index < waiting.len() => {
                    prop_assert!(queue.renew(&waiting[index], Waker::noop().clone()).is_some());
                }
                Step::Remove(index) if index - waiting.len() < ended.len() => {
                    let left = queue.remove(&ended.remove(index - waiting.len()));
                    prop_assert!(matches!(left, State::Closed));
                }
                Step::TakeEnded(index) if index - waiting.len() < ended.len() => {
                    let left = queue.take_ended(&ended.remove(index - waiting.len()));
                    prop_assert!(matches!(left, Some(State::Closed)));
                }
                Step::Remove(_) | Step::TakeEnded(_) | Step::Renew(_) => {}
            }
            prop_assert_eq!(queue.len(), waiting.len());
            prop_assert_eq!(queue.is_empty(), waiting.is_empty());
        }
    }
}

#[test]
fn a_line_without_room_gives_the_waker_back() {
    let queue = Queue::<0>::new();
    assert!(queue.push(Waker::noop().clone()).is_err());
    assert!(queue.is_empty());
    assert!(queue.end_head(State::Closed).is_none());
}
