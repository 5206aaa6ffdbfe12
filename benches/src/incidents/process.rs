//! One process of a tier: slots, a queue, what stands before them, and what refusing costs.

use super::client::Answer;
use super::scenario::Station;
use super::setting::{Mode, wall_offset};
use crate::lab::queue::millis;
use crate::lab::random::{Random, of_request, uniform};
use limiter_core::law::Knee;
use limiter_core::{
    BudgetConfig, Caller, Callers, Config, Limiter, Outcome, Request, RetryBudget, Slot, TickRate,
    Timestamp, Tokens,
};
use rand_distr::{Distribution, StandardUniform};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What stands before a process.
#[derive(Debug)]
enum Guard {
    /// Nothing but the length of the queue.
    Open,
    /// A number.
    Fixed(Arc<Semaphore>),
    /// The library's limiter at its defaults.
    Adaptive(Box<Ours>),
}

/// A limiter, and what each caller was let in for.
#[derive(Debug)]
struct Ours {
    limiter: Limiter,
    callers: Callers<CELLS>,
    /// For those who are refused and asked to come back, as in `limiter-std`.
    invitations: RetryBudget,
}

/// As in `limiter-std`.
const CELLS: usize = 1_024;

/// What a request holds while it is in.
#[derive(Debug, Default)]
pub(super) enum Token {
    #[default]
    None,
    #[allow(dead_code, reason = "held until it is dropped")]
    Fixed(OwnedSemaphorePermit),
    Adaptive(Slot),
}

/// One process.
#[derive(Debug)]
pub(super) struct Process {
    /// Which station's.
    pub(super) station: usize,
    guard: Guard,
    slots: u32,
    workers: u32,
    busy: u32,
    queue: VecDeque<u32>,
    most: usize,
    contention: f64,
    refuse_cost: f64,
    /// Work that refusals have cost and that is not done yet, in ns, and since when idle slots do it.
    debt: f64,
    seen: u64,
}

/// The largest debt, in mean works for each slot: whoever comes then is not even refused.
const MOST_DEBT: f64 = 10.0;

impl Process {
    /// A process of `station`; with the library if `ours`.
    pub(super) fn new(
        index: usize,
        station: &Station,
        mode: Mode,
        ours: bool,
        random: &mut Random,
    ) -> Self {
        let guard = match mode {
            Mode::ByHand => {
                let limit = station.by_hand_limit.unwrap_or(station.slots * 3 / 2);
                Guard::Fixed(Arc::new(Semaphore::new(limit.max(1) as usize)))
            }
            Mode::Library if ours => {
                let limiter = Limiter::new(Config::new(Knee::new(), TickRate::NANOS));
                limiter.set_wall_offset(wall_offset(random));
                let seed = (uniform(random) * 4e9) as u32;
                let callers = Callers::new(TickRate::NANOS, seed);
                let budget = BudgetConfig::new().without_floor();
                Guard::Adaptive(Box::new(Ours {
                    limiter,
                    callers,
                    invitations: RetryBudget::new(budget, TickRate::NANOS),
                }))
            }
            _ => Guard::Open,
        };
        let workers = match guard {
            Guard::Adaptive(_) => u32::MAX,
            _ => station.workers.unwrap_or(u32::MAX),
        };
        Self {
            station: index,
            guard,
            slots: station.slots,
            workers,
            busy: 0,
            queue: VecDeque::new(),
            most: station.queue as usize,
            contention: station.contention,
            refuse_cost: station.refuse_cost,
            debt: 0.0,
            seen: 0,
        }
    }

    /// Whether it knows until when its callers wait, and works for nobody who is gone.
    pub(super) fn reads_deadlines(&self) -> bool {
        matches!(self.guard, Guard::Adaptive(_))
    }

    pub(super) fn set_slots(&mut self, slots: u32) {
        self.slots = slots;
    }

    /// Lets a request of a client in, or not.
    pub(super) fn admit(&self, client: u32, now: u64) -> Option<Token> {
        if self.queue.len() >= self.most {
            return None;
        }
        match &self.guard {
            Guard::Open => Some(Token::None),
            Guard::Fixed(permits) => {
                let permit = Arc::clone(permits).try_acquire_owned();
                permit.ok().map(Token::Fixed)
            }
            Guard::Adaptive(ours) => {
                // The hash of its address.
                let caller = Caller::new(StandardUniform.sample(&mut of_request(client.into(), 2)));
                let now = Timestamp::from_ticks(now);
                let slot = ours
                    .callers
                    .admit(&ours.limiter, Request::new(), caller, now);
                if slot.is_ok() {
                    ours.invitations.deposit();
                }
                slot.ok().map(Token::Adaptive)
            }
        }
    }

    /// A request that was let in is over.
    pub(super) fn settle(&self, token: Token, outcome: Outcome, now: u64) {
        if let (Guard::Adaptive(ours), Token::Adaptive(slot)) = (&self.guard, token) {
            let _ = ours
                .limiter
                .settle(slot, outcome, Timestamp::from_ticks(now));
        }
    }

    /// Somebody was refused, which is work too. Returns what it is told.
    pub(super) fn refused(&mut self, service: f64, now: u64) -> Answer {
        self.work_off(now);
        let most = MOST_DEBT * service * f64::from(self.slots);
        self.debt = (self.debt + self.refuse_cost * service).min(most);
        let invited = match &self.guard {
            Guard::Adaptive(ours) => {
                let now = Timestamp::from_ticks(now);
                ours.invitations.withdraw(Tokens::ONE, now).is_ok()
            }
            _ => true,
        };
        if invited {
            Answer::Refused
        } else {
            Answer::Away
        }
    }

    /// Idle slots do what refusing has cost.
    fn work_off(&mut self, now: u64) {
        let idle = f64::from(self.slots.saturating_sub(self.busy));
        let passed = now.saturating_sub(self.seen) as f64;
        self.debt = (self.debt - idle * passed).max(0.0);
        self.seen = now;
    }

    /// A request comes into the queue.
    pub(super) fn enter(&mut self, job: u32) {
        self.queue.push_back(job);
    }

    /// The next request, when there is a slot for it.
    pub(super) fn next(&mut self) -> Option<u32> {
        if self.busy >= self.slots.min(self.workers) {
            return None;
        }
        self.queue.pop_front()
    }

    /// Takes a slot for a request: how long its own work takes.
    pub(super) fn start(&mut self, station: &Station, service_ms: f64, mark: u64, now: u64) -> u64 {
        self.work_off(now);
        self.busy += 1;
        let mean = millis(service_ms) as f64;
        let load = f64::from(self.busy) + self.queue.len() as f64;
        let excess = load / f64::from(self.slots.max(1)) - 1.0;
        let slower = 1.0 + self.contention * excess.max(0.0);
        let own = mean * slower * station.shape.draw(&mut of_request(mark, 1));
        let owed = self.debt.min(3.0 * mean);
        self.debt -= owed;
        (own + owed) as u64
    }

    /// A slot is free again.
    pub(super) fn leave(&mut self) {
        self.busy = self.busy.saturating_sub(1);
    }
}
