//! How a request of a partition is let in.

use super::Partitioned;
use crate::cell::admission::Arrival;
use crate::cell::partition::{Places, Room};
use crate::error::{RejectReason, Rejected};
use crate::law::Law;
use crate::law::shares::part;
use crate::request::Request;
use crate::tag::{Tag, Whose};
use crate::time::Timestamp;

impl<const P: usize, L: Law> Partitioned<P, L> {
    /// Lets in one who comes anew, whose weight the caller has at hand.
    #[inline]
    pub(super) fn enter_newcomer(
        &self,
        request: &Request,
        weight: u32,
        now: Timestamp,
    ) -> Result<Tag, Rejected> {
        match self.enter_plainly(request, weight) {
            Some(tag) => Ok(tag),
            // So that the compiler knows it too, and need not look again at what it has just let in.
            None => Ok(self.enter(Arrival::Newcomer, request, now)?.at_length()),
        }
    }

    /// Lets a request in on its partition's own slots, if nothing else is to be thought of: the quotas are those
    /// of the limit, and nobody waits.
    #[inline]
    pub(super) fn enter_plainly(&self, request: &Request, weight: u32) -> Option<Tag> {
        let place = request.plain_place();
        let room = self.rooms.get(usize::from(place))?;
        let adopted = self.limiter.occupancy().is_at(self.books.adopted());
        if !adopted || !room.acquire_plainly(request.class(), weight) {
            return None;
        }
        Some(self.limiter.draw().plain_tag(place))
    }

    #[inline(never)]
    pub(super) fn enter(
        &self,
        arrival: Arrival,
        request: &Request,
        now: Timestamp,
    ) -> Result<Tag, Rejected> {
        let seen = self.limiter.occupancy();
        let limit = seen.limit();
        if limit != self.books.adopted() {
            self.balance();
        }
        let Some(index) = request.place() else {
            let pooled = self.enter_pool(arrival, request, None);
            if pooled.is_err() && self.lend(now) {
                return self.enter_pool(arrival, request, None);
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
            Ok(after) => Ok(self.own(after, place, room)),
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
    ) -> Result<Tag, Rejected> {
        let mut pooled = self.enter_pool(arrival, request, Some((place, room)));
        if pooled.is_err() && self.claim(place.into(), room, now) {
            let limit = self.limiter.occupancy().limit();
            if let Ok(after) = self.enter_room(arrival, request, place, room, limit) {
                return Ok(self.own(after, place, room));
            }
            pooled = self.enter_pool(arrival, request, Some((place, room)));
        }
        pooled.map_err(|refused| full(refused, place, room))
    }

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
    ) -> Option<Tag> {
        let enter = || {
            let limit = self.limiter.occupancy().limit();
            self.enter_room(Arrival::Waiter, request, place, room, limit)
        };
        let entered = match enter() {
            Err(_) if self.claim(place.into(), room, now) => enter(),
            entered => entered,
        };
        Some(self.own(entered.ok()?, place, room))
    }

    fn own(&self, after: Places, place: u16, room: &Room) -> Tag {
        if room.is_beyond_plain(after) {
            self.raise_plain(room);
        }
        self.limiter.draw().tag_of(Whose::own(place))
    }

    fn enter_pool(
        &self,
        arrival: Arrival,
        request: &Request,
        partition: Option<(u16, &Room)>,
    ) -> Result<Tag, Rejected> {
        // What is owed is booked as well, and nobody's work: whoever took it for that would wait for nobody.
        let reserved = self.books.reserved().saturating_add(self.books.owed());
        let entered = self.limiter.enter_beside(arrival, request, reserved)?;
        let whose = match partition {
            Some((place, room)) => {
                room.add_pooled(request.slots());
                Whose::own(place).pooled()
            }
            None => Whose::NOBODY,
        };
        Ok(entered.tag_of(whose))
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
