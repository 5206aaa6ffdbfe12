//! Saving a dependency, and bringing it back.

use super::{Record, RecordError};
use crate::budget::Tokens;
use crate::cell::backlog::{FRESH, OWED};
use crate::dependency::{Dependency, Policy};
use crate::histogram::Latencies;
use crate::law::Law;
use crate::law::math::div_rem;
use crate::time::{Stamp, Ticks, Timestamp};
use core::borrow::Borrow;
use core::time::Duration;

impl<L: Law, H: Latencies, C: Borrow<Policy>> Dependency<L, H, C> {
    /// What of it is to outlive a restart. Has no side effect; safe beside everything else.
    ///
    /// Save after [`Call::step`](crate::Call::step) said [`Attempt`](crate::Step::Attempt) and before the
    /// attempt leaves: then the record says that it was on its way.
    pub fn save(&self, now: Timestamp) -> Record {
        let (closed, reopened, left, restored) = self.saved_breaker(now);
        let seen = self.limiter().occupancy();
        Record {
            sequence: 0,
            limit: seen.limit(),
            balance: self.budget().balance(now),
            open_left: millis(left, self.policy()),
            reopened: (!closed).then_some(reopened as u8),
            restored: restored as u8,
            // A debt that this life has not paid yet is the next one's.
            unsettled: seen.inflight() > 0 || self.backlog().is(OWED),
        }
    }

    /// Brings back what was saved, before the first call; `asleep` is the time since then, zero when it is
    /// not known. Returns the record to save at once: without that, a device whose lives are shorter than
    /// its breaker's open time would never get to try.
    ///
    /// The limit is clamped to the bounds, the budget to its capacity. A breaker that was not closed stays
    /// open for what is left of its time, and for half of that with every further restore. Attempts that
    /// were on their way make the next first attempt a withdrawal, and the first call waits for a random
    /// part of the base of the back-off.
    ///
    /// # Errors
    ///
    /// What is wrong with the bytes. Then the budget is empty, as after a long bad day: only the floor and
    /// first attempts fill it.
    pub fn restore(
        &self,
        bytes: &[u8],
        asleep: Duration,
        now: Timestamp,
    ) -> Result<Record, RecordError> {
        self.revive(Record::from_bytes(bytes), asleep, now)
    }

    /// Like [`restore`](Dependency::restore), from what a [`Journal`](super::Journal) found.
    ///
    /// # Errors
    ///
    /// As [`restore`](Dependency::restore).
    pub fn revive(
        &self,
        found: Result<Record, RecordError>,
        asleep: Duration,
        now: Timestamp,
    ) -> Result<Record, RecordError> {
        let policy = self.policy();
        self.backlog().mark(FRESH);
        let record = match found {
            Ok(record) => record,
            Err(error) => {
                self.budget().restore(Tokens::milli(0), 0, now);
                return Err(error);
            }
        };
        let asleep = u32::try_from(asleep.as_secs())
            .unwrap_or(u32::MAX)
            .saturating_mul(1_000)
            .saturating_add(asleep.subsec_millis());
        let asleep = units(asleep, policy);
        self.budget().restore(record.balance, asleep, now);
        if record.unsettled {
            self.backlog().mark(OWED);
        }
        let (min, max) = self.limiter().bounds();
        // A closed limiter stays closed; no limit outside of the bounds is asked for.
        let _ = self
            .limiter()
            .set_limit(record.limit.max(min).min(max), now);
        if let Some(reopened) = record.reopened {
            let left = units(record.open_left, policy).saturating_sub(asleep);
            self.restore_breaker(reopened, record.restored, left, now);
        }
        Ok(self.save(now))
    }
}

/// Units in milliseconds, rounded up.
fn millis(units: u32, policy: &Policy) -> u32 {
    // Below 2⁶²: a quarter of the range of stamps, at most 2²² ticks each.
    let ticks = policy.pace.ticks(units.min(Stamp::MAX_UNITS)).get();
    let (millis, lost) = div_rem(ticks * 1_000, policy.rate.get());
    u32::try_from(millis + u64::from(lost != 0)).unwrap_or(u32::MAX)
}

/// Milliseconds in units, rounded up.
fn units(millis: u32, policy: &Policy) -> u32 {
    let product = u64::from(millis) * u64::from(policy.rate.get());
    let (ticks, lost) = div_rem(product, 1_000);
    policy.pace.units(Ticks::new(ticks + u64::from(lost != 0)))
}
