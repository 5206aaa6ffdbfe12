//! What all handles and calls of one dependency share, and a call that tells whom it concerns what it did.

use super::counters::Counters;
use super::options::{Attempt, CallOptions, Ending, GaveUp};
use crate::clock::{Clock, RATE};
use crate::request::Request;
use crate::shared::Lane;
use crate::telemetry::{Alarm, REFUSAL};
use crate::tuned::Tuned;
use crate::wait::{Ended, Line, Settings, Waiters, serve};
use crate::wall::Wall;
use crate::way::Way;
use core::ops::Deref;
use limiter_core::law::Law;
use limiter_core::{
    BreakerState, Call, Carried, Events, GiveUp, LatencyHistogram, Random, Refusal, Rejected, Seat,
    Step, Timestamp,
};
use std::sync::Arc;

pub(crate) type Core<L> = limiter_core::Dependency<Tuned<L>, LatencyHistogram>;

#[derive(Debug)]
pub(crate) struct Shared<L: Law, C> {
    pub(crate) core: Core<L>,
    pub(crate) clock: C,
    pub(crate) counters: Counters,
    random: Random,
    waiters: Waiters,
    wall: Wall,
    alarm: Alarm,
}

impl<L: Law, C: Clock> Shared<L, C> {
    pub(crate) fn new(core: Core<L>, waiting: Settings, clock: C, seed: u32) -> Self {
        let now = clock.now();
        let shared = Self {
            core,
            clock,
            counters: Counters::default(),
            random: Random::new(seed),
            waiters: Waiters::new(waiting, 0),
            wall: Wall::new(now),
            alarm: Alarm::default(),
        };
        shared.read_wall(now);
        shared
    }

    /// Does what follows from what a call did.
    fn follow(&self, events: Events) {
        if let Some(change) = events.breaker {
            self.counters.breaker(change);
            self.alarm.call(REFUSAL);
        }
        if events.limit.is_some() {
            self.changed();
        }
        if events.wake {
            serve(self);
        }
    }
}

impl<L: Law, C: Clock> Lane for Shared<L, C> {
    type Law = L;
    type Clock = C;

    fn way(&self) -> Way<'_, L> {
        Way::Plain(self.core.limiter())
    }

    fn clock(&self) -> &C {
        &self.clock
    }

    fn waiters(&self) -> &Waiters {
        &self.waiters
    }

    fn wall(&self) -> &Wall {
        &self.wall
    }

    fn alarm(&self) -> &Alarm {
        &self.alarm
    }
}

/// Leads a call to its dependency.
#[derive(Debug)]
pub(crate) struct Handle<L: Law, C>(Arc<Shared<L, C>>);

impl<L: Law, C> Deref for Handle<L, C> {
    type Target = Core<L>;

    fn deref(&self) -> &Core<L> {
        &self.0.core
    }
}

/// A call that does what follows from its steps, also when it is dropped.
#[derive(Debug)]
pub(crate) struct Guard<L: Law, C: Clock> {
    shared: Arc<Shared<L, C>>,
    /// `None` once it was dropped in a panic.
    call: Option<Call<Handle<L, C>>>,
    over: bool,
    options: CallOptions,
    /// The next step begins an attempt, unless something speaks against it.
    begins: bool,
}

/// What to do next, with the core's slots and times made ours.
pub(crate) enum Next<L: Law, C: Clock> {
    Attempt(Attempt),
    /// The attempt of this number is over its time: drop it.
    Cancel(u32),
    /// Wait for an attempt to end, or until this time.
    Running(Timestamp),
    /// Back-off until this time.
    Wait(Timestamp),
    /// In line for a slot, until this time.
    Queue(Line<Shared<L, C>>, Timestamp),
    /// An attempt succeeded.
    Done,
    GiveUp(GiveUp),
}

impl<L: Law, C: Clock> Guard<L, C> {
    pub(crate) fn new(shared: &Arc<Shared<L, C>>, options: CallOptions) -> Self {
        let handle = Handle(Arc::clone(shared));
        let call = Core::<L>::call_owned(handle, shared.clock.now(), options.core);
        shared.counters.began();
        Self {
            shared: Arc::clone(shared),
            call: Some(call),
            over: false,
            options,
            begins: true,
        }
    }

    pub(crate) fn clock(&self) -> &C {
        &self.shared.clock
    }

