//! The line as plain data: nodes in an array, linked by index in order of arrival. No lock, no limiter.
//!
//! A node is free, or *waiting*: linked, with a waker; or *ended*: linked no more, with the slot it was
//! granted or the word that the limiter is closed, until its waiter takes it out. So a waiter leaves from
//! any place at the same cost, and no step has a loop.
//!
//! All zero is an empty line, so that a `static` goes where start-up code clears and costs no flash. Cells
//! instead of a borrow at run time: nothing here can fail, and there is no code that would say so.

use core::cell::Cell;
use core::task::Waker;
use limiter_core::Slot;

/// A waiter's node, valid until it is taken out.
#[derive(Debug)]
pub(crate) struct Key(Link);

/// The index of a node plus one, or 0 for none.
type Link = u16;
const NONE: Link = 0;

/// What a node holds.
#[derive(Debug)]
pub(crate) enum State {
    Free,
    Waiting(Waker),
    Granted(Slot),
    Closed,
}

struct Node {
    state: Cell<State>,
    before: Cell<Link>,
    after: Cell<Link>,
}

impl Node {
    const fn new() -> Self {
        Self {
            state: Cell::new(State::Free),
            before: Cell::new(NONE),
            after: Cell::new(NONE),
        }
    }
}

pub(crate) struct Queue<const N: usize> {
    nodes: [Node; N],
    head: Cell<Link>,
    tail: Cell<Link>,
    /// Nodes that were given back, linked by `after`.
    free: Cell<Link>,
    /// Nodes beyond these were never used.
    used: Cell<Link>,
    len: Cell<Link>,
}

impl<const N: usize> Queue<N> {
    pub(crate) const fn new() -> Self {
        const { assert!(N < Link::MAX as usize, "at most 65,534 waiters") };
        Self {
            nodes: [const { Node::new() }; N],
            head: Cell::new(NONE),
            tail: Cell::new(NONE),
            free: Cell::new(NONE),
            used: Cell::new(0),
            len: Cell::new(0),
        }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.len.get().into()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head.get() == NONE
    }

    /// Adds a waiter at the tail; gives the waker back when every node is taken.
    pub(crate) fn push(&self, waker: Waker) -> Result<Key, Waker> {
        let link = match self.free.get() {
            NONE => self.used.get() + 1,
            link => link,
        };
        let Some(node) = self.node(link) else {
            return Err(waker);
        };
        if self.free.get() == NONE {
            self.used.set(link);
        } else {
            self.free.set(node.after.get());
        }
        node.state.set(State::Waiting(waker));
        let last = self.tail.get();
        self.join(last, link);
        self.join(link, NONE);
        self.len.set(self.len.get() + 1);
        Ok(Key(link))
    }

    /// Ends the wait of the head, and returns how to wake its waiter.
    pub(crate) fn end_head(&self, ended: State) -> Option<Waker> {
        let node = self.node(self.head.get())?;
        self.detach(node);
        match node.state.replace(ended) {
            State::Waiting(waker) => Some(waker),
            _ => None,
        }
    }

    /// Takes a node out if its wait has ended.
    pub(crate) fn take_ended(&self, key: &Key) -> Option<State> {
        let node = self.node(key.0)?;
        match node.state.replace(State::Free) {
            waiting @ State::Waiting(_) => {
                node.state.set(waiting);
                None
            }
            ended => {
                self.give_back(key.0, node);
                Some(ended)
            }
        }
    }

    /// Takes a node out, wherever it is.
    pub(crate) fn remove(&self, key: &Key) -> State {
        let Some(node) = self.node(key.0) else {
            return State::Free;
        };
        let state = node.state.replace(State::Free);
        if let State::Waiting(_) = state {
            self.detach(node);
        }
        self.give_back(key.0, node);
        state
    }

    /// Puts a new waker into a node; returns the one that is not needed any more.
    pub(crate) fn renew(&self, key: &Key, waker: Waker) -> Option<Waker> {
        match self.node(key.0)?.state.replace(State::Waiting(waker)) {
            State::Waiting(old) => Some(old),
            _ => None,
        }
    }

    fn node(&self, link: Link) -> Option<&Node> {
        self.nodes.get(usize::from(link).wrapping_sub(1))
    }

    fn give_back(&self, link: Link, node: &Node) {
        node.after.set(self.free.get());
        self.free.set(link);
    }

    /// Closes the gap that a node of the line leaves.
    fn detach(&self, node: &Node) {
        self.join(node.before.get(), node.after.get());
        self.len.set(self.len.get() - 1);
    }

    /// Makes two nodes neighbours; one that has no neighbour is an end of the line.
    fn join(&self, left: Link, right: Link) {
        match self.node(left) {
            Some(left) => left.after.set(right),
            None => self.head.set(right),
        }
        match self.node(right) {
            Some(right) => right.before.set(left),
            None => self.tail.set(left),
        }
    }
}

#[cfg(test)]
mod tests;
