//! The end of a slot: what it teaches, and giving it back.

use crate::cell::gate::DUE;
use crate::cell::sync::Word;
use crate::cell::window::{Fill, Position};
use crate::law::math::quotient_up;
use crate::law::{Law, Reason, excessive};
use crate::limiter::Limiter;
use crate::outcome::Outcome;
use crate::permit::{Sample, Slot};
use crate::time::{Timestamp, elapsed};

/// What [`Permit::finish`](crate::Permit::finish) changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Settled {
    pub(crate) change: Option<Change>,
    pub(crate) wake: bool,
}

impl Settled {
    pub(crate) const NOTHING: Self = Self::freed(false);

    #[inline]
    pub(crate) const fn freed(wake: bool) -> Self {
        Self { change: None, wake }
    }

    /// The change of the limit that this call made, if it closed a window that moved it: the last of several.
    pub const fn change(&self) -> Option<Change> {
        self.change
    }

    /// Someone waits and may be let in now: the adapter that set the waiting bit serves its queue.
    pub const fn wake(&self) -> bool {
        self.wake
    }
}

/// One change of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Change {
    /// The limit before.
    pub from: u32,
    /// The limit after.
    pub to: u32,
    /// Why.
    pub reason: Reason,
}

impl<L: Law> Limiter<L> {
    /// Records what became of a slot and frees it; for adapters. Equal to
    /// [`observe`](Limiter::observe) and then [`release`](Limiter::release).
    #[cfg_attr(target_has_atomic = "32", inline)]
    #[cfg_attr(not(target_has_atomic = "32"), inline(never))]
    pub fn settle(&self, slot: Slot, outcome: Outcome, now: Timestamp) -> Settled {
        self.end(slot, outcome, now)
    }

    /// The same where a permit ends, which is worth code of its own everywhere.
    #[inline]
    pub(crate) fn end(&self, slot: Slot, outcome: Outcome, now: Timestamp) -> Settled {
        if !slot.sample().teaches(outcome) {
            return self.release(slot);
        }
        let (slot, change) = self.observe_held(slot, outcome, now);
        Settled {
            change,
            ..self.release(slot)
        }
    }

    /// Records what became of a slot, and frees it when a law of the user's panics; gives it back, and the change.
    #[inline]
    pub(crate) fn observe_held(
        &self,
        slot: Slot,
        outcome: Outcome,
        now: Timestamp,
    ) -> (Slot, Option<Change>) {
        let guard = ReleaseOnDrop {
            limiter: self,
            weight: slot.weight,
        };
        let change = self.observe(&slot, outcome, now);
        core::mem::forget(guard);
        (slot, change)
    }

    /// Records what became of a slot without freeing it; for adapters whose work outlives its answer.
    ///
    /// Call it once for a slot: a second call would count the work twice. A change, whichever way, may have
    /// made room for waiters: serve the queue after it.
    #[inline]
    pub fn observe(&self, slot: &Slot, outcome: Outcome, now: Timestamp) -> Option<Change> {
        let sample = slot.sample();
        if !sample.teaches(outcome) {
            return None;
        }
        self.learn(sample, outcome, now)
    }

    /// Records what became of work whose RTT ended at `ended`, and whose outcome is known only `now`: a
    /// response whose trailers tell. The RTT is added to the window that is open now, for those before are
    /// closed. Whether its slot is free by now does not matter; for adapters.
    ///
    /// Call it once for a slot, and serve the queue after a change, whichever way.
    #[inline]
    pub fn observe_sample(
        &self,
        sample: Sample,
        outcome: Outcome,
        ended: Timestamp,
        now: Timestamp,
    ) -> Option<Change> {
        if !sample.teaches(outcome) {
            return None;
        }
        // As old now as it was at its end.
        let since = self.settings.at(now).wrapping_sub(self.settings.at(ended));
        let started = sample.started.wrapping_add(since);
        let sample = Sample { started, ..sample };
        self.learn(sample, outcome, now)
    }

