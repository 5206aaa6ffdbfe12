//! One logical call as a state machine without I/O.

use crate::budget::{Exhausted, Tokens};
use crate::dependency::{Admitted, Dependency, Events, Policy};
use crate::histogram::Latencies;
use crate::law::Law;
use crate::permit::Slot;
use crate::time::{Ticks, Timestamp};
use core::borrow::Borrow;
use core::fmt;
use core::ops::Deref;

mod ending;
mod options;
mod progress;

pub(crate) use ending::How;
pub use ending::{Attempt, Ending, GiveUp, Refusal, Step};
use options::Allowance;
pub use options::{CallOptions, Carried};

/// Something that leads to a [`Dependency`]: any pointer to one. Sealed by its blanket implementation.
pub trait Depends {
    #[doc(hidden)]
    type Law: Law;
    #[doc(hidden)]
    type Latencies: Latencies;
    #[doc(hidden)]
    type Policy: Borrow<Policy>;
    #[doc(hidden)]
    fn dependency(&self) -> &Dependency<Self::Law, Self::Latencies, Self::Policy>;
}

impl<L, H, C, D> Depends for D
where
    L: Law,
    H: Latencies,
    C: Borrow<Policy>,
    D: Deref<Target = Dependency<L, H, C>>,
{
    type Law = L;
    type Latencies = H;
    type Policy = C;

    fn dependency(&self) -> &Dependency<L, H, C> {
        self
    }
}

/// A logical call: attempts, hedges, waits and their end, one step at a time.
///
/// Ask [`step`](Call::step) what to do, do it, report the end of every attempt to [`finish`](Call::finish),
/// and ask again. The call holds what its attempts take: a slot of the limiter and a lease of the breaker
/// each. A slot is freed before the attempt that comes after it starts, and during back-off unless the
/// options say otherwise.
///
/// What is tried again: failures that are not permanent, overloads and timeouts, while attempts, time and
/// budget last. What is refused here is not, and costs nothing. An exhausted budget ends no attempt that is
/// running. Random words spread delays; take them from [`Random`](crate::Random).
///
/// # Cancellation
///
/// Dropping the call frees everything: slots, leases, its place among those in back-off. A destructor has no
/// clock and tells nobody who waits for a slot, so an adapter with a queue calls
/// [`abandon`](Call::abandon) first.
#[must_use = "dropping a call gives up"]
pub struct Call<D: Depends> {
    depends: D,
    time: Allowance,
    phase: Phase,
    /// Started so far, those that were carried here among them.
    attempts: u32,
    /// Of the options; 0 as the policy says.
    most_attempts: u32,
    hedges: bool,
    /// Keeps its slot during back-off.
    holds: bool,
    told_not_to: bool,
    /// Counted among those in back-off.
    place: bool,
    failures: u32,
    /// What the next attempt costs, unless it is the first; 0 as the policy says.
    cost: Tokens,
    /// The back-off before, without what a hint added.
    delay: Ticks,
    /// When it began to wait, and for how long.
    waits_since: Timestamp,
    waits_for: Ticks,
    running: [Option<Running>; 2],
    hedge_after: Option<Ticks>,
    /// Kept during back-off.
    slot: Option<Slot>,
    events: Events,
}

#[derive(Debug)]
struct Running {
    admitted: Admitted,
    number: u32,
    timeout: Ticks,
    end: End,
}

/// What ends an attempt that takes too long. A word: three bytes beside it would be copied by a routine of 600.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum End {
    /// The time after which an attempt usually is given up.
    Usual = 1,
    /// The end of the call, before that.
    Call = 2,
}

/// Where a call stands. From `Done` on it is over and holds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Nothing was sent, here or before it was carried here.
    New,
    Ready,
    Waiting,
    Running,
    Done,
    /// The budget did not cover the cost; `cost` is what there was.
    Exhausted,
    Attempts,
    Deadline,
    WaitTooLong,
    Permanent,
    ToldNotTo,
    Crowded,
    Abandoned,
}

impl Phase {
    #[inline]
    fn is_over(self) -> bool {
        self >= Self::Done
    }
}

impl<D: Depends> Call<D> {
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(crate) fn begin(depends: D, now: Timestamp, options: CallOptions) -> Self {
        let policy = depends.dependency().policy();
        let carried = options.carried;
        let total = carried.map_or(options.total.unwrap_or(policy.total), |carried| {
            policy.rate.ticks(carried.left)
        });
        let attempts = carried.map_or(0, |carried| carried.attempts);
        Self {
            time: Allowance::new(total, now),
            phase: if attempts == 0 {
                Phase::New
            } else {
                Phase::Ready
            },
            attempts,
            most_attempts: options.attempts.map_or(0, |most| most.max(1)),
            hedges: options.hedge,
            holds: options.hold,
            told_not_to: false,
            place: false,
            failures: 0,
            cost: Tokens::milli(0),
            delay: Ticks::new(0),
            waits_since: now,
            waits_for: Ticks::new(0),
            running: [None, None],
            hedge_after: None,
            slot: None,
            events: Events::default(),
            depends,
        }
    }

