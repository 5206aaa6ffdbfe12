//! The queue as plain data: nodes in a slab, linked in order of arrival. No lock, no limiter.
//!
//! A node is in one of two states. *Waiting*: it is linked and has a waker. *Ended*: it is linked no
//! more, and holds the slot it was granted or the reason why there will be none, until its waiter takes
//! it out. So a waiter leaves from any place at the same cost, and the slab grows to the largest number
//! of waiters there were at once and no further.

use core::task::Waker;
use limiter_core::{Rejected, Slot};
use slab::Slab;

/// A waiter's node, valid until it is removed.
#[derive(Debug)]
pub(crate) struct Key(usize);

#[derive(Debug)]
pub(crate) struct Queue {
    nodes: Slab<Node>,
    head: Option<usize>,
    tail: Option<usize>,
    len: usize,
}

#[derive(Debug)]
struct Node {
    state: State,
    before: Option<usize>,
    after: Option<usize>,
}

/// What a waiter's node holds.
#[derive(Debug)]
pub(crate) enum State {
    Waiting(Waker),
    Ended(Result<Slot, Rejected>),
}

impl Queue {
    pub(crate) const fn new() -> Self {
        Self {
            nodes: Slab::new(),
            head: None,
            tail: None,
            len: 0,
        }
    }

    /// How many wait.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Adds a waiter at the tail.
    pub(crate) fn push(&mut self, waker: Waker) -> Key {
        let before = self.tail;
        let index = self.nodes.insert(Node {
            state: State::Waiting(waker),
            before,
            after: None,
        });
        self.link(before, Some(index));
        self.link(Some(index), None);
        self.len += 1;
        Key(index)
    }

    /// Ends the wait of the head, and returns how to wake its waiter.
    pub(crate) fn end_head(&mut self, ended: Result<Slot, Rejected>) -> Option<Waker> {
        let node = self.nodes.get_mut(self.head?)?;
        let state = core::mem::replace(&mut node.state, State::Ended(ended));
        let (before, after) = (node.before.take(), node.after.take());
        self.detach(before, after);
        match state {
            State::Waiting(waker) => Some(waker),
            State::Ended(_) => None,
        }
    }

    /// Whether the wait of a node has ended.
    pub(crate) fn has_ended(&self, key: &Key) -> bool {
        let node = self.nodes.get(key.0);
        node.is_some_and(|node| matches!(node.state, State::Ended(_)))
    }

    /// Takes a node out, wherever it is.
    pub(crate) fn remove(&mut self, key: &Key) -> Option<State> {
        let node = self.nodes.try_remove(key.0)?;
        if let State::Waiting(_) = node.state {
            self.detach(node.before, node.after);
        }
        Some(node.state)
    }

    /// Puts a new waker into a node that waits; the old one is left in its place.
    pub(crate) fn renew(&mut self, key: &Key, waker: &mut Waker) {
        if let Some(node) = self.nodes.get_mut(key.0) {
            if let State::Waiting(old) = &mut node.state {
                core::mem::swap(old, waker);
            }
        }
    }

    /// Closes the gap that a node of the list leaves.
    fn detach(&mut self, before: Option<usize>, after: Option<usize>) {
        self.link(before, after);
        self.len -= 1;
    }

    /// Makes two nodes neighbours; one that has no neighbour is an end of the list.
    fn link(&mut self, left: Option<usize>, right: Option<usize>) {
        match left.and_then(|left| self.nodes.get_mut(left)) {
            Some(left) => left.after = right,
            None => self.head = right,
        }
        match right.and_then(|right| self.nodes.get_mut(right)) {
            Some(right) => right.before = left,
            None => self.tail = left,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use limiter_core::RejectReason;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push,
        EndHead,
        /// Of the nodes that there are, in order of arrival.
        Remove(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => Just(Step::Push),
            1 => Just(Step::EndHead),
            2 => (0_usize..64).prop_map(Step::Remove),
        ];
        proptest::collection::vec(step, 0..200)
    }

    const ENDED: Result<Slot, Rejected> = Err(Rejected::new(RejectReason::Closed, 0, 0));

    proptest! {
        #[test]
        fn nodes_end_in_order_of_arrival_whoever_leaves_from_wherever(steps in steps()) {
            let mut queue = Queue::new();
            let (mut waiting, mut ended) = (VecDeque::new(), Vec::new());
            for step in steps {
                match step {
                    Step::Push => waiting.push_back(queue.push(Waker::noop().clone())),
                    Step::EndHead => {
                        prop_assert_eq!(queue.end_head(ENDED).is_some(), !waiting.is_empty());
                        ended.extend(waiting.pop_front());
                    }
                    Step::Remove(index) if index < waiting.len() => {
                        let left = waiting.remove(index).and_then(|key| queue.remove(&key));
                        prop_assert!(matches!(left, Some(State::Waiting(_))));
                    }
                    Step::Remove(index) if index - waiting.len() < ended.len() => {
                        let left = queue.remove(&ended.remove(index - waiting.len()));
                        prop_assert!(matches!(left, Some(State::Ended(_))));
                    }
                    Step::Remove(_) => {}
                }
                prop_assert_eq!(queue.len(), waiting.len());
                prop_assert_eq!(queue.is_empty(), waiting.is_empty());
                prop_assert!(waiting.iter().all(|key| !queue.has_ended(key)));
                prop_assert!(ended.iter().all(|key| queue.has_ended(key)));
                prop_assert_eq!(queue.nodes.len(), waiting.len() + ended.len());
            }
        }

        #[test]
        fn the_slab_never_holds_more_than_there_were_at_once(waiters in 1_usize..50, rounds in 1_usize..20) {
            let mut queue = Queue::new();
            for _ in 0..rounds {
                let keys: Vec<_> = (0..waiters).map(|_| queue.push(Waker::noop().clone())).collect();
                let capacity = queue.nodes.capacity();
                for key in keys {
                    queue.remove(&key);
                }
                prop_assert_eq!(queue.nodes.capacity(), capacity);
                prop_assert!(capacity < 2 * waiters.max(4));
            }
        }
    }
}
