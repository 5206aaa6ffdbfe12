//! A server and callers with limiters in front of it, in simulated time: a loop over events, no clock.

use limiter_core::law::{Law, Reason};
use limiter_core::{Config, Limiter, Outcome, Slot, TickRate, Timestamp};
use std::collections::{BTreeMap, VecDeque};

pub(crate) const MILLI: u64 = 1_000;
pub(crate) const SECOND: u64 = 1_000_000;

/// First in, first out; so many slots, so long a service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Server {
    pub(crate) slots: usize,
    /// Microseconds; uniform between the two.
    pub(crate) service: (u64, u64),
    /// What has more in service and in the queue is refused after half a millisecond.
    pub(crate) refuses_above: usize,
}

impl Server {
    pub(crate) const fn new(slots: usize, service: u64) -> Self {
        Self {
            slots,
            service: (service, service),
            refuses_above: usize::MAX,
        }
    }
}

struct Job {
    caller: usize,
    slot: Slot,
    refused: bool,
}

/// Callers that always want `demand` in flight each, and the server.
pub(crate) struct World<L: Law> {
    pub(crate) server: Server,
    pub(crate) demand: u32,
    pub(crate) now: u64,
    pub(crate) limiters: Vec<Limiter<L>>,
    /// Successes of each caller.
    pub(crate) successes: Vec<u64>,
    inflight: Vec<u32>,
    queue: VecDeque<Job>,
    busy: usize,
    ends: BTreeMap<(u64, u64), Job>,
    sequence: u64,
    random: u64,
}

/// One change of a limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    pub(crate) at: u64,
    pub(crate) caller: usize,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) reason: Reason,
}

impl<L: Law + Copy> World<L> {
    pub(crate) fn new(server: Server, demand: u32, callers: usize, config: Config<L>) -> Self {
        Self {
            server,
            demand,
            now: 0,
            limiters: (0..callers)
                .map(|_| Limiter::try_new(config).expect("a configuration that works"))
                .collect(),
            successes: vec![0; callers],
            inflight: vec![0; callers],
            queue: VecDeque::new(),
            busy: 0,
            ends: BTreeMap::new(),
            sequence: 0,
            random: 88_172_645_463_325_252,
        }
    }

    pub(crate) fn alone(server: Server, demand: u32, law: L) -> Self {
        let config = Config::new(law, TickRate::MICROS).initial(20);
        Self::new(server, demand, 1, config)
    }

    pub(crate) fn limit(&self) -> u32 {
        self.limiters[0].snapshot().limit
    }

    pub(crate) fn total(&self) -> u32 {
        self.limiters.iter().map(|l| l.snapshot().limit).sum()
    }

    /// Runs for `length` and returns every change of a limit.
    pub(crate) fn run(&mut self, length: u64) -> Vec<Moved> {
        let until = self.now + length;
        let mut moves = Vec::new();
        self.admit();
        while let Some(((at, sequence), job)) = self.ends.pop_first() {
            if at >= until {
                self.ends.insert((at, sequence), job);
                break;
            }
            self.now = at;
            moves.extend(self.end(job));
            self.admit();
        }
        self.now = until;
        moves
    }

    fn end(&mut self, job: Job) -> Option<Moved> {
        let caller = job.caller;
        let outcome = if job.refused {
            Outcome::Overload
        } else {
            self.busy -= 1;
            self.successes[caller] += 1;
            Outcome::Success
        };
        let now = Timestamp::from_ticks(self.now);
        let settled = self.limiters[caller].settle(job.slot, outcome, now);
        self.inflight[caller] -= 1;
        self.serve();
        settled.change().map(|change| Moved {
            at: self.now,
            caller,
            from: change.from,
            to: change.to,
            reason: change.reason,
        })
    }

    /// Lets in whatever is wanted and admitted, caller by caller.
    fn admit(&mut self) {
        let now = Timestamp::from_ticks(self.now);
        for caller in 0..self.limiters.len() {
            while self.inflight[caller] < self.demand {
                let Ok(slot) = self.limiters[caller].admit(now) else {
                    break;
                };
                self.inflight[caller] += 1;
                let refused = self.busy + self.queue.len() >= self.server.refuses_above;
                let job = Job {
                    caller,
                    slot,
                    refused,
                };
                if refused {
                    self.end_after(MILLI / 2, job);
                } else {
                    self.queue.push_back(job);
                }
            }
        }
        self.serve();
    }

    fn serve(&mut self) {
        while self.busy < self.server.slots {
            let Some(job) = self.queue.pop_front() else {
                return;
            };
            self.busy += 1;
            // Xorshift (Marsaglia, 2003).
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            let (least, most) = self.server.service;
            self.end_after(least + self.random % (most - least + 1), job);
        }
    }

    fn end_after(&mut self, length: u64, job: Job) {
        self.sequence += 1;
        self.ends.insert((self.now + length, self.sequence), job);
    }
}

/// The time average of the first caller's limit over `moves`, which began at `start` with `limit`.
pub(crate) fn mean_limit(moves: &[Moved], start: u64, length: u64, limit: u32) -> f64 {
    let (mut at, mut limit, mut area) = (start, limit, 0.0);
    for moved in moves.iter().filter(|moved| moved.caller == 0) {
        area += f64::from(limit) * (moved.at - at) as f64;
        (at, limit) = (moved.at, moved.to);
    }
    (area + f64::from(limit) * (start + length - at) as f64) / length as f64
}