    /// Adds to the window, and closes it when it is due. Not inlined where most permits skip it.
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    fn learn(&self, sample: Sample, outcome: Outcome, now: Timestamp) -> Option<Change> {
        self.record(sample, now, outcome)
            .then(|| self.close_window(DUE, now))
            .flatten()
    }

    /// Frees a slot and teaches nothing; for adapters.
    #[inline]
    pub fn release(&self, slot: Slot) -> Settled {
        let Slot { weight, .. } = slot;
        Settled::freed(self.entry.admission.release(weight).waiting())
    }

    /// Records and frees a slot from an interrupt handler: no law runs here, the window is marked due and
    /// closed by the next permit that finishes outside.
    pub fn settle_from_isr(&self, slot: Slot, outcome: Outcome, now: Timestamp) -> Settled {
        if self.record(slot.sample(), now, outcome) {
            self.entry.gate.mark(DUE);
        }
        self.release(slot)
    }

    /// Adds the sample to the open window; returns whether the window should be looked at.
    #[cfg_attr(target_has_atomic = "32", inline)]
    #[cfg_attr(not(target_has_atomic = "32"), inline(never))]
    fn record(&self, sample: Sample, now: Timestamp, outcome: Outcome) -> bool {
        let now = self.settings.at(now);
        let Some(shift) = sample.tag.timed() else {
            return self.record_untimed(sample, outcome, now);
        };
        // Most end so: there is nothing to look at but whether a sum is full.
        if outcome == Outcome::Success && sample.weight == 1 && self.window.is_midway(now) {
            if let Some(rtt) = elapsed(sample.started, now) {
                let brimming = self.window.add_success(rtt, shift).brimming;
                return brimming || self.entry.gate.read().pending();
            }
        }
        self.record_any(sample, outcome, now)
    }

    /// The same for whatever it is.
    #[cold]
    #[inline(never)]
    fn record_any(&self, sample: Sample, outcome: Outcome, now: Word) -> bool {
        let shift = sample.tag.timed().unwrap_or(0);
        let age = elapsed(sample.started, now);
        let units = age.unwrap_or(0);
        let position = self.position(now);
        let succeeded = outcome == Outcome::Success;
        // A clock that stepped back since the start has no RTT to tell.
        let rtt = age.filter(|_| succeeded);
        let due = if position == Position::Settling {
            if rtt.is_some() {
                self.window.add_early(shift);
            }
            false
        } else {
            // The age once for each slot without an RTT, so that the mean in flight counts slots. No weight is 0.
            let mut fill = match sample.weight.wrapping_sub(u32::from(succeeded)) {
                1 => Some(self.window.add_other(units, shift)),
                0 => None,
                others => {
                    let ages = units.saturating_mul(Word::from(others));
                    Some(self.window.add_other(ages, shift))
                }
            };
            if let Some(rtt) = rtt {
                fill = Some(self.window.add_success(rtt, shift));
            }
            fill.is_some_and(|fill| self.due(position, fill))
        };
        let seen = self.entry.gate.read();
        let counts = sample.tag.is_of(seen.epoch());
        let cuts = !succeeded && self.record_other(outcome, counts, units, now);
        cuts | due | seen.pending()
    }

    /// Counts what did not succeed, and returns whether it calls for a cut.
    fn record_other(&self, outcome: Outcome, counts: bool, units: Word, now: Word) -> bool {
        let overload = match outcome {
            Outcome::Overload => counts,
            Outcome::Cancelled => {
                self.give_up();
                // Given up when it was older than usual: evidence of slowness. With callers that give up
                // after a deadline, a server of 64 slots that fell to 4 had no goodput left under every law
                // that ignored it.
                let usual = self.window.usual();
                counts && usual != 0 && units > usual
            }
            Outcome::Failure | Outcome::Ignored | Outcome::Success => false,
        };
        overload && self.overloaded(now)
    }

