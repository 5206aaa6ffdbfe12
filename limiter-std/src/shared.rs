//! What all handles, permits and waiters of one limiter share.

use crate::callers::{Crowd, told};
use crate::clock::Clock;
use crate::config::Config;
use crate::partitions::{Parted, PartitionError, Partitions};
use crate::request::Request;
use crate::telemetry::{Alarm, Counters, PRESSURE, REFUSAL};
use crate::tuned::TunedLimiter;
use crate::wait::{self, Ended, Waiters};
use crate::wall::{Wall, wall_offset};
use crate::watch::{Watch, Watched};
use crate::way::{Door, Way};
use limiter_core::law::Law;
use limiter_core::{
    ConfigError, Outcome, RejectReason, Rejected, Sample, Seat, Settled, Shares, Slot, Snapshot,
    Standing, Timestamp,
};

/// A limiter with a clock and a line of waiters: alone, or a dependency's.
pub(crate) trait Lane {
    type Law: Law;
    type Clock: Clock;

    fn way(&self) -> Way<'_, Self::Law>;
    fn clock(&self) -> &Self::Clock;
    fn waiters(&self) -> &Waiters;
    fn wall(&self) -> &Wall;
    fn alarm(&self) -> &Alarm;

    /// Who has had more than its share; `None` where nobody asks.
    fn crowd(&self) -> Option<&Crowd> {
        None
    }

    /// Whether it only watches; `None` where it never does.
    fn watch(&self) -> Option<&Watch> {
        None
    }

    #[inline]
    fn core(&self) -> &TunedLimiter<Self::Law> {
        self.way().limiter()
    }

    /// The gauges of this moment. Slots that are guaranteed to a partition and not in use are not in flight.
    fn snapshot(&self) -> Snapshot {
        match self.way() {
            Way::Plain(limiter) => limiter.snapshot(),
            Way::Parted(parted) => parted.core.snapshot(),
        }
    }

    /// How much is taken of what such a request may use, per mille; what is idle of its own guarantee it may.
    #[cfg(feature = "http")]
    fn utilisation_of(&self, request: Option<Request>) -> u32 {
        let mut seen = self.snapshot();
        let place = request.and_then(|request| request.core.place());
        if let (Way::Parted(parted), Some(place)) = (self.way(), place) {
            let own = parted.core.partition(place);
            let idle = own.map_or(0, |own| own.quota.saturating_sub(own.inflight));
            seen.idle = seen.idle.saturating_sub(idle);
        }
        seen.utilisation()
    }

    /// A refusal for this reason with the numbers of this moment.
    fn refusal(&self, reason: RejectReason) -> Rejected {
        let seen = self.core().snapshot();
        Rejected::new(reason, seen.limit, seen.inflight)
    }

    /// A request that said nothing found no slot.
    fn admit_otherwise(&self, refused: Rejected) -> Ended {
        let lends = matches!(self.way(), Way::Parted(_));
        // Those who wait may all be of lower classes, and partitions may lend what they do not use.
        if lends || refused.reason == RejectReason::WaitersAhead {
            return self.admit_for(&Request::new());
        }
        self.unless_watching(refused)
    }

    fn admit_for(&self, request: &Request) -> Ended {
        if request.caller.is_some() {
            return self.admit_caller(request);
        }
        let entered = self.way().admit(&request.core, || self.clock().now());
        entered.map(Some).or_else(|refused| self.turn_away(refused))
    }

    /// A newcomer was refused. What it did to the quotas may have made room for those who wait.
    #[cold]
    fn turn_away(&self, refused: Rejected) -> Ended {
        let core = self.core();
        if matches!(self.way(), Way::Parted(_)) && core.has_room() && core.snapshot().waiting {
            wait::serve(self);
        }
        self.unless_watching(refused)
    }

    #[inline(never)]
    fn admit_caller(&self, request: &Request) -> Ended {
        let now = self.clock().now();
        let (judged, standing) = self.judged(request, now);
        match self.way().admit(&judged, || now) {
            Ok(seat) => {
                self.count(request, standing, now);
                Ok(Some(seat))
            }
            Err(refused) => self.turn_away(told(refused, standing)),
        }
    }

    /// Lets one in who waited: under the queue's lock.
    fn admit_waiter(&self, request: &Request, now: Timestamp) -> Ended {
        let (judged, standing) = self.judged(request, now);
        match self.way().admit_waiter(&judged, now) {
            Ok(seat) => {
                self.count(request, standing, now);
                Ok(Some(seat))
            }
            Err(refused) => self.unless_watching(told(refused, standing)),
        }
    }

    /// A request as its caller may make it now, and how that stands.
    fn judged(&self, request: &Request, now: Timestamp) -> (limiter_core::Request, Standing) {
        match self.crowd() {
            Some(crowd) if request.caller.is_some() => {
                let standing = crowd.standing(request, now);
                (crowd.judged(request, standing), standing)
            }
            _ => (request.core, Standing::Within),
        }
    }

    /// Counts what a request's caller was let in for.
    fn count(&self, request: &Request, standing: Standing, now: Timestamp) {
        if let Some(crowd) = self.crowd() {
            crowd.count(request, standing, now);
        }
    }

    fn unless_watching(&self, refused: Rejected) -> Ended {
        match self.watch() {
            // Closing is not refusing: it was asked for, whatever else is wrong with the request.
            Some(watch) if !self.core().is_closed() && watch.lets_through(refused) => {
                self.alarm().call(REFUSAL);
                Ok(None)
            }
            _ => Err(refused),
        }
    }

