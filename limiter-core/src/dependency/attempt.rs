//! One attempt: the rules that let it through, in their order, and what its end tells each of them.

use super::Dependency;
use crate::breaker::{BreakerChange, BreakerOpen, verdict};
use crate::budget::{Exhausted, Tokens};
use crate::call::{Ending, How, Refusal};
use crate::cell::backlog::{Backlog, OWED, STRESSED};
use crate::cell::breaker::Flip;
use crate::cell::sampling::WIDE;
use crate::histogram::Latencies;
use crate::law::Law;
use crate::law::breaker::{Kind, Lease, Verdict};
use crate::law::budget::Posting;
use crate::outcome::Outcome;
use crate::permit::Slot;
use crate::settle::{Change, Settled};
use crate::throttle::ThrottleSettings;
use crate::time::{Ticks, Timestamp};
use core::borrow::Borrow;

use super::Policy;

/// What an attempt holds.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(crate) slot: Slot,
    pub(crate) lease: Lease,
}

/// Who asks to be let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    First,
    Retry(Tokens),
    Hedge(Tokens),
}

/// Why an attempt is not let through.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Denied {
    Refused(Refusal),
    Exhausted(Exhausted),
}

/// What happened on the way that an adapter has to see to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Events {
    /// Someone waits for a slot of the limiter and may be let in now: serve the queue.
    pub wake: bool,
    /// The last change of the limit.
    pub limit: Option<Change>,
    /// The last change of the breaker.
    pub breaker: Option<BreakerChange>,
}

impl Events {
    pub(crate) fn add(&mut self, settled: Settled) {
        self.wake |= settled.wake();
        self.changed(settled.change());
    }

    /// Remembers a change of the limit. Not by `or`, which copies both on its way.
    fn changed(&mut self, change: Option<Change>) {
        if change.is_some() {
            self.limit = change;
        }
    }
}

