//! The queue as plain data: nodes in a slab, linked in order of arrival, a list for each class of each partition.
//! No lock, no limiter.
//!
//! A node is in one of two states. *Waiting*: it is linked and has a waker. *Ended*: it is linked no
//! more, and holds the slots it was granted or the reason why there will be none, until its waiter takes
//! it out. So a waiter leaves from any place at the same cost, and the slab grows to the largest number
//! of waiters there were at once and no further. No step takes longer in a longer queue.

mod part;

use super::Ended;
use super::settings::Settings;
use crate::request::Request;
use core::task::Waker;
use limiter_core::{Priority, Ticks, Timestamp};
use part::{Class, Part};
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
    /// Those of no partition first.
    parts: Box<[Part]>,
    /// The class that newcomers were told waits first.
    announced: Priority,
    /// How many have come.
    arrived: u64,
    pub(crate) settings: Settings,
}

const CLASSES: usize = Priority::ALL.len();

#[derive(Debug)]
struct Node {
    state: State,
    waiter: Waiter,
    /// The order of arrival, over all lists.
    arrival: u64,
    before: Option<usize>,
    after: Option<usize>,
}

/// What a waiter's node holds.
#[derive(Debug)]
pub(crate) enum State {
    Waiting(Waker),
    Ended(Ended),
}

impl State {
    /// How the wait ended, if it has.
    pub(crate) fn ended(self) -> Option<Ended> {
        match self {
            Self::Ended(ended) => Some(ended),
            Self::Waiting(_) => None,
        }
    }
}

impl Queue {
    /// For requests of so many partitions and of none.
    pub(crate) fn new(settings: Settings, partitions: usize) -> Self {
        Self {
            nodes: Slab::new(),
            parts: (0..=partitions).map(|_| Part::default()).collect(),
            // What a limiter goes by that was told nothing.
            announced: Priority::Critical,
            arrived: 0,
            settings,
        }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(Part::len).sum()
    }

    /// How many of a partition wait.
    pub(crate) fn waiting_of(&self, partition: usize) -> usize {
        self.parts.get(partition + 1).map_or(0, Part::len)
    }

    /// How many wait in a class.
    pub(crate) fn waiting(&self, class: Priority) -> usize {
        self.of(class).map(|class| class.len).sum()
    }

    /// Whether a class is served newest first, in any partition.
    pub(crate) fn stands(&self, class: Priority) -> bool {
        self.of(class).any(|class| class.standing.stands())
    }

    /// How long the oldest of a class has waited.
    pub(crate) fn oldest(&self, class: Priority, now: Timestamp) -> Ticks {
        let oldest = self.of(class).map(|class| self.age(class, now));
        oldest.max().unwrap_or_default()
    }

    fn of(&self, class: Priority) -> impl Iterator<Item = &Class> {
        self.parts.iter().filter_map(move |part| part.class(class))
    }

    fn age(&self, class: &Class, now: Timestamp) -> Ticks {
        let oldest = class.head.and_then(|head| self.nodes.get(head));
        oldest
            .and_then(|node| now.since(node.waiter.since))
            .unwrap_or_default()
    }

    /// The highest class that waits.
    pub(crate) fn first_class(&self) -> Option<Priority> {
        let waiting = |class: &Priority| self.of(*class).any(|class| class.len != 0);
        Priority::ALL.into_iter().rev().find(waiting)
    }

    /// The highest class that waits, if newcomers have not been told yet that it is.
    pub(crate) fn first_changed(&mut self) -> Option<Priority> {
        let first = self.first_class()?;
        let before = core::mem::replace(&mut self.announced, first);
        (first != before).then_some(first)
    }

    /// Notes that the newcomers of a request's partition know that it waits: which partition, where they did not.
    pub(crate) fn tell(&mut self, request: &Request) -> Option<usize> {
        let index = self.index(request);
        let part = self.parts.get_mut(index)?;
        let told = core::mem::replace(&mut part.told, true);
        if told { None } else { index.checked_sub(1) }
    }

    /// The partitions of which nobody waits any more, and whose newcomers were told that somebody does.
    pub(crate) fn emptied(&mut self) -> impl Iterator<Item = usize> {
        let parts = self.parts.iter_mut().enumerate();
        parts.filter_map(|(index, part)| {
            let empty = part.told && part.len() == 0;
            part.told &= !empty;
            if empty { index.checked_sub(1) } else { None }
        })
    }

    /// Until when one who comes now may wait.
    pub(crate) fn deadline(&self, own: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
        let longest = self.settings.longest.map(|longest| now.after(longest));
        match (own, longest) {
            (Some(own), Some(longest)) => Some(own.min(longest)),
            (own, longest) => own.or(longest),
        }
    }

    /// Whose turn it is at what is for everybody: of the highest class that waits the partition whose oldest came
    /// first; of that the oldest, or the newest when its delay stands.
    pub(crate) fn first(&self) -> Option<(Place, Request)> {
        let class = self.first_class()?;
        let lists = self.of(class).filter(|class| class.len != 0);
        let first = lists.min_by_key(|list| list.head.and_then(|head| self.arrival(head)))?;
        self.placed(first.next()?)
    }

    /// Whose turn it is at each partition's own slots.
    pub(crate) fn first_of_each(&self) -> impl Iterator<Item = (Place, Request)> {
        let own = self.parts.iter().skip(1);
        own.filter_map(|part| self.placed(part.first_class()?.next()?))
    }

    fn placed(&self, index: usize) -> Option<(Place, Request)> {
        Some((Place(index), self.nodes.get(index)?.waiter.request))
    }

