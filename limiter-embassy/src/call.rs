//! One logical call: attempts, back-off and their end, on embassy's timers.

use crate::clock::{RATE, now};
use crate::dependency::{Dependency, ticks};
use crate::wait::{Acquire, AcquireTimeout};
use core::fmt;
use embassy_sync::blocking_mutex::raw::RawMutex;
use embassy_time::{Instant, TimeoutError, Timer, with_deadline};
use limiter_core::law::Law;
use limiter_core::{
    Attempt, Call, CallOptions, Ending, GiveUp, Latencies, Policy, Refusal, RejectReason, Rejected,
    Slot, Step, Timestamp,
};

/// Why a call gave up, and the error of its last attempt that had one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GaveUp<E> {
    /// Why.
    pub why: GiveUp,
    /// The last error: `None` when no attempt left, or all of them ran out of their time.
    pub last: Option<E>,
}

impl<E> fmt::Display for GaveUp<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.why.describe())
    }
}

impl<E: fmt::Debug> core::error::Error for GaveUp<E> {}

impl<M: RawMutex, L: Law, H: Latencies, const WAITERS: usize> Dependency<M, L, H, WAITERS> {
    /// Makes a logical call: `attempt` is started as often as the policy, the budget and the breaker allow,
    /// with back-off between, each within its own timeout and all within the call's.
    ///
    /// `ending` says what an error means: whether it may be tried again, and what the dependency said about
    /// that. An attempt that runs out of its time is dropped. Attempts are made one after the other.
    /// At the limit the call waits in line, for as long as it may last.
    ///
    /// # Errors
    ///
    /// [`GaveUp`], with the last error.
    ///
    /// # Cancellation
    ///
    /// Drop the future after any poll, or before the first: what was taken is freed and goes to the next in
    /// line. An attempt that was on its way counts as given up by the caller.
    ///
    /// # Fairness
    ///
    /// First come, first served, at the limit.
    pub async fn call<T, E>(
        &self,
        options: CallOptions,
        ending: impl Fn(&E) -> Ending,
        mut attempt: impl AsyncFnMut(Attempt) -> Result<T, E>,
    ) -> Result<T, GaveUp<E>> {
        let mut call = Guard::new(self, options);
        let mut last = None;
        let mut step = call.step(None);
        loop {
            step = match step {
                Step::Attempt(next) => {
                    if next.number > 1 {
                        self.line.reporter.retried();
                    }
                    self.save();
                    let tried = with_deadline(instant(next.deadline), attempt(next)).await;
                    let end = match tried {
                        Ok(Ok(value)) => {
                            call.finish(next.number, Ending::success());
                            return Ok(value);
                        }
                        Ok(Err(error)) => {
                            let end = ending(&error);
                            last = Some(error);
                            end
                        }
                        Err(TimeoutError) => Ending::timeout(),
                    };
                    call.finish(next.number, end);
                    call.step(None)
                }
                Step::Wait(until) | Step::Running(until) => {
                    Timer::at(instant(until)).await;
                    call.step(None)
                }
                Step::GiveUp(GiveUp::Refused(Refusal::Limiter(refused))) if may_wait(&refused) => {
                    match self.wait(&mut call).await {
                        Ok(slot) => call.step(Some(slot)),
                        Err(refused) => {
                            return Err(
                                self.give_up(GiveUp::Refused(Refusal::Limiter(refused)), last)
                            );
                        }
                    }
                }
                Step::GiveUp(why) => return Err(self.give_up(why, last)),
                // Nothing runs between two steps here: neither is ever said.
                Step::Cancel(_) | Step::Done => return Err(self.give_up(GiveUp::Abandoned, last)),
            };
        }
    }

    async fn wait(&self, call: &mut Guard<'_, M, L, H, WAITERS>) -> Result<Slot, Rejected> {
        let left = ticks(RATE.ticks(call.call.carried(now()).left));
        let mut permit = AcquireTimeout::new(Acquire::new(self.lane()), left).await?;
        match permit.take() {
            Some(slot) => Ok(slot),
            None => Err(self.lane().refusal(RejectReason::TimedOut)),
        }
    }

    fn give_up<E>(&self, why: GiveUp, last: Option<E>) -> GaveUp<E> {
        match &why {
            GiveUp::Exhausted(_) => self.line.reporter.exhausted(),
            GiveUp::Refused(Refusal::Limiter(refused)) => self.line.reporter.refused(refused),
            _ => {}
        }
        GaveUp { why, last }
    }
}

const fn may_wait(refused: &Rejected) -> bool {
    matches!(
        refused.reason,
        RejectReason::AtLimit | RejectReason::WaitersAhead
    )
}

const fn instant(at: Timestamp) -> Instant {
    Instant::from_ticks(at.ticks())
}

/// A call that tells whom it concerns what it did, also when it is dropped.
struct Guard<'a, M: RawMutex, L: Law, H: Latencies, const WAITERS: usize> {
    dependency: &'a Dependency<M, L, H, WAITERS>,
    call: Call<&'a limiter_core::Dependency<L, H, &'static Policy>>,
}

impl<'a, M: RawMutex, L: Law, H: Latencies, const WAITERS: usize> Guard<'a, M, L, H, WAITERS> {
    fn new(dependency: &'a Dependency<M, L, H, WAITERS>, options: CallOptions) -> Self {
        Self {
            dependency,
            call: dependency.core.call(now(), options),
        }
    }

    fn step(&mut self, slot: Option<Slot>) -> Step {
        let (now, word) = (now(), self.dependency.word());
        let step = match slot {
            Some(slot) => self.call.step_with(slot, now, word),
            None => self.call.step(now, word),
        };
        self.dependency.follow(self.call.take_events());
        step
    }

    fn finish(&mut self, number: u32, ending: Ending) {
        self.call
            .finish(number, ending, now(), self.dependency.word());
        self.dependency.follow(self.call.take_events());
    }
}

impl<M: RawMutex, L: Law, H: Latencies, const WAITERS: usize> Drop for Guard<'_, M, L, H, WAITERS> {
    fn drop(&mut self) {
        let started = self.call.attempts() > 0;
        let events = self.call.abandon(now());
        self.dependency.follow(events);
        if started {
            // Nothing of it is on its way any more.
            self.dependency.save();
        }
    }
}
