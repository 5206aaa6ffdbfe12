//! The inside of a call: starting, watching and ending its attempts, and what comes after.

use super::ending::{Attempt, Ending, GiveUp, Hint, How, Step};
use super::{Call, Depends, End, Phase, Running};
use crate::budget::Tokens;
use crate::cell::backlog::FRESH;
use crate::dependency::{Admitted, Denied, Who};
use crate::law::backoff::mix;
use crate::permit::Slot;
use crate::time::{Ticks, Timestamp};

impl<D: Depends> Call<D> {
    /// Starts an attempt, if every rule lets it through. `marks` are those of the backlog.
    #[cfg_attr(target_pointer_width = "64", inline(always))]
    pub(super) fn start(
        &mut self,
        marks: u32,
        slot: Option<Slot>,
        left: Ticks,
        now: Timestamp,
        random: u32,
    ) -> Step {
        if left.get() == 0 || self.depends.dependency().is_hopeless(left, random) {
            self.slot = slot;
            return self.is_late();
        }
        let dependency = self.depends.dependency();
        // Read before anything is shared, so that the compiler knows them of a call that just began.
        let (first, hedges) = (self.attempts == 0, self.hedges);
        let number = self.attempts.saturating_add(1);
        if marks & FRESH != 0 && first && dependency.backlog().take(FRESH) {
            let length = dependency.policy().backoff.first(random);
            self.slot = slot;
            return self.wait(length);
        }
        let who = if first {
            Who::First
        } else {
            Who::Retry(self.cost())
        };
        match dependency.admit_attempt(who, marks, slot, now, random, &mut self.events) {
            Ok(admitted) => {
                if hedges {
                    self.hedge_after = dependency.hedge_delay();
                }
                self.launch(admitted, number, false, left, now)
            }
            Err(Denied::Refused(refusal)) => Step::GiveUp(GiveUp::Refused(refusal)),
            Err(Denied::Exhausted(exhausted)) => {
                (self.phase, self.cost) = (Phase::Exhausted, exhausted.balance);
                self.answer()
            }
        }
    }

    /// No time is left for an attempt.
    #[cold]
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    fn is_late(&mut self) -> Step {
        self.give_up_slot();
        self.phase = Phase::Deadline;
        self.answer()
    }

    fn most_attempts(&self) -> u32 {
        match self.most_attempts {
            0 => self.depends.dependency().policy().attempts,
            most => most,
        }
    }

    /// What the next attempt costs.
    fn cost(&self) -> Tokens {
        if self.cost == Tokens::milli(0) {
            self.depends.dependency().policy().retry_cost
        } else {
            self.cost
        }
    }

