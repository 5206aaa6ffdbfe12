//! How a request of a partition is let in.

use super::{Partitioned, Seat};
use crate::cell::admission::Arrival;
use crate::cell::partition::{Places, Room};
use crate::error::{RejectReason, Rejected};
use crate::law::Law;
use crate::law::shares::part;
use crate::request::Request;
use crate::time::Timestamp;

impl<const P: usize, L: Law> Partitioned<P, L> {
    /// Lets a request in on its partition's own slots, if nothing else is to be thought of: the quotas are those
    /// of the limit, and nobody waits.
    #[inline]
    pub(super) fn enter_own(&self, request: &Request, now: Timestamp) -> Option<Seat> {
        let place = request.raw_place();
        let room = self.rooms.get(usize::from(place))?;
        if !self.limiter.occupancy().is_at(self.books.adopted()) {
            return None;
        }
        let share = request.share(self.limiter.shares.share(request.class()));
        let never = || false;
        let after = room.acquire(never, request.slots(), |quota| part(quota, share));
        Some(self.own(after.ok()?, request, place, now))
    }

    #[inline(never)]
    pub(super) fn enter(
        &self,
        arrival: Arrival,
        request: &Request,
        now: Timestamp,
    ) -> Result<Seat, Rejected> {
        let seen = self.limiter.occupancy();
        let limit = seen.limit();
        if limit != self.books.adopted() {
            self.balance();
        }
        let Some(index) = request.place() else {
            let pooled = self.enter_pool(arrival, request, None, now);
            if pooled.is_err() && self.lend(now) {
                return self.enter_pool(arrival, request, None, now);
            }
            return pooled;
        };
        let Some(room) = self.rooms.get(index) else {
            return Err(Rejected::new(
                RejectReason::NoSuchPartition,
                seen.limit(),
                seen.inflight(),
            ));
        };
        let place = index as u16;
        match self.enter_room(arrival, request, place, room, limit) {
            Ok(after) => Ok(self.own(after, request, place, now)),
            Err(_) => self.enter_beside_own(arrival, request, place, room, now),
        }
    }

    /// The partition's own slots are taken, or not enough of them are free.
    #[inline(never)]
    fn enter_beside_own(
        &self,
        arrival: Arrival,
        request: &Request,
        place: u16,
        room: &Room,
        now: Timestamp,
    ) -> Result<Seat, Rejected> {
        let mut pooled = self.enter_pool(arrival, request, Some((place, room)), now);
        if pooled.is_err() && self.claim(place.into(), room, now) {
            let limit = self.limiter.occupancy().limit();
            if let Ok(after) = self.enter_room(arrival, request, place, room, limit) {
                return Ok(self.own(after, request, place, now));
            }
            pooled = self.enter_pool(arrival, request, Some((place, room)), now);
        }
        pooled.map_err(|refused| {
            room.count_refused();
            full(refused, place, room)
        })
    }

    #[inline]
    fn enter_room(
        &self,
        arrival: Arrival,
        request: &Request,
        place: u16,
        room: &Room,
        limit: u32,
    ) -> Result<Places, Places> {
        // Of this limit, where the quota is still that of the one before: whoever lets somebody in by an older
        // limit could have done so before it changed.
        let guaranteed = if limit == self.books.adopted() {
            u32::MAX
        } else {
            self.guaranteed(place.into(), limit)
        };
        let shares = &self.limiter.shares;
        let share = request.share(shares.share(request.class()));
        // Whoever waited, or is of a higher class than those who do, does not stay behind them.
        let passes = || arrival == Arrival::Waiter || request.class() > shares.waits();
        room.acquire(passes, request.slots(), |quota| {
            part(quota.min(guaranteed), share)
        })
    }

    #[cold]
    pub(super) fn enter_room_or_claim(
        &self,
        request: &Request,
        place: u16,
        room: &Room,
        now: Timestamp,
    ) -> Option<Seat> {
        let enter = || {
            let limit = self.limiter.occupancy().limit();
            self.enter_room(Arrival::Waiter, request, place, room, limit)
        };
        let entered = match enter() {
            Err(_) if self.claim(place.into(), room, now) => enter(),
            entered => entered,
        };
        Some(self.own(entered.ok()?, request, place, now))
    }

    #[inline]
    fn own(&self, after: Places, request: &Request, place: u16, now: Timestamp) -> Seat {
        if after.inflight() >= after.quota() {
            self.note_full();
        }
        let tag = self.limiter.draw().tag();
        Seat::of(self.limiter.slot(request.slots(), tag, now), place, true)
    }

    /// Own slots are taken to the last: when what is for everybody is too, the limit is reached.
    #[cold]
    fn note_full(&self) {
        let seen = self.limiter.occupancy();
        if seen.inflight() >= seen.limit() {
            self.limiter.entry.peak.raise(seen.limit());
        }
    }

    #[inline]
    fn enter_pool(
        &self,
        arrival: Arrival,
        request: &Request,
        partition: Option<(u16, &Room)>,
        now: Timestamp,
    ) -> Result<Seat, Rejected> {
        let reserved = self.books.reserved();
        let entered = self.limiter.enter_beside(arrival, request, reserved)?;
        let slot = self.limiter.slot(request.slots(), entered.tag(), now);
        Ok(match partition {
            Some((place, room)) => {
                room.add_pooled(request.slots());
                Seat::of(slot, place, false)
            }
            None => slot.into(),
        })
    }
}

/// A refusal for want of slots, as one of a partition is told of it.
fn full(refused: Rejected, partition: u16, room: &Room) -> Rejected {
    match refused.reason {
        RejectReason::AtLimit | RejectReason::TooFewFree(_) => {
            let quota = room.load().quota();
            let reason = RejectReason::PartitionFull { partition, quota };
            refused.because(reason)
        }
        _ => refused,
    }
}
