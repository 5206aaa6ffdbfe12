//! What all handles, permits and waiters of one limiter share.

use crate::clock::{Clock, RATE, timestamp};
use crate::config::Config;
use crate::sync::{AtomicU32, Ordering};
use crate::telemetry::{Alarm, Counters, PRESSURE, REFUSAL};
use crate::wait::{self, Settings, Waiters};
use core::time::Duration;
use limiter_core::law::{Law, WALL_SECONDS};
use limiter_core::{
    Change, ConfigError, Limiter, Outcome, RejectReason, Rejected, Request, Sample, Settled,
    Shares, Slot, Ticks, Timestamp,
};

/// How old the offset between the clock and UTC may become: clocks that are corrected by NTP drift
/// apart by less than 500 ppm, which is 5 ms in this time; phases tolerate a hundred.
const WALL_REFRESH: Duration = Duration::from_secs(10);

/// A limiter with a clock and a line of waiters: alone, or a dependency's.
pub(crate) trait Lane {
    type Law: Law;
    type Clock: Clock;

    fn core(&self) -> &Limiter<Self::Law>;
    fn clock(&self) -> &Self::Clock;
    fn waiters(&self) -> &Waiters;
    fn wall(&self) -> &Wall;
    fn alarm(&self) -> &Alarm;

    #[inline]
    fn admit(&self) -> Result<Slot, Rejected> {
        match self.core().admit_with(|| self.clock().now()) {
            // Those who wait may all be of lower classes.
            Err(refused) if refused.reason == RejectReason::WaitersAhead => {
                self.admit_for(&Request::new())
            }
            ended => ended,
        }
    }

    fn admit_for(&self, request: &Request) -> Result<Slot, Rejected> {
        self.core().admit_for_with(request, || self.clock().now())
    }

    /// Records what became of work whose RTT ended at `ended`, and does what follows from a change of the
    /// limit.
    #[inline]
    fn observe(&self, sample: Sample, outcome: Outcome, ended: Timestamp, now: Timestamp) {
        if let Some(change) = self.core().observe_sample(sample, outcome, ended, now) {
            self.changed(change);
        }
    }

    #[inline]
    fn release(&self, slot: Slot) {
        if self.core().release(slot).wake() {
            wait::serve(self);
        }
    }

    /// Counts a request that is refused for good, and hands the refusal on.
    fn refused(&self, rejected: Rejected) -> Rejected {
        self.alarm().call(REFUSAL);
        rejected
    }

    /// Calls whoever looks when the next request may be one too many.
    #[inline]
    fn look_for_pressure(&self) {
        if self.alarm().is_armed(PRESSURE) && self.core().is_nearly_full() {
            self.alarm().call(PRESSURE);
        }
    }

    fn set_limit(&self, limit: u32) -> Result<(), ConfigError> {
        let settled = self.core().set_limit(limit, self.clock().now())?;
        self.settled(settled);
        Ok(())
    }

    fn set_bounds(&self, min: u32, max: u32) -> Result<(), ConfigError> {
        let settled = self.core().set_bounds(min, max, self.clock().now())?;
        self.settled(settled);
        Ok(())
    }

    fn set_shares(&self, shares: Shares) -> Result<(), ConfigError> {
        self.core().set_shares(shares)?;
        // Whether somebody waits or not: the shares are not in the word that has the waiting bit, so only the
        // lock puts them before or after one who is just joining the queue.
        wait::serve(self);
        Ok(())
    }

    /// Goes by what can be changed while running, or by nothing of it when something does not work.
    fn reconfigure(&self, config: &Config<Self::Law>) -> Result<(), ConfigError> {
        config.check()?;
        config.core.check()?;
        let (min, max) = config.core.bounds();
        self.waiters().set(config.waiting());
        // Served once both are set: under new shares of the old bounds one that fits before and after could
        // look too heavy for ever.
        self.core().set_shares(config.core.class_shares())?;
        self.set_bounds(min, max)?;
        wait::serve(self);
        Ok(())
    }

    fn close(&self) {
        self.settled(self.core().close());
    }

