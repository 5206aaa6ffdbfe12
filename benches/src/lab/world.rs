//! The event loop: arrivals, callers with their limiters, one server, answers.

use super::arrivals::Arrivals;
use super::callers::{Caller, Patience, Requests, sum};
use super::gate::{Changes, Clock, Gate, Shipped};
use super::model::Model;
use super::queue::{EventQueue, MILLI, NEVER, millis, seconds};
use super::random::{Shape, of_request, pick, uniform};
use super::server::{Offer, Server};
use super::stage::Stage;
use super::trace::{Asked, End, Ended, Gauges, Trace};
use limiter_core::law::Knee;
use limiter_core::{Config, Outcome, TickRate};

/// How long a refusal takes to come back.
const REFUSAL: u64 = MILLI / 2;

/// Purposes of a request's own random numbers; the server has 1.
const DELAY: u64 = 2;
const STRAY: u64 = 3;

/// Which part of a model is run, and how often the gauges are recorded.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// From then, with nothing in flight; the start of a phase.
    pub from: u64,
    /// Until then.
    pub to: u64,
    /// The gauges are recorded so often; [`NEVER`] for not at all.
    pub gauges_every: u64,
}

impl Span {
    /// All of `model`, without gauges.
    pub fn all(model: &Model) -> Self {
        Self {
            from: 0,
            to: model.end(),
            gauges_every: NEVER,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The server has worked on it.
    Done(u32),
    /// The answer is back: whether it is a good one.
    Answer(u32, bool),
}

/// Runs `span` of `model` with a limiter for each caller from `gates`, and leaves the record in `trace`.
///
/// `arrivals` must be those of the model and the seed.
pub fn run<G: Gate>(
    model: &Model,
    arrivals: &Arrivals,
    gates: impl Iterator<Item = G>,
    span: Span,
    trace: &mut Trace,
) {
    trace.clear();
    trace
        .asked
        .resize(model.phases.len(), super::trace::Asked::default());
    let mut world = World::new(model, gates, span);
    world.run(arrivals, span, trace);
    trace.changes.push(world.changes());
}

struct World<'a, G: Gate> {
    stage: Stage<'a>,
    queue: EventQueue<Event>,
    server: Server,
    guard: Option<Shipped<Knee>>,
    callers: Vec<Caller<G>>,
    requests: Requests<G::Token>,
    patience: Patience,
    gave_up: Outcome,
}

impl<'a, G: Gate> World<'a, G> {
    fn new(model: &'a Model, gates: impl Iterator<Item = G>, span: Span) -> Self {
        let callers = gates
            .zip(0_u32..)
            .map(|(gate, index)| Caller {
                gate,
                joins: part(model.callers.late, index, seconds),
                distance: part(model.callers.far, index, millis),
            })
            .collect();
        let (length, gave_up) = match model.cancel_ms {
            Some(ms) if ms < model.deadline_ms => (ms, Outcome::Cancelled),
            _ => (model.deadline_ms, Outcome::Overload),
        };
        let stage = Stage::at(model, span.from);
        let config = Config::new(Knee::new(), TickRate::NANOS);
        Self {
            stage,
            queue: EventQueue::with_capacity(4096),
            server: Server::new(stage.phase().condition(0.0), model.backlog),
            // The default configuration is right.
            guard: model
                .guarded
                .then(|| Shipped::new(config, Clock::default()).ok())
                .flatten(),
            callers,
            requests: Requests::default(),
            patience: Patience::new(millis(length)),
            gave_up,
        }
    }

    fn run(&mut self, arrivals: &Arrivals, span: Span, trace: &mut Trace) {
        let mut arrivals = arrivals.from(span.from).iter();
        let mut arrival = arrivals.next();
        let mut next_gauges = match span.gauges_every {
            NEVER => NEVER,
            _ => span.from,
        };
        loop {
            let arrives = arrival.map_or(NEVER, |one| one.at);
            let event = self.queue.next_at();
            let patience = self.patience.next_at();
            let now = arrives
                .min(event)
                .min(patience)
                .min(self.stage.next_change());
            while next_gauges <= now && next_gauges < span.to {
                trace.gauges.push(self.gauges(next_gauges));
                next_gauges += span.gauges_every;
            }
            if now >= span.to {
                return;
            }
            // A change comes before what happens at the same time, an answer before giving up.
            if now == self.stage.next_change() {
                if now == self.stage.end() {
                    trace.changes.push(self.changes());
                }
                self.change(now);
            } else if now == event {
                match self.queue.pop() {
                    Some((_, Event::Done(id))) => self.done(id, now, trace),
                    Some((_, Event::Answer(id, good))) => self.answer(id, good, now, trace),
                    None => return,
                }
            } else if now == patience {
                self.give_up(now, trace);
            } else if let Some(one) = arrival {
                self.arrive(one.mark, now, &mut trace.asked[self.stage.index()]);
                arrival = arrivals.next();
            }
        }
    }