    /// Of a permit that is not timed only an overload counts, and that it was given up.
    #[inline]
    fn record_untimed(&self, sample: Sample, outcome: Outcome, now: Word) -> bool {
        match outcome {
            Outcome::Success | Outcome::Failure | Outcome::Ignored => false,
            Outcome::Overload => {
                let epoch = self.entry.gate.read().epoch();
                sample.tag.is_of(epoch) && self.overloaded(now)
            }
            Outcome::Cancelled => {
                self.give_up();
                false
            }
        }
    }

    /// Counts a permit that was given up. When so many are that they may hide overloads, all are timed.
    fn give_up(&self) {
        let given_up = self.window.give_up();
        if self.are_many(given_up, || self.window.well()) {
            self.entry.sampling.set(0);
        }
    }

    /// So many given up may hide overloads.
    pub(crate) fn are_many(&self, given_up: u32, successes: impl FnOnce() -> u32) -> bool {
        given_up >= self.settings.urgent
            && excessive(successes(), given_up, u32::from(self.settings.tolerance))
    }

    /// Counts an overload, and returns whether it calls for a cut.
    fn overloaded(&self, now: Word) -> bool {
        let overloads = self.window.add_overload();
        self.urgent(now, overloads)
    }

    /// The overloads call for a cut before the window is due. Not before a round trip has passed: a refusal
    /// ends before the successes that were admitted with it, so the first to end would all be refusals.
    #[inline]
    pub(crate) fn urgent(&self, now: Word, overloads: u32) -> bool {
        overloads >= self.settings.urgent && self.is_urgent(now, overloads)
    }

    #[cold]
    fn is_urgent(&self, now: Word, overloads: u32) -> bool {
        self.settings.are_far_beyond(self.window.well(), overloads)
            && self.window.open_for(now) >= self.window.usual()
    }

    #[cfg_attr(target_has_atomic = "32", inline)]
    #[cfg_attr(not(target_has_atomic = "32"), inline(never))]
    pub(crate) fn position(&self, now: Word) -> Position {
        self.window.position(now, self.settings.max_window)
    }

    /// A window this full, at this point of its time, should be closed.
    #[cfg_attr(target_has_atomic = "32", inline)]
    #[cfg_attr(not(target_has_atomic = "32"), inline(never))]
    pub(crate) fn due(&self, position: Position, fill: Fill) -> bool {
        match position {
            Position::Before => true,
            Position::Settling => false,
            Position::Midway => fill.brimming,
            Position::Late(past) => {
                fill.brimming
                    || fill.successes >= self.window.need()
                    || past >= self.settings.max_window && self.is_long_enough(past, fill)
            }
        }
    }

    /// A window that has lasted for the longest time, and this much longer than its length, should be closed
    /// with whatever there is.
    ///
    /// Not yet when the limit was reached and permits last so long that too few can have ended: no window would
    /// ever tell anything, and a limit that an incident had cut to 1 would stay there for ever. Then when half
    /// the limit, always in use, would have ended enough of them (Little's law). What is asked for less than
    /// that, or overloaded, waits for nothing.
    #[cold]
    fn is_long_enough(&self, past: Word, fill: Fill) -> bool {
        let need = self.settings.min_samples;
        let limit = self.entry.admission.load().limit();
        if fill.successes >= need || self.entry.peak.load() < limit || limit == 0 {
            return true;
        }
        let tolerance = u32::from(self.settings.tolerance);
        let round_trips = Word::from(quotient_up(2 * need, limit));
        past >= self.window.mean().saturating_mul(round_trips)
            || excessive(self.window.well(), self.window.overloads(), tolerance)
    }
}

struct ReleaseOnDrop<'a, L: Law> {
    limiter: &'a Limiter<L>,
    weight: u32,
}

impl<L: Law> Drop for ReleaseOnDrop<'_, L> {
    fn drop(&mut self) {
        self.limiter.entry.admission.release(self.weight);
    }
}
