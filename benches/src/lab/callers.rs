//! Callers: each has a limiter, and requests that are out.

use super::gate::Gate;
use super::queue::NEVER;
use limiter_core::Slot;
use std::collections::VecDeque;

/// Someone who calls the server through a limiter.
#[derive(Debug)]
pub struct Caller<G> {
    /// The limiter.
    pub gate: G,
    /// Calls from then on, in ns.
    pub joins: u64,
    /// What the way back adds for this one, in ns.
    pub distance: u64,
}

/// A request that was let in and is not over at the server.
#[derive(Debug)]
pub struct Request<T> {
    /// Whose it is.
    pub caller: u32,
    /// When it was let in, in ns.
    pub started: u64,
    /// What the arrival stream gave it.
    pub mark: u64,
    /// The caller's place; `None` once the caller has given up.
    pub token: Option<T>,
    /// The place in the server's own limiter.
    pub slot: Option<Slot>,
    generation: u32,
}

/// All requests that are out, by number; numbers are used again.
#[derive(Debug)]
pub struct Requests<T> {
    all: Vec<Request<T>>,
    free: Vec<u32>,
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Self {
            all: Vec::with_capacity(1024),
            free: Vec::with_capacity(1024),
        }
    }
}

impl<T> Requests<T> {
    /// Adds a request.
    pub fn add(&mut self, caller: u32, started: u64, mark: u64, token: T) -> u32 {
        let mut request = Request {
            caller,
            started,
            mark,
            token: Some(token),
            slot: None,
            generation: 0,
        };
        match self.free.pop() {
            None => {
                self.all.push(request);
                self.all.len() as u32 - 1
            }
            Some(id) => {
                let place = &mut self.all[id as usize];
                request.generation = place.generation.wrapping_add(1);
                *place = request;
                id
            }
        }
    }

    /// Request `id`, which is out.
    pub fn get(&mut self, id: u32) -> &mut Request<T> {
        &mut self.all[id as usize]
    }

    /// Frees the number `id` of a request that is over.
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }
}

/// When callers give up. All wait equally long, so it is a queue and no heap.
#[derive(Debug)]
pub struct Patience {
    length: u64,
    waiting: VecDeque<(u64, u32, u32)>,
}

impl Patience {
    /// Callers who wait for `length` ns.
    pub fn new(length: u64) -> Self {
        Self {
            length,
            waiting: VecDeque::with_capacity(1024),
        }
    }

    /// Request `id` starts now.
    pub fn begin<T>(&mut self, requests: &Requests<T>, id: u32, now: u64) {
        let generation = requests.all[id as usize].generation;
        self.waiting.push_back((now + self.length, id, generation));
    }

    /// When the next caller may give up, [`NEVER`] when nobody waits.
    pub fn next_at(&self) -> u64 {
        self.waiting.front().map_or(NEVER, |waiting| waiting.0)
    }

    /// Takes whoever's patience ends next; `None` when that request was answered.
    pub fn take<T>(&mut self, requests: &Requests<T>) -> Option<u32> {
        let (_, id, generation) = self.waiting.pop_front()?;
        let request = &requests.all[id as usize];
        (request.generation == generation && request.token.is_some()).then_some(id)
    }
}

/// The sum of a gauge over callers.
pub fn sum<G: Gate>(callers: &[Caller<G>], gauge: impl Fn(&G) -> u32) -> u32 {
    callers.iter().map(|caller| gauge(&caller.gate)).sum()
}