    /// What to do next. Asking again changes nothing until its time has come.
    ///
    /// A call that gave up because an attempt was refused here may be asked again, later; after any other
    /// end the answer stays the same.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub fn step(&mut self, now: Timestamp, random: u32) -> Step {
        if self.phase == Phase::Done {
            return Step::Done;
        }
        let left = self.time.at(now);
        // Where code is cheap, the way that most go is laid out in the caller.
        let is_new = cfg!(target_pointer_width = "64") && self.phase == Phase::New;
        if is_new && self.depends.dependency().backlog().marks() == 0 {
            return self.start(0, None, left, now, random);
        }
        self.go_on(random)
    }

    /// What to do when it is over.
    #[inline(never)]
    fn answer(&self) -> Step {
        Step::GiveUp(match self.phase {
            Phase::Exhausted => GiveUp::Exhausted(Exhausted { balance: self.cost }),
            Phase::Attempts => GiveUp::Attempts,
            Phase::Deadline => GiveUp::Deadline,
            Phase::WaitTooLong => GiveUp::WaitTooLong,
            Phase::Permanent => GiveUp::Permanent,
            Phase::ToldNotTo => GiveUp::ToldNotTo,
            Phase::Crowded => GiveUp::Crowded,
            Phase::Abandoned => GiveUp::Abandoned,
            _ => return Step::Done,
        })
    }

    /// Like [`step`](Call::step), with a slot that the adapter took for the next attempt, by waiting in its
    /// queue. Where no attempt is due the slot is freed.
    pub fn step_with(&mut self, slot: Slot, now: Timestamp, random: u32) -> Step {
        self.time.at(now);
        // One that is held already is as good.
        if let Some(other) = self.slot.replace(slot) {
            self.release(other);
        }
        self.go_on(random)
    }

    #[inline(never)]
    fn go_on(&mut self, random: u32) -> Step {
        let (left, now) = (self.time.left(), self.time.now());
        if self.phase == Phase::Waiting {
            let (since, length) = (self.waits_since, self.waits_for);
            match now.since(since) {
                Some(passed) if passed >= length => {
                    self.leave_place();
                    self.phase = Phase::Ready;
                }
                Some(_) => return self.waits(since.after(length)),
                // The clock was set back: wait no longer than from now on.
                None => return self.wait(length),
            }
        }
        if self.phase < Phase::Waiting {
            let slot = self.slot.take();
            let marks = self.depends.dependency().backlog().marks();
            return self.start(marks, slot, left, now, random);
        }
        self.give_up_slot();
        if self.phase.is_over() {
            self.answer()
        } else {
            self.look_after(random)
        }
    }

    /// Waits until then, with its slot if it may keep one.
    fn waits(&mut self, until: Timestamp) -> Step {
        if !self.holds {
            self.give_up_slot();
        }
        Step::Wait(until)
    }

    /// Frees the slot that no attempt is due for.
    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn give_up_slot(&mut self) {
        if let Some(slot) = self.slot.take() {
            self.release(slot);
        }
    }

    /// Reports how an attempt ended. A number that is not running is none of this call's and changes nothing.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub fn finish(&mut self, number: u32, ending: Ending, now: Timestamp, random: u32) {
        // Where code is dear there is one for all endings.
        #[cfg(target_pointer_width = "64")]
        if matches!(ending.how, How::Success) && self.succeed_quietly(number, now) {
            return;
        }
        self.finish_any(number, ending, now, random);
    }

    #[cfg_attr(target_pointer_width = "64", inline(never))]
    fn finish_any(&mut self, number: u32, ending: Ending, now: Timestamp, random: u32) {
        self.time.at(now);
        let is_it = |running: &Running| running.number == number;
        if let Some(index) = self
            .running
            .iter()
            .position(|it| it.as_ref().is_some_and(is_it))
        {
            self.end(index, ending, random);
        }
    }

    /// Attempts made and time left, to travel with a job that is put back into a queue.
    pub fn carried(&mut self, now: Timestamp) -> Carried {
        let left = self.time.at(now);
        let rate = self.depends.dependency().policy().rate;
        Carried::new(self.attempts, left, rate)
    }

    /// Attempts started so far.
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// What happened since it was asked last that an adapter has to see to.
    pub fn take_events(&mut self) -> Events {
        core::mem::take(&mut self.events)
    }

    /// Gives up: what is running counts as given up by the caller, everything is freed.
    pub fn abandon(&mut self, now: Timestamp) -> Events {
        self.time.at(now);
        self.settle_running(Ending::cancelled(), 0);
        self.free();
        if !self.phase.is_over() {
            self.phase = Phase::Abandoned;
        }
        self.take_events()
    }

    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn release(&mut self, slot: Slot) {
        let settled = self.depends.dependency().limiter().release(slot);
        self.events.add(settled);
    }

    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn leave_place(&mut self) {
        if core::mem::take(&mut self.place) {
            self.depends.dependency().backlog().leave();
        }
    }

    #[inline(never)]
    fn free(&mut self) {
        for index in 0..self.running.len() {
            if let Some(running) = self.running.get_mut(index).and_then(Option::take) {
                let settled = self.depends.dependency().drop_attempt(running.admitted);
                self.events.add(settled);
            }
        }
        self.give_up_slot();
        self.leave_place();
    }
}

impl<D: Depends> Drop for Call<D> {
    #[inline]
    fn drop(&mut self) {
        if !self.phase.is_over() {
            self.free();
        }
    }
}

impl<D: Depends> fmt::Debug for Call<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("attempts", &self.attempts)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}
