//! The queue as plain data: nodes in a slab, linked in order of arrival, a list for each class. No lock, no
//! limiter.
//!
//! A node is in one of two states. *Waiting*: it is linked and has a waker. *Ended*: it is linked no
//! more, and holds the slots it was granted or the reason why there will be none, until its waiter takes
//! it out. So a waiter leaves from any place at the same cost, and the slab grows to the largest number
//! of waiters there were at once and no further. No step takes longer in a longer queue.

use super::pace::Pace;
use super::settings::Settings;
use super::standing::Standing;
use core::task::Waker;
use limiter_core::{Priority, Rejected, Request, Slot, Ticks, Timestamp};
use slab::Slab;

/// A waiter's node, valid until it is removed.
#[derive(Debug)]
pub(crate) struct Key(usize);

impl Key {
    pub(crate) const fn is(&self, place: Place) -> bool {
        self.0 == place.0
    }
}

/// A node that waits, valid until the queue is changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(usize);

/// Who waits: for what, since when, and until when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiter {
    pub(crate) request: Request,
    pub(crate) since: Timestamp,
    /// A slot after it is of no use. `None` for ever.
    pub(crate) deadline: Option<Timestamp>,
}

impl Waiter {
    fn is_late(&self, now: Timestamp) -> bool {
        self.deadline.is_some_and(|deadline| now > deadline)
    }
}

#[derive(Debug)]
pub(crate) struct Queue {
    nodes: Slab<Node>,
    /// By the class's place in [`Priority::ALL`].
    classes: [Class; CLASSES],
    /// The class that newcomers were told waits first.
    announced: Priority,
    pace: Pace,
    pub(crate) settings: Settings,
}

const CLASSES: usize = Priority::ALL.len();

/// Those of one class.
#[derive(Debug, Default)]
struct Class {
    head: Option<usize>,
    tail: Option<usize>,
    len: usize,
    /// How many slots they wait for.
    slots: u64,
    standing: Standing,
}

#[derive(Debug)]
struct Node {
    state: State,
    waiter: Waiter,
    before: Option<usize>,
    after: Option<usize>,
}

/// What a waiter's node holds.
#[derive(Debug)]
pub(crate) enum State {
    Waiting(Waker),
    Ended(Result<Slot, Rejected>),
}

impl State {
    /// How the wait ended, if it has.
    pub(crate) fn ended(self) -> Option<Result<Slot, Rejected>> {
        match self {
            Self::Ended(ended) => Some(ended),
            Self::Waiting(_) => None,
        }
    }
}

