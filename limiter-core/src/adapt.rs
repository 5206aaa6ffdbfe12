//! Closing a window: the sums are taken, the law decides, the limit is published.

use crate::cell::gate::{DUE, SET};
use crate::cell::state::Cells;
use crate::cell::sync::Word;
use crate::cell::window::{Position, Schedule, Sums, quotient};
use crate::law::{Decision, Law, Reason, Window};
use crate::limiter::Limiter;
use crate::settle::Change;
use crate::time::Timestamp;

impl<L: Law> Limiter<L> {
    /// Leaves `bits` for the gate's holder, or becomes it and does what is pending. Returns the last change of
    /// the limit that came of it: two may end where the first began, and still have made room for who joined the
    /// queue between them.
    #[cold]
    #[inline(never)]
    pub(crate) fn close_window(&self, bits: u32, now: Timestamp) -> Option<Change> {
        let mut holder = self.entry.gate.enter(bits)?;
        // From here on a panic of the law opens the gate and changes nothing else.
        let at = self.settings.at(now);
        let mut change = None;
        loop {
            let pending = holder.take();
            if pending & SET != 0 {
                change = self.apply_settings().or(change);
            }
            if pending & DUE != 0 {
                // The bit is a hint: whoever left it may have seen a window that is closed by now.
                let (position, fill) = (self.position(at), self.window.fill());
                if position == Position::Before {
                    self.window.reopen(at);
                } else if self.due(position, fill) || self.urgent(at, self.window.overloads()) {
                    let from = self.occupancy().limit();
                    let decision = self.decide(now, at);
                    let Decision {
                        limit: to, reason, ..
                    } = decision;
                    if to != from && reason != Reason::Closed {
                        change = Some(Change { from, to, reason });
                    }
                    if decision.cut {
                        // Then forget what permits of the old epoch added since the sums were taken. One
                        // per thread that finishes in this instant may still come through.
                        holder.bump();
                        self.window.forget_overloads();
                    }
                }
            }
            match holder.leave() {
                Ok(()) => break,
                Err(again) => holder = again,
            }
        }
        change
    }

    /// Applies bounds and a limit set by hand.
    fn apply_settings(&self) -> Option<Change> {
        let (min, max) = self.controls.bounds();
        let from = self.occupancy().limit();
        let wanted = self.controls.take_wanted().unwrap_or(from);
        // Not `clamp`, which panics for bounds that do not fit: a branch that nothing takes, and its code.
        let to = wanted.max(min).min(max);
        if to == from {
            return None;
        }
        let mut state = self.state.load();
        self.law.on_set(&mut state, to);
        self.state.store(state);
        let reason = Reason::SetByHand;
        self.publish_limit(to)?;
        self.controls.set_reason(reason);
        Some(Change { from, to, reason })
    }

    /// Takes the window, lets the law decide and publishes its decision.
    fn decide(&self, now: Timestamp, at: Word) -> Decision {
        let elapsed = self.window.collected(at);
        let seen = self.occupancy();
        let peak = self.entry.peak.take(seen.inflight());
        let sums = self.window.take();
        let (min, max) = self.controls.bounds();
        let window = self.closed_window(now, elapsed, seen.limit(), (min, max), &sums, peak);
        self.entry.sampling.set(self.next_scale(&sums));
        if !window.few() {
            self.window.set_usual(sums.mean());
        }

        let mut state = self.state.load();
        let mut decision = self.law.on_window(&mut state, &window);
        self.state.store(state);

        let limit = decision.limit.max(min).min(max);
        if limit != decision.limit {
            decision.reason = if limit == max {
                Reason::PinnedAtMax
            } else {
                Reason::PinnedAtMin
            };
            decision.limit = limit;
        }
        if limit != seen.limit() && self.publish_limit(limit).is_none() {
            decision.reason = Reason::Closed;
        }
        self.controls.set_reason(decision.reason);
        self.window.open(at, self.schedule(&decision));
        decision
    }

    fn schedule(&self, decision: &Decision) -> Schedule {
        match decision.next {
            None => self.settings.schedule(self.window.usual()),
            Some(next) => Schedule {
                settle: self.settings.units(next.settle),
                length: self.settings.units(next.length),
                need: next.samples,
            },
        }
    }

    /// Permits are given up too often for a part of them to tell whether it was late.
    fn next_scale(&self, sums: &Sums) -> u8 {
        let successes = sums.all();
        if self.are_many(sums.given_up, || successes) {
            0
        } else {
            self.settings.scale(successes)
        }
    }

    fn closed_window(
        &self,
        now: Timestamp,
        elapsed: Word,
        limit: u32,
        (min, max): (u32, u32),
        sums: &Sums,
        peak: u32,
    ) -> Window {
        let rate = self.settings.rate;
        let successes = sums.all();
        Window {
            limit,
            min,
            max,
            successes,
            untimed: sums.stood_for,
            overloads: sums.overloads,
            early: sums.early,
            rtt_mean: self.settings.ticks(sums.mean()),
            rtt_min: self
                .settings
                .ticks(if successes == 0 { 0 } else { sums.rtt_min }),
            elapsed: self.settings.ticks(elapsed),
            inflight_peak: peak,
            inflight_avg_q8: average_q8(sums.rtt_sum.saturating_add(sums.other_sum), elapsed),
            now,
            wall: self.controls.wall(now),
            rate,
            min_samples: self.settings.min_samples,
            tolerance: u32::from(self.settings.tolerance),
        }
    }
}

/// Little's law: the sum of all ages over the time is the mean number in flight, here times 256.
fn average_q8(ages: Word, elapsed: Word) -> u32 {
    let average = if ages >> (Word::BITS - 8) == 0 {
        quotient(ages << 8, elapsed)
    } else if elapsed >> 8 == 0 {
        Word::MAX
    } else {
        quotient(ages, elapsed >> 8)
    };
    u32::try_from(average).unwrap_or(u32::MAX)
}
