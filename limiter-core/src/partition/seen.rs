//! What partitions look like.

use super::Partitioned;
use crate::error::Rejected;
use crate::law::Law;
use crate::request::Request;
use crate::snapshot::Snapshot;

/// One partition at one moment. Counts wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct PartitionSnapshot {
    /// Slots of its own.
    pub quota: u32,
    /// How many of them are taken; more than the quota after it shrank.
    pub inflight: u32,
    /// Slots it has of what is for everybody.
    pub pooled: u32,
    /// Whether a part of its guarantee is lent.
    pub lent: bool,
    /// Requests refused for good.
    pub refused: u32,
    /// Permits that ended with [`Outcome::Success`](crate::Outcome::Success): those that were timed, and what they stand for.
    pub successes: u32,
    /// Permits that ended with [`Outcome::Overload`](crate::Outcome::Overload).
    pub overloads: u32,
    /// Permits that ended with [`Outcome::Failure`](crate::Outcome::Failure).
    pub failures: u32,
    /// Permits that ended with [`Outcome::Ignored`](crate::Outcome::Ignored).
    pub ignored: u32,
    /// Permits that ended with [`Outcome::Cancelled`](crate::Outcome::Cancelled).
    pub cancelled: u32,
}

/// What partitions do not use of what is in flight for the limiter inside.
struct Unused {
    /// Of their guarantees.
    idle: u32,
    /// That, what is left of guarantees that were larger, and what is owed to them.
    booked: u32,
}

impl<const P: usize, L: Law> Partitioned<P, L> {
    /// The gauges of this moment, with what is [idle](Snapshot::idle) told apart from what is in flight.
    pub fn snapshot(&self) -> Snapshot {
        for _ in 0..30 {
            let quotas_of = self.books.adopted();
            let seen = self.look();
            if !self.gate.read().held() && self.books.adopted() == quotas_of {
                return seen;
            }
            // While quotas change they are of no limit; whoever changes them is soon done.
        }
        self.look()
    }

    fn look(&self) -> Snapshot {
        let mut seen = self.limiter.snapshot();
        let unused = self.unused(seen.limit);
        seen.idle = unused.idle;
        for taken in [&mut seen.inflight, &mut seen.inflight_peak] {
            *taken = taken.saturating_sub(unused.booked);
        }
        seen
    }

    fn unused(&self, limit: u32) -> Unused {
        let (mut idle, mut booked) = (0_u32, self.books.owed());
        for (index, room) in self.rooms.iter().enumerate().take(self.books.held()) {
            let places = room.load();
            let (quota, inflight) = (places.quota(), places.inflight());
            booked = booked.saturating_add(quota.saturating_sub(inflight));
            // The next who comes makes a quota of an older limit smaller.
            let quota = quota.min(self.guaranteed(index, limit));
            idle = idle.saturating_add(quota.saturating_sub(inflight));
        }
        Unused { idle, booked }
    }

    /// A refusal that tells what is [idle](Snapshot::idle) apart from what is in flight, and is counted; for adapters,
    /// once for a request that is refused for good.
    pub fn told(&self, mut refused: Rejected, request: &Request) -> Rejected {
        self.count_refused(request);
        let unused = self.unused(refused.limit);
        refused.idle = unused.idle.min(refused.inflight);
        refused.inflight = refused.inflight.saturating_sub(unused.booked);
        refused
    }

    #[cold]
    pub(super) fn count_refused(&self, request: &Request) {
        if let Some(room) = request.place().and_then(|index| self.rooms.get(index)) {
            room.count_refused();
        }
    }

    /// One partition, `None` when there is none of that number.
    pub fn partition(&self, index: usize) -> Option<PartitionSnapshot> {
        let room = self.rooms.get(index)?;
        let places = room.load();
        let [successes, overloads, failures, ignored, cancelled] = room.ended();
        Some(PartitionSnapshot {
            quota: places.quota(),
            inflight: places.inflight(),
            pooled: room.pooled(),
            lent: room.lent() != u32::MAX,
            refused: room.refused(),
            successes,
            overloads,
            failures,
            ignored,
            cancelled,
        })
    }
}