    /// Does what follows from a setting.
    fn settled(&self, settled: Settled) {
        if settled.change().is_some() {
            self.refresh_wall();
        }
        if settled.wake() {
            wait::serve(self);
        }
    }

    /// Does what follows from a window that moved the limit.
    #[cold]
    fn changed(&self, change: Change) {
        self.refresh_wall();
        // The limit was raised in the word that has the waiting bit: a waiter whose bit is not seen here
        // sees the new limit itself.
        if change.to > change.from && self.core().snapshot().waiting {
            wait::serve(self);
        }
    }

    /// Reads the offset from UTC again when it is old.
    fn refresh_wall(&self) {
        let now = self.clock().now();
        if self.wall().is_due(now) {
            self.read_wall(now);
        }
    }

    fn read_wall(&self, now: Timestamp) {
        if let Some(unix) = self.clock().unix_time() {
            self.core().set_wall_offset(wall_offset(unix, now));
        }
    }
}

/// When the offset from UTC was last read: whole seconds of the clock, which wrap.
#[derive(Debug)]
pub(crate) struct Wall(AtomicU32);

impl Wall {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self(AtomicU32::new(seconds(now)))
    }

    /// Whether it is old; one of those who find it old is told so.
    fn is_due(&self, now: Timestamp) -> bool {
        let (read, seconds) = (self.0.load(Ordering::Relaxed), seconds(now));
        let old = u64::from(seconds.wrapping_sub(read)) >= WALL_REFRESH.as_secs();
        // Relaxed: it only picks one of several; the offset is published by the core.
        old && self
            .0
            .compare_exchange(read, seconds, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }
}

#[derive(Debug)]
pub(crate) struct Shared<L: Law, C> {
    core: Limiter<L>,
    clock: C,
    waiters: Waiters,
    wall: Wall,
    counters: Counters,
    alarm: Alarm,
}

impl<L: Law, C: Clock> Shared<L, C> {
    pub(crate) fn new(core: Limiter<L>, waiting: Settings, clock: C) -> Self {
        let now = clock.now();
        let shared = Self {
            core,
            clock,
            waiters: Waiters::new(waiting),
            wall: Wall::new(now),
            counters: Counters::new(),
            alarm: Alarm::default(),
        };
        shared.read_wall(now);
        shared
    }

    pub(crate) const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counts a permit that is given out.
    #[inline]
    pub(crate) fn count_admitted(&self, sample: Sample) {
        // Of those that are not timed nothing is counted: others stand for them.
        if sample.stands_for() != 0 {
            self.counters.admitted(sample.stands_for() as usize);
            self.look_for_pressure();
        }
    }

    /// Counts how a permit ended.
    #[inline]
    pub(crate) fn count_ended(&self, sample: Sample, outcome: Outcome) {
        if sample.stands_for() != 0 || outcome != Outcome::Success {
            self.counters.ended(outcome, sample.stands_for() as usize);
        }
    }
}

impl<L: Law, C: Clock> Lane for Shared<L, C> {
    type Law = L;
    type Clock = C;

    #[inline]
    fn core(&self) -> &Limiter<L> {
        &self.core
    }

    #[inline]
    fn clock(&self) -> &C {
        &self.clock
    }

    #[inline]
    fn waiters(&self) -> &Waiters {
        &self.waiters
    }

    #[inline]
    fn wall(&self) -> &Wall {
        &self.wall
    }

    #[inline]
    fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    fn refused(&self, rejected: Rejected) -> Rejected {
        self.counters.refused(rejected.reason);
        self.alarm.call(REFUSAL);
        rejected
    }
}

/// What to add to `now` for the time since the Unix epoch, modulo [`WALL_SECONDS`].
fn wall_offset(unix: Duration, now: Timestamp) -> Ticks {
    let cycle = u64::from(WALL_SECONDS) * u64::from(RATE.get());
    let unix = timestamp(unix).ticks() % cycle;
    Ticks::new((unix + cycle - now.ticks() % cycle) % cycle)
}

fn seconds(now: Timestamp) -> u32 {
    (now.ticks() / u64::from(RATE.get())) as u32
}
