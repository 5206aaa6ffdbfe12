//! How a request of a partition is let in.

use super::{Partitioned, Place, Seat};
use crate::cell::admission::Arrival;
use crate::cell::partition::{Places, Room};
use crate::error::{RejectReason, Rejected};
use crate::law::Law;
use crate::law::shares::part;
use crate::request::Request;
use crate::time::Timestamp;

impl<const P: usize, L: Law> Partitioned<P, L> {
    #[inline]
    pub(super) fn enter(
        &self,
        arrival: Arrival,
        request: &Request,
        now: Timestamp,
    ) -> Result<Seat, Rejected> {
        let seen = self.limiter.occupancy();
        if seen.limit() != self.books.adopted() {
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
        if let Ok(after) = self.enter_room(arrival, request, place, room) {
            return Ok(self.own(after, request, place, now));
        }
        let mut pooled = self.enter_pool(arrival, request, Some((place, room)), now);
        if pooled.is_err() && self.claim(index, room, now) {
            if let Ok(after) = self.enter_room(arrival, request, place, room) {
                return Ok(self.own(after, request, place, now));
            }
            pooled = self.enter_pool(arrival, request, Some((place, room)), now);
        }
        if pooled.is_err() {
            room.count_refused();
        }
        pooled
    }

    #[inline]
    fn enter_room(
        &self,
        arrival: Arrival,
        request: &Request,
        place: u16,
        room: &Room,
    ) -> Result<Places, Places> {
        // Of this limit, though the quota may be that of the one before: whoever lets somebody in by an older
        // limit could have done so before it changed.
        let guaranteed = self.guaranteed(place.into(), self.limiter.occupancy().limit());
        let (share, waits) = self.limiter.shares.read(request.class());
        let newcomer = arrival == Arrival::Newcomer && request.class() <= waits;
        room.acquire(newcomer, request.slots(), |quota| {
            part(quota.min(guaranteed), request.share(share))
        })
    }

    #[inline]
    fn own(&self, after: Places, request: &Request, place: u16, now: Timestamp) -> Seat {
        let full = after.inflight() >= after.quota();
        let seen = self.limiter.occupancy();
        let entry = &self.limiter.entry;
        if full && seen.inflight() >= seen.limit() {
            // Whoever comes next is refused: the limit is reached.
            entry.peak.raise(seen.limit());
        }
        Seat {
            slot: self
                .limiter
                .slot(request.slots(), self.limiter.tag().0, now),
            place: Place::Own(place),
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
        let (tag, _) = self.limiter.enter_beside(arrival, request, reserved)?;
        if let Some((_, room)) = partition {
            room.add_pooled(request.slots());
        }
        Ok(Seat {
            slot: self.limiter.slot(request.slots(), tag, now),
            place: Place::Pool(partition.map(|(place, _)| place)),
        })
    }
}
