//! The queue against a reference that is too simple to be wrong, in any order of events.

mod common;

use common::{Fixture, Taken, Task, assert_idle, with};
use limiter_std::law::Fixed;
use limiter_std::{Config, RejectReason};
use proptest::prelude::*;
use std::task::Poll;

const BOUND: usize = 4;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A newcomer that does not wait.
    Try,
    /// One that would wait.
    Join,
    /// A permit is dropped.
    Release(usize),
    /// A waiter is polled without having been woken, or having been.
    Poll(usize),
    /// A waiter goes away.
    Cancel(usize),
    SetLimit(u32),
    SetBounds(u32, u32),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        2 => Just(Event::Try),
        6 => Just(Event::Join),
        4 => (0_usize..8).prop_map(Event::Release),
        3 => (0_usize..8).prop_map(Event::Poll),
        2 => (0_usize..8).prop_map(Event::Cancel),
        1 => (1_u32..6).prop_map(Event::SetLimit),
        1 => (1_u32..4, 0_u32..4).prop_map(|(min, more)| Event::SetBounds(min, min + more)),
    ];
    proptest::collection::vec(event, 1..120)
}

/// What there is, and what should be: `granted` counts the waiters at the front that have a slot.
struct World {
    limiter: Fixture,
    permits: Vec<Taken>,
    waiters: Vec<(Task, bool)>,
    limit: u32,
    bounds: (u32, u32),
}

impl World {
    fn taken(&self) -> usize {
        self.permits.len() + self.waiters.iter().filter(|(_, granted)| *granted).count()
    }

    fn waiting(&self) -> usize {
        self.waiters.iter().filter(|(_, granted)| !granted).count()
    }

    /// Oldest first, as long as there is room.
    fn grant(&mut self) {
        let room = (self.limit as usize).saturating_sub(self.taken());
        let waiting = self.waiters.iter_mut().filter(|(_, granted)| !granted);
        for (_, granted) in waiting.take(room) {
            *granted = true;
        }
    }

    fn apply(&mut self, event: Event) {
        match event {
            Event::Try => {
                let free = self.waiting() == 0 && self.taken() < self.limit as usize;
                let tried = self.limiter.try_acquire();
                assert_eq!(tried.is_ok(), free);
                if let Err(refused) = &tried {
                    let full = self.taken() >= self.limit as usize;
                    let reason = if full {
                        RejectReason::AtLimit
                    } else {
                        RejectReason::WaitersAhead
                    };
                    assert_eq!(refused.reason, reason);
                }
                self.permits.extend(tried);
            }
            Event::Join => {
                let free = self.waiting() == 0 && self.taken() < self.limit as usize;
                let mut task = Task::new(&self.limiter);
                match task.poll() {
                    Poll::Ready(Ok(permit)) => {
                        assert!(free);
                        self.permits.push(permit);
                    }
                    Poll::Ready(Err(refused)) => {
                        assert_eq!(refused.reason, RejectReason::QueueFull);
                        assert!(!free && self.waiting() == BOUND);
                    }
                    Poll::Pending => {
                        assert!(!free && self.waiting() < BOUND);
                        self.waiters.push((task, false));
                    }
                }
            }
            Event::Release(index) if index < self.permits.len() => {
                drop(self.permits.swap_remove(index));
            }
            Event::Poll(index) if index < self.waiters.len() => {
                let (task, granted) = &mut self.waiters[index];
                match task.poll() {
                    Poll::Ready(Ok(permit)) => {
                        assert!(*granted);
                        self.permits.push(permit);
                        self.waiters.remove(index);
                    }
                    Poll::Ready(Err(refused)) => panic!("{refused}"),
                    Poll::Pending => assert!(!*granted),
                }
            }
            Event::Cancel(index) if index < self.waiters.len() => {
                drop(self.waiters.remove(index));
            }
            Event::Release(_) | Event::Poll(_) | Event::Cancel(_) => {}
            Event::SetLimit(limit) => {
                let (min, max) = self.bounds;
                let set = self.limiter.set_limit(limit);
                assert_eq!(set.is_ok(), (min..=max).contains(&limit));
                if set.is_ok() {
                    self.limit = limit;
                }
            }
            Event::SetBounds(min, max) => {
                self.limiter.set_bounds(min, max).expect("in order");
                self.bounds = (min, max);
                self.limit = self.limit.clamp(min, max);
            }
        }
        self.grant();
    }

    fn check(&self) {
        let seen = self.limiter.snapshot();
        assert_eq!(seen.limit, self.limit);
        assert_eq!(seen.inflight as usize, self.taken());
        assert_eq!(self.limiter.queued(), self.waiting());
        assert_eq!(seen.waiting, self.waiting() > 0);
        for (task, granted) in &self.waiters {
            // Woken exactly once, and exactly for the grant.
            assert_eq!(task.woken(), usize::from(*granted));
        }
    }
}

/// The queue against the reference.
pub(crate) fn is_the_plain_queue(events: Vec<Event>) {
    let (limiter, _) = with(
        Config::new(Fixed)
            .initial(2)
            .max(6)
            .queue_length(BOUND as u32),
    );
    let mut world = World {
        limiter,
        permits: Vec::new(),
        waiters: Vec::new(),
        limit: 2,
        bounds: (1, 6),
    };
    for event in events {
        world.apply(event);
        world.check();
    }
    world.permits.clear();
    world.waiters.clear();
    assert_idle(&world.limiter);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn whatever_happens_the_oldest_waiters_have_the_free_slots_and_were_woken_once(events in events()) {
        is_the_plain_queue(events);
    }
}