    fn arrive(&mut self, mark: u64, now: u64, asked: &mut Asked) {
        let index = pick(mark, self.callers.len());
        let caller = &mut self.callers[index];
        if now < caller.joins {
            return;
        }
        asked.arrived += 1;
        let Some(token) = caller.gate.admit(now) else {
            asked.refused += 1;
            return;
        };
        let id = self.requests.add(index as u32, now, mark, token);
        self.patience.begin(&self.requests, id, now);
        let stray = self.stage.phase().stray;
        if stray > 0.0 && uniform(&mut of_request(mark, STRAY)) < stray {
            self.queue.push(now + REFUSAL, Event::Answer(id, false));
            return;
        }
        if let Some(guard) = &mut self.guard {
            let slot = guard.admit(now);
            if slot.is_none() {
                self.queue.push(now + REFUSAL, Event::Answer(id, false));
                return;
            }
            self.requests.get(id).slot = slot;
        }
        match self.server.offer(id, mark, now) {
            Offer::Started(until) => self.queue.push(until, Event::Done(id)),
            Offer::Queued => {}
            Offer::Refused => {
                self.leave_guard(id, Outcome::Overload, now);
                self.queue.push(now + REFUSAL, Event::Answer(id, false));
            }
        }
    }

    fn leave_guard(&mut self, id: u32, outcome: Outcome, now: u64) {
        let slot = self.requests.get(id).slot.take();
        if let (Some(guard), Some(slot)) = (&mut self.guard, slot) {
            guard.settle(slot, outcome, now);
        }
    }

    fn done(&mut self, id: u32, now: u64, trace: &mut Trace) {
        self.server.finish();
        self.leave_guard(id, Outcome::Success, now);
        self.start_waiting(now);
        let phase = self.stage.phase();
        let request = self.requests.get(id);
        let mut back = now + self.callers[request.caller as usize].distance;
        if phase.delay_ms > 0.0 {
            let shape = Shape::LogNormal { sigma: 0.2 };
            back += millis(phase.delay_ms * shape.draw(&mut of_request(request.mark, DELAY)));
        }
        if phase.silent {
            back = back.max(self.stage.end());
        }
        if back == now {
            self.answer(id, true, now, trace);
        } else {
            self.queue.push(back, Event::Answer(id, true));
        }
    }

    fn start_waiting(&mut self, now: u64) {
        while let Some((id, until)) = self.server.start_next(now) {
            self.queue.push(until, Event::Done(id));
        }
    }

    fn answer(&mut self, id: u32, good: bool, now: u64, trace: &mut Trace) {
        let request = self.requests.get(id);
        if let Some(token) = request.token.take() {
            let (outcome, end) = if good {
                (Outcome::Success, End::Good)
            } else {
                (Outcome::Overload, End::Refused)
            };
            let (caller, started) = (request.caller, request.started);
            self.callers[caller as usize]
                .gate
                .settle(token, outcome, now);
            trace.ended.push(ended(started, now, caller, end));
        }
        self.requests.remove(id);
    }

    fn give_up(&mut self, now: u64, trace: &mut Trace) {
        let Some(id) = self.patience.take(&self.requests) else {
            return;
        };
        let request = self.requests.get(id);
        if let Some(token) = request.token.take() {
            let (caller, started) = (request.caller, request.started);
            let gate = &mut self.callers[caller as usize].gate;
            gate.settle(token, self.gave_up, now);
            trace.ended.push(ended(started, now, caller, End::GaveUp));
        }
    }

    fn change(&mut self, now: u64) {
        self.server.change(self.stage.change(now));
        self.start_waiting(now);
    }

    fn gauges(&self, at: u64) -> Gauges {
        Gauges {
            at,
            limit: sum(&self.callers, G::limit),
            inflight: sum(&self.callers, G::inflight),
            load: self.server.load(),
        }
    }

    /// The changes of limits so far.
    fn changes(&self) -> Option<Changes> {
        let changes = self.callers.iter().filter_map(|one| one.gate.changes());
        changes.reduce(|a, b| a + b)
    }
}

fn ended(started: u64, now: u64, caller: u32, end: End) -> Ended {
    Ended {
        at: now,
        latency: u32::try_from((now - started) / 1_000).unwrap_or(u32::MAX),
        caller: caller as u16,
        end,
    }
}

/// What the first callers have and the others have not.
fn part(some: Option<(u32, f64)>, index: u32, convert: impl Fn(f64) -> u64) -> u64 {
    match some {
        Some((count, value)) if index < count => convert(value),
        _ => 0,
    }
}
