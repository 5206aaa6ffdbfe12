//! How quotas follow the limit, and what is lent of them.

use super::Partitioned;
use crate::cell::gate::DUE;
use crate::cell::partition::Room;
use crate::law::Law;
use crate::law::partition::quota;
use crate::time::{Stamp, Timestamp};

impl<const P: usize, L: Law> Partitioned<P, L> {
    /// What the guarantee of a partition is of `limit`.
    pub(super) fn guaranteed(&self, index: usize, limit: u32) -> u32 {
        let share = self.rooms.get(index).map_or(0, |room| room.terms().share());
        quota(limit, share)
    }

    fn target(&self, index: usize, room: &Room, limit: u32) -> u32 {
        self.guaranteed(index, limit).min(room.lent())
    }

    /// Makes the quotas follow the limit: those that shrink first, then those that grow. Called by whoever
    /// notices; for adapters after they set a limit or bounds.
    #[cold]
    #[inline(never)]
    pub fn balance(&self) {
        let Some(mut holder) = self.gate.enter(DUE) else {
            return;
        };
        loop {
            let _ = holder.take();
            self.balance_once();
            match holder.leave() {
                Ok(()) => return,
                Err(again) => holder = again,
            }
        }
    }

    fn balance_once(&self) {
        let limit = self.limiter.occupancy().limit();
        let targets = || {
            let rooms = self.rooms.iter().enumerate();
            rooms.map(|(index, room)| (room, self.target(index, room, limit)))
        };
        // Owed so far, and what shrinks: booked, and free to be booked anew.
        let back = targets().fold(self.books.owed(), |back, (room, target)| {
            back + room.shrink(target)
        });
        let need = targets().map(|(room, target)| room.need(target)).sum();
        let (granted, owed) = self.limiter.entry.admission.rebook(back, need);
        let left = targets().fold(granted, |left, (room, target)| {
            left - room.grow(target, left)
        });
        if left != 0 {
            let _ = self.limiter.entry.admission.release(left);
        }
        let reserved = self.rooms.iter().map(|room| room.load().quota()).sum();
        self.books.set(limit, reserved, owed);
    }

    /// A request of a partition was refused: whether a try is worth it after what was done for it. What is
    /// owed is granted as far as others have left; what is lent is taken back; what is idle is lent.
    #[cold]
    #[inline(never)]
    pub(super) fn claim(&self, index: usize, room: &Room, now: Timestamp) -> bool {
        let seen = self.limiter.occupancy();
        let mut due = false;
        if room.load().quota() < self.guaranteed(index, seen.limit()) {
            if room.lent() != u32::MAX {
                room.set_lent(u32::MAX);
                let _ = room.look(self.stamp(now));
                due = true;
            }
            due |= seen.inflight().saturating_sub(seen.limit()) < self.books.owed();
        }
        if due {
            self.balance();
        }
        self.lend(now) || due
    }

    /// Lends what partitions did not use for as long as they allow; whether any does. Called when somebody is
    /// refused.
    #[cold]
    pub(super) fn lend(&self, now: Timestamp) -> bool {
        let rooms = self.rooms.iter();
        let lent = rooms.fold(false, |lent, room| lent | self.lend_of(room, now));
        if lent {
            self.balance();
        }
        lent
    }

    fn lend_of(&self, room: &Room, now: Timestamp) -> bool {
        let Some(idle) = room.terms().idle() else {
            return false;
        };
        let now = self.stamp(now);
        let looked = room.looked();
        let since = Stamp(now).since(Stamp(looked)).filter(|_| looked != 0);
        let Some(since) = since else {
            // It starts to look; or the clock stepped back, and it starts anew.
            let _ = room.look(now);
            return false;
        };
        if since < idle {
            return false;
        }
        let used = room.look(now).max(1);
        let lends = used < room.load().quota();
        if lends {
            room.set_lent(used);
        }
        lends
    }

    fn stamp(&self, now: Timestamp) -> u32 {
        // 0 is before the first look.
        self.limiter.rate().pace().stamp(now).0.max(1)
    }
}