    /// What to do next, with a slot that was waited for.
    pub(crate) fn step(&mut self, seat: Option<Seat>) -> Next<L, C> {
        let begins = core::mem::replace(&mut self.begins, false);
        let slot = match seat {
            None if begins => match self.enter() {
                Ok(seat) => seat.map(Seat::into_slot),
                Err(refused) => return self.refused(refused),
            },
            seat => seat.map(Seat::into_slot),
        };
        let (now, word) = (self.shared.clock.now(), self.shared.random.word());
        let Some(call) = &mut self.call else {
            return Next::GiveUp(GiveUp::Abandoned);
        };
        let step = match slot {
            Some(slot) => call.step_with(slot, now, word),
            None => call.step(now, word),
        };
        let (carried, events) = (call.carried(now), call.take_events());
        self.shared.follow(events);
        match step {
            Step::Attempt(attempt) => {
                self.shared.counters.started(&attempt);
                self.shared.look_for_pressure();
                Next::Attempt(Attempt {
                    number: attempt.number,
                    timeout: RATE.duration(attempt.timeout),
                    hedge: attempt.hedge,
                    carried,
                })
            }
            Step::Cancel(number) => {
                self.shared.counters.ended(limiter_core::Ending::timeout());
                Next::Cancel(number)
            }
            Step::Running(until) => Next::Running(until),
            Step::Wait(until) => {
                self.begins = !self.options.holds;
                Next::Wait(until)
            }
            Step::Done => {
                self.over = true;
                self.shared.counters.succeeded();
                Next::Done
            }
            Step::GiveUp(GiveUp::Refused(Refusal::Limiter(refused))) => self.refused(refused),
            Step::GiveUp(why) => Next::GiveUp(why),
        }
    }

    /// Takes the slot of an attempt that says its class; others take theirs when they begin. A breaker that is
    /// open refuses without one.
    fn enter(&mut self) -> Ended {
        let now = self.shared.clock.now();
        match self.request(now) {
            Some(request)
                if !matches!(self.shared.core.breaker(now), BreakerState::Open { .. }) =>
            {
                self.shared.admit_for(&request)
            }
            _ => Ok(None),
        }
    }

    /// What the next attempt says of itself, if anything.
    fn request(&mut self, now: Timestamp) -> Option<Request> {
        let priority = self.options.priority?;
        let made = self.call.as_mut()?.carried(now).attempts;
        let number = made.saturating_add(1);
        Some(Request::new().priority(priority).attempt(number))
    }

    /// The limiter refused: waits in line, where there is one.
    fn refused(&mut self, refused: Rejected) -> Next<L, C> {
        if !self.shared.waiters.takes(refused) {
            return Next::GiveUp(GiveUp::Refused(Refusal::Limiter(refused)));
        }
        let now = self.shared.clock.now();
        let left = self.call.as_mut().map(|call| call.carried(now).left);
        let until = now.after(RATE.ticks(left.unwrap_or_default()));
        let request = self.request(now).unwrap_or_default();
        let line = Line::new(Arc::clone(&self.shared), request);
        Next::Queue(line.by(until), until)
    }

    pub(crate) fn finish(&mut self, number: u32, ending: Ending) {
        let (now, word) = (self.shared.clock.now(), self.shared.random.word());
        if let Some(call) = &mut self.call {
            call.finish(number, ending.0, now, word);
            let events = call.take_events();
            self.shared.counters.ended(ending.0);
            self.shared.follow(events);
        }
    }

    pub(crate) fn give_up<T, E>(
        &mut self,
        why: GiveUp,
        last: Option<Result<T, E>>,
    ) -> GaveUp<T, E> {
        self.over = true;
        self.shared.counters.gave_up(why);
        if matches!(why, GiveUp::Refused(_) | GiveUp::Exhausted(_)) {
            self.shared.alarm.call(REFUSAL);
        }
        let now = self.shared.clock.now();
        let carried = match &mut self.call {
            Some(call) => call.carried(now),
            None => Carried {
                attempts: 0,
                left: core::time::Duration::ZERO,
            },
        };
        GaveUp { why, last, carried }
    }
}

impl<L: Law, C: Clock> Drop for Guard<L, C> {
    fn drop(&mut self) {
        if !self.over {
            self.shared.counters.dropped();
        }
        if std::thread::panicking() {
            // Frees everything and teaches nothing; whom it makes room for is not known, so all are asked.
            drop(self.call.take());
            serve(&*self.shared);
        } else if let Some(call) = &mut self.call {
            let events = call.abandon(self.shared.clock.now());
            self.shared.follow(events);
        }
    }
}