impl<L: Law, H: Latencies, C: Borrow<Policy>> Dependency<L, H, C> {
    /// Lets an attempt through: the breaker first, then the throttle, which is for a closed one only, then
    /// the limiter, and the budget last, so that what is refused here costs nothing. Whatever an earlier
    /// rule gave is given back when a later one refuses. `marks` are those of the backlog, `slot` is one that the
    /// caller holds already.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(crate) fn admit_attempt(
        &self,
        who: Who,
        marks: u32,
        slot: Option<Slot>,
        now: Timestamp,
        random: u32,
        events: &mut Events,
    ) -> Result<Admitted, Denied> {
        let policy = self.policy();
        let lease = match self.circuit.enter() {
            Some(lease) => lease,
            None => match self.probe(now) {
                Ok(lease) => lease,
                Err(left) => {
                    let left = policy.pace.ticks(left);
                    self.turn_away(slot, None, events);
                    return Err(Denied::Refused(Refusal::Breaker(BreakerOpen { left })));
                }
            },
        };
        // Where all are timed each is counted, and to note what there is would be no less than to ask.
        let may_refuse = !WIDE || marks & STRESSED != 0;
        if may_refuse && !lease.is_probe() && self.throttles(now, random) {
            self.turn_away(slot, Some(lease), events);
            return Err(Denied::Refused(Refusal::Throttled));
        }
        let slot = match slot {
            Some(slot) => self.limiter.renew(slot, now),
            None => match self.limiter.admit(now) {
                Ok(slot) => slot,
                Err(rejected) => {
                    self.turn_away(None, Some(lease), events);
                    return Err(Denied::Refused(Refusal::Limiter(rejected)));
                }
            },
        };
        if let Err(exhausted) = self.charge(who, marks, now) {
            self.turn_away(Some(slot), Some(lease), events);
            return Err(Denied::Exhausted(exhausted));
        }
        let stands_for = slot.sample().stands_for();
        if stands_for != 0 {
            if let Some(throttle) = &policy.throttle {
                self.count_request(throttle, stands_for, now);
            }
        }
        Ok(Admitted { slot, lease })
    }

    /// Lets a call through a breaker that is not closed.
    #[cfg_attr(target_pointer_width = "64", cold, inline(never))]
    fn probe(&self, now: Timestamp) -> Result<Lease, u32> {
        let policy = self.policy();
        let stamp = policy.pace.stamp(now);
        self.circuit.probe(&policy.breaker.circuitry, stamp)
    }

    /// Whether the throttle refuses an attempt, which counts as a request too.
    #[cfg_attr(target_pointer_width = "64", cold, inline(never))]
    fn throttles(&self, now: Timestamp, random: u32) -> bool {
        let policy = self.policy();
        let Some(throttle) = &policy.throttle else {
            return false;
        };
        let stamp = policy.pace.stamp(now);
        let refuses = self.requests.refuses(throttle, stamp, random);
        if refuses {
            self.count_request(throttle, 1, now);
        }
        refuses
    }

    /// Counts requests, and notes whether there is anything to refuse now: those that find nothing noted do not
    /// ask.
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    fn count_request(&self, throttle: &ThrottleSettings, requests: u32, now: Timestamp) {
        let stamp = self.policy().pace.stamp(now);
        self.requests.request(throttle, requests, stamp);
        if WIDE {
            // The least random word is refused by any share.
            let stressed = self.requests.refuses(throttle, stamp, 0);
            self.backlog.note(STRESSED, stressed);
        }
    }

    /// Gives back what a refused attempt has.
    #[cold]
    #[inline(never)]
    fn turn_away(&self, slot: Option<Slot>, lease: Option<Lease>, events: &mut Events) {
        if let Some(lease) = lease {
            self.circuit
                .give_back(&self.policy().breaker.circuitry, lease);
        }
        if let Some(slot) = slot {
            events.add(self.limiter.release(slot));
        }
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    fn charge(&self, who: Who, marks: u32, now: Timestamp) -> Result<(), Exhausted> {
        let owes = who == Who::First && marks & OWED != 0;
        let posting = match who {
            Who::First if owes => Posting::Withdraw(self.policy().retry_cost.get()),
            Who::First => {
                self.budget.deposit();
                return Ok(());
            }
            Who::Retry(cost) => Posting::Withdraw(cost.get()),
            Who::Hedge(cost) => Posting::WithdrawHedge(cost.get()),
        };
        self.budget.apply(posting, now)?;
        if owes {
            self.backlog.take(OWED);
        }
        Ok(())
    }

    /// Whether a hedge may be sent at all: the breaker closed and the limiter not saturated. The budget is
    /// asked when it is.
    pub(crate) fn calm(&self, now: Timestamp) -> bool {
        let policy = self.policy();
        let stamp = policy.pace.stamp(now);
        let (_, kind, _) = self.circuit.state(&policy.breaker.circuitry, stamp);
        kind == Kind::Closed && !self.limiter.saturated()
    }

    /// Whether an attempt that may last no longer than `left` had more likely than not be given up: then it would
    /// be work for nobody, and look like an overload. One in eight is sent all the same, or nobody would learn
    /// that the dependency has become faster. From the least measured timeout on it is not asked, for the answer
    /// costs a turn of the histogram.
    pub(crate) fn is_hopeless(&self, left: Ticks, random: u32) -> bool {
        let policy = self.policy();
        left < policy.least_timeout
            && random >> 29 != 0
            && self.quantile(500).is_some_and(|median| left < median)
    }

    /// Whether no rule has to be told of a success: it is not timed, and the breaker counts no failures.
    #[cfg(target_pointer_width = "64")]
    #[inline]
    pub(crate) fn ignores(&self, admitted: &Admitted) -> bool {
        !admitted.slot.is_timed()
            && self
                .circuit
                .ignores(&self.policy().breaker.circuitry, admitted.lease)
    }

    /// The end of what is [ignored](Self::ignores).
    #[cfg(target_pointer_width = "64")]
    #[inline]
    pub(crate) fn settle_quietly(&self, admitted: Admitted, now: Timestamp, events: &mut Events) {
        let slot = admitted.slot;
        let age = self.limiter.since_admission(&slot, now);
        self.latencies.add(age, false, now, self.policy().rate);
        events.wake |= self.limiter.release(slot).wake();
    }

    /// Tells every rule how an attempt ended, and frees its slot unless it is kept for the next one.
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    pub(crate) fn settle_attempt(
        &self,
        admitted: Admitted,
        ending: Ending,
        keep: bool,
        now: Timestamp,
        random: u32,
        events: &mut Events,
    ) -> Option<Slot> {
        let policy = self.policy();
        let stamp = policy.pace.stamp(now);
        let Admitted { slot, lease } = admitted;
        let (stands_for, outcome) = (slot.sample().stands_for(), ending.outcome());
        let age = self.limiter.since_admission(&slot, now);
        let flip = self.circuit.settle(
            &policy.breaker.circuitry,
            lease,
            match ending.how {
                // It is alive, which is what a probe asks; it says nothing about what it lets in.
                How::Refused if lease.is_probe() => Verdict::Good,
                How::Refused => Verdict::Ignored,
                _ => verdict(outcome),
            },
            random,
            stands_for,
            || (age, stamp),
        );
        let accepted = outcome != Outcome::Overload && ending.how != How::Refused;
        if let Some(throttle) = policy.throttle.as_ref().filter(|_| accepted) {
            self.requests.accept(throttle, stands_for, stamp);
        }
        match ending.how {
            How::Success => self.latencies.add(age, false, now, policy.rate),
            How::Timeout | How::Cancelled | How::Late | How::Superseded => {
                self.latencies.add(age, true, now, policy.rate)
            }
            _ => {}
        }
        let (slot, change) = self.limiter.observe_held(slot, outcome, now);
        events.changed(change);
        let kept = if keep {
            Some(slot)
        } else {
            events.add(self.limiter.release(slot));
            None
        };
        if let Some(flip) = flip {
            self.flipped(flip, now, events);
        }
        kept
    }

    /// Frees what an attempt held that nobody has a time or an outcome for.
    pub(crate) fn drop_attempt(&self, admitted: Admitted) -> Settled {
        let policy = self.policy();
        self.circuit
            .give_back(&policy.breaker.circuitry, admitted.lease);
        if let Some(throttle) = &policy.throttle {
            let stands_for = admitted.slot.sample().stands_for();
            self.requests.accept_late(throttle, stands_for);
        }
        self.limiter.release(admitted.slot)
    }

    /// The breaker changed its state. A dependency that was just well again starts with a quarter of the
    /// limit that it had.
    fn flipped(&self, flip: Flip, now: Timestamp, events: &mut Events) {
        events.breaker = Some(flip.into());
        if flip == Flip::Closed {
            self.requests.clear();
            if WIDE {
                self.backlog.note(STRESSED, false);
            }
            if let Some(settled) = self.limiter.restart_from_quarter(now) {
                events.add(settled);
            }
        }
    }

    /// Whether the breaker is closed, and what is to be saved of it when it is not: how often it opened
    /// again, the units that are left, and how often it was restored.
    pub(crate) fn saved_breaker(&self, now: Timestamp) -> (bool, u32, u32, u32) {
        let policy = self.policy();
        let stamp = policy.pace.stamp(now);
        let (phase, kind, left) = self.circuit.state(&policy.breaker.circuitry, stamp);
        let closed = kind == Kind::Closed;
        (closed, phase.reopened(), left, phase.restored())
    }

    pub(crate) fn restore_breaker(&self, reopened: u8, restored: u8, left: u32, now: Timestamp) {
        let policy = self.policy();
        self.circuit.restore(
            &policy.breaker.circuitry,
            (reopened.into(), restored.into()),
            left,
            policy.pace.stamp(now),
        );
    }

    pub(crate) fn backlog(&self) -> &Backlog {
        &self.backlog
    }

    /// After this age of an attempt a hedge may go beside it; `None` where hedging is off.
    pub(crate) fn hedge_delay(&self) -> Option<Ticks> {
        let policy = self.policy();
        let configured = policy.hedge_delay?;
        Some(self.quantile(policy.hedge_quantile).unwrap_or(configured))
    }
}
