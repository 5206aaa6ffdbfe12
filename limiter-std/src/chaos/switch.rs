//! The switch, and who has been hurt since it was turned.

use super::schedule::{Harm, Schedule};
use crate::clock::{Clock, MonotonicClock, duration};
use core::fmt;
use limiter_core::{Random, Timestamp};
use std::sync::{Arc, Mutex, PoisonError};

/// The switch of a [`ChaosLayer`](super::ChaosLayer). Clones are the same switch; it begins off.
pub struct Chaos<C: Clock = MonotonicClock>(Arc<Shared<C>>);

struct Shared<C> {
    schedule: Schedule,
    clock: C,
    random: Random,
    on: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Since when it is on; `None` when it is off.
    since: Option<Timestamp>,
    /// How many calls each trouble has met since it was last switched on.
    counts: Vec<u64>,
}

impl<C: Clock> Chaos<C> {
    pub(super) fn new(schedule: Schedule, clock: C, seed: u32) -> Self {
        Self(Arc::new(Shared {
            schedule,
            clock,
            random: Random::new(seed),
            on: Mutex::default(),
        }))
    }

    /// Switches it on: the schedule begins now, also when it was on already.
    pub fn start(&self) {
        let shared = &self.0;
        // The logger is the user's: never called under the lock.
        log::warn!(
            target: "limiter_std::chaos",
            "CHAOS IS ON: calls will be hurt on purpose for the next {:?}: {:?}",
            shared.schedule.end(),
            shared.schedule,
        );
        let counts = vec![0; shared.schedule.troubles().len()];
        let since = Some(shared.clock.now());
        *self.on() = State { since, counts };
    }

    /// Switches it off; calls that are hurt already stay so.
    pub fn stop(&self) {
        let mut on = self.on();
        if on.since.take().is_some() {
            let counts = on.counts.clone();
            drop(on);
            say_over("switched off", &counts);
        }
    }

    /// Whether the schedule runs.
    pub fn is_on(&self) -> bool {
        let since = self.on().since;
        since.is_some_and(|since| self.passed(since) < self.0.schedule.end())
    }

    /// How many calls were hurt since it was last switched on, also when it is over or off again.
    pub fn hurt(&self) -> u64 {
        self.on().counts.iter().sum()
    }

    /// What happens to a call that begins now.
    pub(super) fn harm(&self) -> Option<Harm> {
        let shared = &self.0;
        let mut on = self.on();
        let passed = self.passed(on.since?);
        if passed >= shared.schedule.end() {
            on.since = None;
            let counts = on.counts.clone();
            drop(on);
            say_over("over", &counts);
            return None;
        }
        let place = shared.schedule.meets(passed, || shared.random.word())?;
        let trouble = shared.schedule.troubles().get(place)?;
        let count = on.counts.get_mut(place)?;
        *count += 1;
        let first = *count == 1;
        drop(on);
        if first {
            log::warn!(
                target: "limiter_std::chaos",
                "chaos: the first call is hurt on purpose: {:?}, {} of 1,000",
                trouble.harm,
                trouble.per_mille,
            );
        }
        Some(trouble.harm)
    }

    fn passed(&self, since: Timestamp) -> core::time::Duration {
        duration(self.0.clock.now().since(since).unwrap_or_default())
    }

    fn on(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.on.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn say_over(how: &str, counts: &[u64]) {
    let hurt: u64 = counts.iter().sum();
    log::warn!(target: "limiter_std::chaos", "chaos is {how}: {hurt} calls were hurt, by trouble {counts:?}");
}

impl<C: Clock> Clone for Chaos<C> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<C: Clock> fmt::Debug for Chaos<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chaos")
            .field("schedule", &self.0.schedule)
            .field("on", &self.is_on())
            .finish_non_exhaustive()
    }
}
