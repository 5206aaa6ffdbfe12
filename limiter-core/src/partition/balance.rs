//! How quotas follow the limit, and what is lent of them.

use super::Partitioned;
use crate::cell::gate::{DUE, Holder};
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
        if let Some(holder) = self.gate.enter(DUE) {
            self.leave_gate(holder);
        }
    }

    /// Does what is left to do by whoever holds the gate, until nothing is.
    fn leave_gate(&self, mut holder: Holder<'_>) {
        while let Err(again) = holder.leave() {
            let _ = again.take();
            self.balance_once();
            holder = again;
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
        let shares = self.limiter.shares();
        let left = targets().fold(granted, |left, (room, target)| {
            // Before as after: what classes leave of less would be too little.
            room.publish(target.max(room.load().quota()), shares);
            let grown = room.grow(target, left);
            room.publish(room.load().quota(), shares);
            left - grown
        });
        if left != 0 {
            let _ = self.limiter.entry.admission.release(left);
        }
        let quotas = || self.rooms.iter().map(|room| room.load().quota());
        let held = quotas().rposition(|quota| quota != 0);
        let lends = self.rooms.iter().any(|room| room.terms().idle().is_some());
        self.books.describe(held.map_or(0, |last| last + 1), lends);
        self.books.set(limit, quotas().sum(), owed);
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
    #[inline]
    pub(super) fn lend(&self, now: Timestamp) -> bool {
        self.books.lends() && self.lend_idle(now)
    }

    #[cold]
    #[inline(never)]
    fn lend_idle(&self, now: Timestamp) -> bool {
        let now = self.stamp(now);
        if !self.rooms.iter().any(|room| looks(room, now).is_some()) {
            return false;
        }
        // Whoever holds it has the next who is refused look.
        let Some(holder) = self.gate.enter(0) else {
            return false;
        };
        let shares = self.limiter.shares();
        let mut lent = false;
        for room in &self.rooms {
            lent |= lend_of(room, now);
            room.publish(room.load().quota(), shares);
        }
        if lent {
            self.balance_once();
        }
        self.leave_gate(holder);
        lent
    }

    /// A partition that may be lent has more in flight than of late: from here on so many are let in plainly.
    #[cold]
    pub(super) fn raise_plain(&self, room: &Room) {
        // Where another holds it, the next who comes does it.
        if let Some(holder) = self.gate.enter(0) {
            room.publish(room.load().quota(), self.limiter.shares());
            self.leave_gate(holder);
        }
    }

    fn stamp(&self, now: Timestamp) -> u32 {
        // 0 is before the first look.
        self.limiter.rate().pace().stamp(now).0.max(1)
    }
}

/// Whether it is time to look at what a partition uses: whether it was not used for as long as it allows, or only
/// starts to be looked at.
fn looks(room: &Room, now: u32) -> Option<bool> {
    let idle = room.terms().idle()?;
    let looked = room.looked();
    match Stamp(now).since(Stamp(looked)).filter(|_| looked != 0) {
        Some(since) if since < idle => None,
        Some(_) => Some(true),
        // The clock stepped back, and it starts anew.
        None => Some(false),
    }
}

fn lend_of(room: &Room, now: u32) -> bool {
    let Some(lasted) = looks(room, now) else {
        return false;
    };
    let used = room.look(now).max(1);
    let lends = lasted && used < room.load().quota();
    if lends {
        room.set_lent(used);
    }
    lends
}