    /// Records what became of work whose RTT ended at `ended`, and does what follows from a change of the
    /// limit.
    #[inline]
    fn observe(&self, sample: Sample, outcome: Outcome, ended: Timestamp, now: Timestamp) {
        let change = self.way().observe(sample, outcome, ended, now);
        if change.is_some() {
            self.changed();
        }
    }

    #[inline]
    fn release(&self, seat: &mut Option<Seat>) {
        if self.way().release(seat) {
            wait::serve(self);
        }
    }

    /// Counts a request that is refused for good, and hands the refusal on.
    fn refused(&self, rejected: Rejected, _: &Request) -> Rejected {
        self.alarm().call(REFUSAL);
        rejected
    }

    /// Calls whoever looks when the next request may be one too many: after one came in, and after the limit moved,
    /// for below those who are in already nobody comes in any more.
    #[inline]
    fn look_for_pressure(&self) {
        if self.alarm().is_armed(PRESSURE) && self.is_nearly_full() {
            self.alarm().call(PRESSURE);
        }
    }

    /// Whether less than an eighth of the limit is left; what a partition does not use of its guarantee is.
    fn is_nearly_full(&self) -> bool {
        match self.way() {
            Way::Plain(limiter) => limiter.is_nearly_full(),
            Way::Parted(_) => self.snapshot().is_nearly_full(),
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
        self.way().balance();
        // Whether somebody waits or not: the shares are not in the word that has the waiting bit, so only the
        // lock puts them before or after one who is just joining the queue.
        wait::serve(self);
        Ok(())
    }

    fn close(&self) {
        self.settled(self.core().close());
    }

    /// Does what follows from a setting.
    fn settled(&self, settled: Settled) {
        if settled.change().is_some() {
            self.way().balance();
            self.refresh_wall();
            self.look_for_pressure();
        }
        if settled.wake() {
            wait::serve(self);
        }
    }

    /// Does what follows from a window that moved the limit.
    #[cold]
    fn changed(&self) {
        self.refresh_wall();
        self.look_for_pressure();
        // The limit was changed in the word that has the waiting bit: a waiter whose bit is not seen here sees the
        // new limit itself. A smaller one, too, may leave more for everybody: quotas round down together.
        if self.core().snapshot().waiting {
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

#[derive(Debug)]
pub(crate) struct Shared<L: Law, C> {
    door: Door<L>,
    clock: C,
    waiters: Waiters,
    wall: Wall,
    counters: Counters,
    alarm: Alarm,
    crowd: Crowd,
    watch: Watch,
}

impl<L: Law, C: Clock> Shared<L, C> {
    pub(crate) fn new(door: Door<L>, config: &Config<L>, clock: C) -> Self {
        let now = clock.now();
        let partitions = match &door {
            Door::Plain(_) => 0,
            Door::Parted(parted) => parted.named().len(),
        };
        let shared = Self {
            door,
            clock,
            waiters: Waiters::new(config.waiting(), partitions),
            wall: Wall::new(now),
            counters: Counters::default(),
            alarm: Alarm::default(),
            crowd: Crowd::new(config.beyond_share()),
            watch: Watch::new(config.is_watching()),
        };
        shared.read_wall(now);
        shared
    }

    pub(crate) const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counts a permit that is given out.
    #[inline]
    pub(crate) fn count_admitted(&self, slot: &Slot) {
        // Of those that are not timed nothing is counted: others stand for them.
        if slot.is_timed() {
            self.count_timed(slot.sample());
        }
    }

    #[cold]
    #[inline(never)]
    fn count_timed(&self, sample: Sample) {
        self.counters.admitted(sample.stands_for() as usize);
        self.look_for_pressure();
    }

    /// Counts how a permit ended, where [that counts](Sample::counts).
    #[inline]
    pub(crate) fn count_ended(&self, sample: Sample, outcome: Outcome) {
        self.counters.ended(outcome, sample.stands_for() as usize);
    }

    /// The partitions, if there are.
    pub(crate) fn parted(&self) -> Option<&Parted<L>> {
        match &self.door {
            Door::Plain(_) => None,
            Door::Parted(parted) => Some(parted),
        }
    }

    /// Changes what partitions are guaranteed, and lets in who fits now.
    pub(crate) fn set_guarantees(&self, partitions: &Partitions) -> Result<(), PartitionError> {
        match self.parted() {
            Some(parted) => parted.set(partitions)?,
            None => Partitions::new().changed(partitions).map(|_| ())?,
        }
        wait::serve(self);
        Ok(())
    }

    pub(crate) fn watched(&self) -> Watched {
        self.watch.read()
    }

    /// Only watches from now on, or enforces again. Who waits goes on at once where it watches.
    pub(crate) fn set_watch_only(&self, on: bool) {
        self.watch.set(on);
        wait::serve(self);
    }
}

impl<L: Law, C: Clock> Lane for Shared<L, C> {
    type Law = L;
    type Clock = C;

    #[inline]
    fn way(&self) -> Way<'_, L> {
        self.door.way()
    }

    fn crowd(&self) -> Option<&Crowd> {
        Some(&self.crowd)
    }

    fn watch(&self) -> Option<&Watch> {
        Some(&self.watch)
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

    fn refused(&self, rejected: Rejected, request: &Request) -> Rejected {
        self.counters.refused(rejected.reason);
        self.alarm.call(REFUSAL);
        match &self.door {
            Door::Plain(_) => rejected,
            Door::Parted(parted) => parted.core.told(rejected, &request.core),
        }
    }
}
