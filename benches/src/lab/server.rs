//! A server: slots, a first-in first-out queue, and what can be wrong with them.
//!
//! It knows nothing about limiters or callers. Whoever drives it keeps the events: [`Server::offer`] and
//! [`Server::start_next`] say when the work that they started will be done, and [`Server::finish`] is
//! called at that time. So a world may have several in a row.

use super::random::{Shape, of_request};
use std::collections::VecDeque;

/// Which of a request's generators draws its service time.
const SERVICE: u64 = 1;

/// What a server is like for the moment.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    /// Requests worked on at once.
    pub slots: u32,
    /// Mean service time in ns.
    pub service: f64,
    /// How service times spread around the mean.
    pub shape: Shape,
    /// How much longer work takes for each time that the slots are taken over again by waiting work.
    pub contention: f64,
    /// Work is refused at once while so many are worked on or wait.
    pub refuse_at: u32,
    /// Everything stands still now and then.
    pub pauses: Option<Pauses>,
}

/// Pauses at regular times: nothing is worked on while one lasts.
#[derive(Clone, Copy, Debug)]
pub struct Pauses {
    /// From the start of one to the start of the next, in ns.
    pub every: u64,
    /// How long one lasts, in ns.
    pub length: u64,
}

/// What became of offered work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It is worked on and will be done at this time.
    Started(u64),
    /// It waits.
    Queued,
    /// There is no room.
    Refused,
}

/// Slots and a queue.
#[derive(Debug)]
pub struct Server {
    condition: Condition,
    backlog: u32,
    busy: u32,
    queue: VecDeque<Job>,
}

#[derive(Clone, Copy, Debug)]
struct Job {
    id: u32,
    mark: u64,
}

impl Server {
    /// An idle server whose queue holds `backlog` requests.
    pub fn new(condition: Condition, backlog: u32) -> Self {
        Self {
            condition,
            backlog,
            busy: 0,
            queue: VecDeque::with_capacity(1024),
        }
    }

    /// Changes what it is like. What is worked on goes on; call [`start_next`](Server::start_next) after it.
    pub fn change(&mut self, condition: Condition) {
        self.condition = condition;
    }

    /// Worked on or waiting.
    pub fn load(&self) -> u32 {
        self.busy + self.queue.len() as u32
    }

    /// Work arrives.
    pub fn offer(&mut self, id: u32, mark: u64, now: u64) -> Offer {
        let full = self.queue.len() >= self.backlog as usize;
        if full || self.load() >= self.condition.refuse_at {
            Offer::Refused
        } else if self.busy < self.condition.slots {
            Offer::Started(self.start(mark, now))
        } else {
            self.queue.push_back(Job { id, mark });
            Offer::Queued
        }
    }

    /// Work that was started is done.
    pub fn finish(&mut self) {
        self.busy -= 1;
    }

    /// Starts the work that has waited longest, if a slot is free: which, and when it will be done.
    pub fn start_next(&mut self, now: u64) -> Option<(u32, u64)> {
        if self.busy >= self.condition.slots {
            return None;
        }
        let job = self.queue.pop_front()?;
        Some((job.id, self.start(job.mark, now)))
    }

    fn start(&mut self, mark: u64, now: u64) -> u64 {
        self.busy += 1;
        let condition = &self.condition;
        let excess = f64::from(self.busy + self.queue.len() as u32) / f64::from(condition.slots);
        let slower = 1.0 + condition.contention * (excess - 1.0).max(0.0);
        let drawn = condition.shape.draw(&mut of_request(mark, SERVICE));
        let work = (condition.service * slower * drawn) as u64;
        match condition.pauses {
            None => now + work,
            Some(pauses) => pauses.end_of(now, work),
        }
    }
}

impl Pauses {
    /// When `work` that begins at `now` is done. The first pause begins one interval after time 0.
    fn end_of(self, now: u64, work: u64) -> u64 {
        let mut at = now;
        let mut left = work;
        loop {
            let into = at % self.every;
            if at >= self.every && into < self.length {
                at += self.length - into;
            }
            let free = self.every - at % self.every;
            if left <= free {
                return at + left;
            }
            left -= free;
            at += free;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_meets_a_pause_ends_later_by_its_length() {
        let pauses = Pauses {
            every: 1_000,
            length: 300,
        };
        assert_eq!(pauses.end_of(100, 50), 150);
        assert_eq!(pauses.end_of(100, 899), 999);
        assert_eq!(pauses.end_of(990, 20), 1_310);
        assert_eq!(pauses.end_of(1_100, 10), 1_310);
        // Ten before the first pause, 700 between each two.
        assert_eq!(pauses.end_of(990, 1_410), 3_000);
    }

    #[test]
    fn work_starts_in_the_order_it_came_and_no_more_than_the_slots_at_once() {
        let condition = Condition {
            slots: 2,
            service: 100.0,
            shape: Shape::Exact,
            contention: 0.0,
            refuse_at: 5,
            pauses: None,
        };
        let mut server = Server::new(condition, 100);
        assert_eq!(server.offer(0, 0, 0), Offer::Started(100));
        assert_eq!(server.offer(1, 0, 10), Offer::Started(110));
        for id in 2..5 {
            assert_eq!(server.offer(id, 0, 20), Offer::Queued);
        }
        assert_eq!(server.offer(5, 0, 20), Offer::Refused);
        assert_eq!(server.start_next(50), None);
        server.finish();
        assert_eq!(server.start_next(100), Some((2, 200)));
        assert_eq!(server.start_next(100), None);
        server.change(Condition {
            slots: 1,
            ..condition
        });
        server.finish();
        assert_eq!(server.start_next(110), None, "one is still worked on");
        server.finish();
        assert_eq!(server.start_next(200), Some((3, 300)));
    }
}