    fn arrival(&self, index: usize) -> Option<u64> {
        self.nodes.get(index).map(|node| node.arrival)
    }

    /// One whose deadline has passed, if it is the oldest of its class or `first`, whose turn it is.
    pub(crate) fn late(&self, first: Option<Place>, now: Timestamp) -> Option<Place> {
        let classes = self.parts.iter().flat_map(|part| &part.classes);
        let heads = classes.filter_map(|class| class.head);
        let late = |index: &usize| self.is_late(Place(*index), now);
        let first = first.map(|place| place.0);
        heads.chain(first).find(late).map(Place)
    }

    /// Whether the deadline of a node has passed.
    pub(crate) fn is_late(&self, place: Place, now: Timestamp) -> bool {
        let node = self.nodes.get(place.0);
        node.is_some_and(|node| node.waiter.is_late(now))
    }

    /// Whose place a request may take when there is no other: one of the lowest class that waits, if that is
    /// below; else one of its own class, of the partition with the most of them, if those are more than its own
    /// would be. The one who would be served last.
    pub(crate) fn evictable(&self, request: &Request) -> Option<Place> {
        let class = request.class();
        let lowest = Priority::ALL
            .into_iter()
            .find(|lowest| self.waiting(*lowest) != 0)?;
        let longest = self.of(lowest).max_by_key(|list| list.len)?;
        let own = self.parts.get(self.index(request))?.class(class)?;
        if lowest > class || lowest == class && longest.len <= own.len + 1 {
            return None;
        }
        longest.last().map(Place)
    }

    /// How long such a request that came now would wait, as far as that is known.
    pub(crate) fn forecast(&self, request: &Request, now: Timestamp) -> Option<Ticks> {
        let part = self.parts.get(self.index(request))?;
        part.pace.forecast(part.ahead(request.class()), now)
    }

    /// Adds a waiter as the newest of its class.
    pub(crate) fn push(&mut self, waiter: Waiter, waker: Waker) -> Key {
        let request = waiter.request;
        let before = self.class_mut(&request).and_then(|class| class.tail);
        let index = self.nodes.insert(Node {
            state: State::Waiting(waker),
            waiter,
            arrival: self.arrived,
            before,
            after: None,
        });
        self.arrived = self.arrived.wrapping_add(1);
        self.link(&request, before, Some(index));
        self.link(&request, Some(index), None);
        if let Some(class) = self.class_mut(&request) {
            class.len += 1;
            class.slots += u64::from(request.slots());
        }
        if let Some(part) = self.part_mut(&request) {
            part.pace.begin(waiter.since);
        }
        Key(index)
    }

    /// Ends the wait of a node, and returns how to wake its waiter.
    pub(crate) fn end(&mut self, place: Place, ended: Ended, now: Timestamp) -> Option<Waker> {
        let served = ended.is_ok();
        let node = self.nodes.get_mut(place.0)?;
        let request = node.waiter.request;
        let state = core::mem::replace(&mut node.state, State::Ended(ended));
        let (before, after) = (node.before.take(), node.after.take());
        let class = self
            .parts
            .get(self.index(&request))?
            .class(request.class())?;
        let oldest = self.age(class, now);
        if served {
            self.part_mut(&request)?.pace.served(request.slots(), now);
        }
        self.detach(&request, before, after);
        if served {
            self.served(&request, oldest, now);
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
            self.detach(&node.waiter.request, node.before, node.after);
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

    /// Such a request was given its slots, when the oldest of its list had waited for `oldest`.
    fn served(&mut self, request: &Request, oldest: Ticks, now: Timestamp) {
        let allowed = self.settings.allowed;
        let Some(part) = self.part_mut(request) else {
            return;
        };
        let gap = part.pace.gap().unwrap_or_default();
        if let Some(class) = part.classes.get_mut(request.class() as usize) {
            class.standing.served(oldest, class.len, gap, now, allowed);
        }
    }

    /// Closes the gap that a node of a list leaves.
    fn detach(&mut self, request: &Request, before: Option<usize>, after: Option<usize>) {
        self.link(request, before, after);
        if let Some(class) = self.class_mut(request) {
            class.len -= 1;
            class.slots -= u64::from(request.slots());
            if class.len == 0 {
                class.standing.reset();
            }
        }
        if let Some(part) = self.part_mut(request).filter(|part| part.len() == 0) {
            part.pace.pause();
        }
    }

    /// Makes two nodes of a list neighbours; one that has no neighbour is an end of its list.
    fn link(&mut self, request: &Request, left: Option<usize>, right: Option<usize>) {
        match left.and_then(|left| self.nodes.get_mut(left)) {
            Some(left) => left.after = right,
            None => {
                if let Some(class) = self.class_mut(request) {
                    class.head = right;
                }
            }
        }
        match right.and_then(|right| self.nodes.get_mut(right)) {
            Some(right) => right.before = left,
            None => {
                if let Some(class) = self.class_mut(request) {
                    class.tail = left;
                }
            }
        }
    }

    /// Where the list of a request's partition is: with those of none where there is none.
    fn index(&self, request: &Request) -> usize {
        let place = request.core.place().map(|place| place + 1);
        place
            .filter(|place| *place < self.parts.len())
            .unwrap_or_default()
    }

    fn part_mut(&mut self, request: &Request) -> Option<&mut Part> {
        let index = self.index(request);
        self.parts.get_mut(index)
    }

    fn class_mut(&mut self, request: &Request) -> Option<&mut Class> {
        let part = self.part_mut(request)?;
        part.classes.get_mut(request.class() as usize)
    }
}

#[cfg(test)]
mod tests;