impl Queue {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            nodes: Slab::new(),
            classes: Default::default(),
            // What a limiter goes by that was told nothing.
            announced: Priority::Critical,
            pace: Pace::default(),
            settings,
        }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.classes.iter().map(|class| class.len).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many wait in a class.
    pub(crate) fn waiting(&self, class: Priority) -> usize {
        self.class(class).map_or(0, |class| class.len)
    }

    /// Whether a class is served newest first.
    pub(crate) fn stands(&self, class: Priority) -> bool {
        self.class(class)
            .is_some_and(|class| class.standing.stands())
    }

    /// How long the oldest of a class has waited.
    pub(crate) fn oldest(&self, class: Priority, now: Timestamp) -> Ticks {
        self.class(class)
            .and_then(|class| self.nodes.get(class.head?))
            .and_then(|node| now.since(node.waiter.since))
            .unwrap_or_default()
    }

    /// The highest class that waits.
    pub(crate) fn first_class(&self) -> Option<Priority> {
        let waiting = |class: &Priority| self.waiting(*class) != 0;
        Priority::ALL.into_iter().rev().find(waiting)
    }

    /// The highest class that waits, if newcomers have not been told yet that it is.
    pub(crate) fn first_changed(&mut self) -> Option<Priority> {
        let first = self.first_class()?;
        let before = core::mem::replace(&mut self.announced, first);
        (first != before).then_some(first)
    }

    /// Until when one who comes now may wait.
    pub(crate) fn deadline(&self, own: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
        let longest = self.settings.longest.map(|longest| now.after(longest));
        match (own, longest) {
            (Some(own), Some(longest)) => Some(own.min(longest)),
            (own, longest) => own.or(longest),
        }
    }

    /// Whose turn it is: the oldest of the highest class that waits, the newest when its delay stands.
    pub(crate) fn first(&self) -> Option<(Place, Request)> {
        let class = self.class(self.first_class()?)?;
        let index = if class.standing.stands() {
            class.tail
        } else {
            class.head
        }?;
        Some((Place(index), self.nodes.get(index)?.waiter.request))
    }

    /// One whose deadline has passed, if it is the oldest of its class or `first`, whose turn it is.
    pub(crate) fn late(&self, first: Option<Place>, now: Timestamp) -> Option<Place> {
        let heads = self.classes.iter().filter_map(|class| class.head);
        let first = first.map(|place| place.0);
        let late = |index: &usize| {
            let node = self.nodes.get(*index);
            node.is_some_and(|node| node.waiter.is_late(now))
        };
        heads.chain(first).find(late).map(Place)
    }

    /// Whose place one of `class` may take when there is no other: one of the lowest class that waits, if
    /// that is below. The one who would be served last.
    pub(crate) fn evictable(&self, class: Priority) -> Option<Place> {
        let below = Priority::ALL.into_iter().take_while(|&below| below < class);
        let lowest = below
            .filter_map(|below| self.class(below))
            .find(|class| class.len != 0)?;
        let index = if lowest.standing.stands() {
            lowest.head
        } else {
            lowest.tail
        };
        index.map(Place)
    }

    /// How long one of `class` that came now would wait, as far as that is known.
    pub(crate) fn forecast(&self, class: Priority, now: Timestamp) -> Option<Ticks> {
        let ahead = Priority::ALL.into_iter().filter(|&other| {
            // Newest first nobody of its own class is ahead.
            other > class || other == class && !self.stands(class)
        });
        let slots = ahead
            .filter_map(|class| self.class(class))
            .map(|class| class.slots);
        self.pace.forecast(slots.sum(), now)
    }

    /// Adds a waiter as the newest of its class.
    pub(crate) fn push(&mut self, waiter: Waiter, waker: Waker) -> Key {
        let request = waiter.request;
        let before = self.class(request.class()).and_then(|class| class.tail);
        let index = self.nodes.insert(Node {
            state: State::Waiting(waker),
            waiter,
            before,
            after: None,
        });
        self.link(request.class(), before, Some(index));
        self.link(request.class(), Some(index), None);
        if let Some(class) = self.class_mut(request.class()) {
            class.len += 1;
            class.slots += u64::from(request.slots());
        }
        self.pace.begin(waiter.since);
        Key(index)
    }

    /// Ends the wait of a node, and returns how to wake its waiter.
    pub(crate) fn end(
        &mut self,
        place: Place,
        ended: Result<Slot, Rejected>,
        now: Timestamp,
    ) -> Option<Waker> {
        let served = ended.is_ok();
        let node = self.nodes.get_mut(place.0)?;
        let request = node.waiter.request;
        let state = core::mem::replace(&mut node.state, State::Ended(ended));
        let (before, after) = (node.before.take(), node.after.take());
        let oldest = self.oldest(request.class(), now);
        if served {
            self.pace.served(request.slots(), now);
        }
        self.detach(request, before, after);
        if served {
            self.served(request.class(), oldest, now);
        }
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
            self.detach(node.waiter.request, node.before, node.after);
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

    /// One of `class` was given its slots, when the oldest had waited for `oldest`.
    fn served(&mut self, class: Priority, oldest: Ticks, now: Timestamp) {
        let gap = self.pace.gap().unwrap_or_default();
        let allowed = self.settings.allowed;
        if let Some(class) = self.class_mut(class) {
            class.standing.served(oldest, class.len, gap, now, allowed);
        }
    }

    /// Closes the gap that a node of a list leaves.
    fn detach(&mut self, request: Request, before: Option<usize>, after: Option<usize>) {
        self.link(request.class(), before, after);
        if let Some(class) = self.class_mut(request.class()) {
            class.len -= 1;
            class.slots -= u64::from(request.slots());
            if class.len == 0 {
                class.standing.reset();
            }
        }
        if self.is_empty() {
            self.pace.pause();
        }
    }

    /// Makes two nodes of a class neighbours; one that has no neighbour is an end of its list.
    fn link(&mut self, class: Priority, left: Option<usize>, right: Option<usize>) {
        match left.and_then(|left| self.nodes.get_mut(left)) {
            Some(left) => left.after = right,
            None => {
                if let Some(class) = self.class_mut(class) {
                    class.head = right;
                }
            }
        }
        match right.and_then(|right| self.nodes.get_mut(right)) {
            Some(right) => right.before = left,
            None => {
                if let Some(class) = self.class_mut(class) {
                    class.tail = left;
                }
            }
        }
    }

    fn class(&self, class: Priority) -> Option<&Class> {
        self.classes.get(class as usize)
    }

    fn class_mut(&mut self, class: Priority) -> Option<&mut Class> {
        self.classes.get_mut(class as usize)
    }
}

#[cfg(test)]
mod tests;