    #[cfg_attr(target_pointer_width = "64", inline(always))]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn launch(
        &mut self,
        admitted: Admitted,
        number: u32,
        hedge: bool,
        left: Ticks,
        now: Timestamp,
    ) -> Step {
        let dependency = self.depends.dependency();
        let mut usual = dependency.timeout();
        if admitted.lease.is_probe() {
            // What was measured before it broke says nothing about how long it takes now.
            usual = usual.max(dependency.policy().timeout);
        }
        let timeout = usual.min(left);
        self.attempts = number;
        let running = Running {
            admitted,
            number,
            timeout,
            end: if left < usual { End::Call } else { End::Usual },
        };
        // A hedge goes beside a first one that runs, others when nothing does.
        let [first, second] = &mut self.running;
        *(if hedge { second } else { first }) = Some(running);
        self.phase = Phase::Running;
        Step::Attempt(Attempt {
            number,
            timeout,
            deadline: now.after(timeout),
            hedge,
        })
    }

    /// Ends attempts whose time is over, and sends a hedge when one is due.
    #[inline(never)]
    pub(super) fn look_after(&mut self, random: u32) -> Step {
        let (left, now) = (self.time.left(), self.time.now());
        let mut wake = now.after(left);
        for index in 0..self.running.len() {
            let Some(Some(running)) = self.running.get(index) else {
                continue;
            };
            let (number, timeout) = (running.number, running.timeout);
            let age = self.age(&running.admitted.slot);
            if left.get() == 0 || age >= timeout {
                self.end(index, Ending::timeout(), random);
                return Step::Cancel(number);
            }
            wake = wake.min(due(timeout, age, now));
        }
        if let (Some(after), Some(Some(first))) = (self.hedge_after, self.running.first()) {
            let age = self.age(&first.admitted.slot);
            if age >= after {
                self.hedge_after = None;
                if let Some(hedge) = self.hedge(random) {
                    return hedge;
                }
            } else {
                wake = wake.min(due(after, age, now));
            }
        }
        Step::Running(wake)
    }

    /// How long an attempt has run, 0 when the clock was set back.
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn age(&self, slot: &Slot) -> Ticks {
        let limiter = self.depends.dependency().limiter();
        limiter.since_admission(slot, self.time.now())
    }

    fn hedge(&mut self, random: u32) -> Option<Step> {
        let now = self.time.now();
        let dependency = self.depends.dependency();
        let policy = dependency.policy();
        if self.attempts >= self.most_attempts() || self.told_not_to || !dependency.calm(now) {
            return None;
        }
        let (who, marks) = (Who::Hedge(policy.retry_cost), dependency.backlog().marks());
        let admitted = dependency
            .admit_attempt(who, marks, None, now, random, &mut self.events)
            .ok()?;
        let number = self.attempts.saturating_add(1);
        Some(self.launch(admitted, number, true, self.time.left(), now))
    }

    /// The attempt of this number, the only one that runs, did its work: when no rule has to be told, frees its
    /// slot and the call is over.
    #[cfg(target_pointer_width = "64")]
    #[inline]
    pub(super) fn succeed_quietly(&mut self, number: u32, now: Timestamp) -> bool {
        let dependency = self.depends.dependency();
        let [first, second] = &mut self.running;
        let running = first.take_if(|running| {
            running.number == number && second.is_none() && dependency.ignores(&running.admitted)
        });
        let Some(Running { admitted, .. }) = running else {
            return false;
        };
        dependency.settle_quietly(admitted, now, &mut self.events);
        self.phase = Phase::Done;
        true
    }

    /// The attempt in this place ended: settles it and decides what comes after.
    #[inline(never)]
    pub(super) fn end(&mut self, index: usize, ending: Ending, random: u32) {
        let Some(running) = self.running.get_mut(index).and_then(Option::take) else {
            return;
        };
        // A timeout that the call's own deadline made early says nothing about the dependency.
        let ending = match ending.how {
            How::Timeout if running.end == End::Call => Ending::late(),
            _ => ending,
        };
        let alone = self.running.iter().all(Option::is_none);
        let next = match ending.how {
            How::Success => Some(Phase::Done),
            How::Permanent | How::Ignored | How::Cancelled => Some(Phase::Permanent),
            _ => {
                self.note(ending);
                alone.then(|| self.plan(ending, random))
            }
        };
        let keep = self.holds && next == Some(Phase::Waiting);
        let dependency = self.depends.dependency();
        self.slot = dependency.settle_attempt(
            running.admitted,
            ending,
            keep,
            self.time.now(),
            random,
            &mut self.events,
        );
        if let Some(phase) = next {
            self.phase = phase;
            if phase.is_over() {
                self.settle_running(Ending::superseded(), random);
            }
        }
    }

    /// Remembers what a failure says about the next attempt.
    fn note(&mut self, ending: Ending) {
        let policy = self.depends.dependency().policy();
        self.failures = self.failures.saturating_add(1);
        self.hedge_after = None;
        self.told_not_to |= ending.hint == Hint::Never;
        self.cost = match (ending.hint, ending.how) {
            (Hint::After(_), _) => policy.pushback_cost,
            (_, How::Timeout) => policy.timeout_cost,
            _ => policy.retry_cost,
        };
    }

    /// Whether and when to try again, after the last attempt that was running failed.
    fn plan(&mut self, ending: Ending, random: u32) -> Phase {
        let (left, now) = (self.time.left(), self.time.now());
        let dependency = self.depends.dependency();
        let policy = dependency.policy();
        if self.told_not_to {
            return Phase::ToldNotTo;
        }
        if self.attempts >= self.most_attempts() {
            return Phase::Attempts;
        }
        // Only looked at: what is withdrawn is withdrawn when the attempt leaves, or the budget would fill
        // while calls wait, and both go out together.
        let balance = dependency.budget().balance(now);
        if balance < self.cost {
            self.cost = balance;
            return Phase::Exhausted;
        }
        self.delay = policy.backoff.delay(self.failures, self.delay, mix(random));
        let length = match ending.hint {
            Hint::After(hint) => policy.backoff.hinted(self.delay, hint),
            _ => self.delay,
        };
        if left.get() == 0 {
            return Phase::Deadline;
        }
        // A hint counts up to a bound, but who asks for more than is left is not asked again before.
        if length.max(ending.hinted().unwrap_or_default()) >= left {
            return Phase::WaitTooLong;
        }
        if !dependency.backlog().enter(policy.waiting) {
            return Phase::Crowded;
        }
        self.place = true;
        (self.waits_since, self.waits_for) = (now, length);
        Phase::Waiting
    }

    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(super) fn wait(&mut self, length: Ticks) -> Step {
        let now = self.time.now();
        (self.waits_since, self.waits_for) = (now, length);
        self.phase = Phase::Waiting;
        self.waits(now.after(length))
    }

    /// Settles whatever still runs, all alike.
    #[inline(never)]
    pub(super) fn settle_running(&mut self, ending: Ending, random: u32) {
        for index in 0..self.running.len() {
            if let Some(running) = self.running.get_mut(index).and_then(Option::take) {
                let dependency = self.depends.dependency();
                let none = dependency.settle_attempt(
                    running.admitted,
                    ending,
                    false,
                    self.time.now(),
                    random,
                    &mut self.events,
                );
                debug_assert!(none.is_none(), "nothing was to be kept");
            }
        }
    }
}

/// When an attempt that is `age` old now is `after` old.
fn due(after: Ticks, age: Ticks, now: Timestamp) -> Timestamp {
    now.after(Ticks::new(after.get().saturating_sub(age.get())))
}
