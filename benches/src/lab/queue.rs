//! The event queue: virtual time in nanoseconds, ties in the order of insertion.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Nanoseconds per millisecond.
pub const MILLI: u64 = 1_000_000;
/// Nanoseconds per second.
pub const SECOND: u64 = 1_000_000_000;
/// A time that never comes.
pub const NEVER: u64 = u64::MAX;

/// `ms` milliseconds in nanoseconds; 0 for anything negative.
pub fn millis(ms: f64) -> u64 {
    (ms * MILLI as f64) as u64
}

/// `s` seconds in nanoseconds; 0 for anything negative.
pub fn seconds(s: f64) -> u64 {
    (s * SECOND as f64) as u64
}

/// Events by time. Two at the same time come out in the order they went in, so that a run is a function
/// of its seed alone.
#[derive(Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Entry<E>>,
    order: u64,
}

#[derive(Debug)]
struct Entry<E> {
    at: u64,
    order: u64,
    event: E,
}

impl<E> EventQueue<E> {
    /// An empty queue with room for `capacity` events.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            heap: BinaryHeap::with_capacity(capacity),
            order: 0,
        }
    }

    /// Adds an event.
    pub fn push(&mut self, at: u64, event: E) {
        self.order += 1;
        self.heap.push(Entry {
            at,
            order: self.order,
            event,
        });
    }

    /// When the next event is, [`NEVER`] without any.
    pub fn next_at(&self) -> u64 {
        self.heap.peek().map_or(NEVER, |entry| entry.at)
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(u64, E)> {
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    /// Reversed: the heap's greatest is the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_ties_in_the_order_of_insertion() {
        let mut queue = EventQueue::with_capacity(4);
        for (at, name) in [(7, 'c'), (3, 'a'), (7, 'd'), (3, 'b')] {
            queue.push(at, name);
        }
        let mut seen = String::new();
        while let Some((_, name)) = queue.pop() {
            seen.push(name);
        }
        assert_eq!(seen, "abcd");
        assert_eq!(queue.next_at(), NEVER);
    }

    #[test]
    fn a_thousand_events_come_out_sorted_while_others_go_in() {
        let mut queue = EventQueue::with_capacity(4);
        let mut random = crate::lab::random::stream(1, 1);
        let mut draw = || (crate::lab::random::uniform(&mut random) * 1e3) as u64;
        for _ in 0..500 {
            queue.push(draw(), ());
        }
        let (mut now, mut taken) = (0, 0);
        while let Some((at, ())) = queue.pop() {
            assert!(at >= now, "{at} after {now}");
            now = at;
            taken += 1;
            if taken <= 500 {
                queue.push(now + draw(), ());
            }
        }
        assert_eq!(taken, 1_000);
    }
}
