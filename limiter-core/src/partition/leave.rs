//! How a seat is given back, and what its end teaches.

use super::{Partitioned, Seat};
use crate::cell::partition::{Places, Room};
use crate::cell::sync::Word;
use crate::law::Law;
use crate::outcome::Outcome;
use crate::permit::{Sample, Slot};
use crate::settle::{Change, Settled};
use crate::tag::Tag;
use crate::time::Timestamp;

impl<const P: usize, L: Law> Partitioned<P, L> {
    /// Records what became of a seat and frees it; for adapters.
    #[inline]
    pub fn settle(&self, seat: Seat, outcome: Outcome, now: Timestamp) -> Settled {
        let Slot {
            started,
            weight,
            tag,
        } = seat.0;
        if tag.is_plain() && outcome == Outcome::Success {
            return Settled::freed(self.free(weight, tag));
        }
        // In words, and taken apart: what goes through memory on one way goes through it on both.
        let Settled { change, wake } = self.settle_at_length((started, weight), tag, outcome, now);
        Settled { change, wake }
    }

    #[inline(never)]
    fn settle_at_length(
        &self,
        (started, weight): (Word, u32),
        tag: Tag,
        outcome: Outcome,
        now: Timestamp,
    ) -> Settled {
        // Before the law runs: if it panics, the seat is free.
        let freed = self.free(weight, tag);
        let sample = Sample {
            started,
            weight,
            tag,
        };
        if !sample.counts(outcome) {
            return Settled::freed(freed);
        }
        let change = self.observe(sample, outcome, now, now);
        let wake = freed || change.is_some() && self.limiter.occupancy().waiting();
        Settled { change, wake }
    }

    fn count(&self, sample: Sample, outcome: Outcome) {
        if let Some(room) = sample.partition().and_then(|index| self.rooms.get(index)) {
            let times = match outcome {
                Outcome::Success => sample.stands_for(),
                _ => 1,
            };
            room.count(outcome, times);
        }
    }

    /// Frees a seat and teaches nothing; for adapters.
    #[inline]
    pub fn release(&self, seat: Seat) -> Settled {
        let Slot { weight, tag, .. } = seat.0;
        Settled::freed(self.free(weight, tag))
    }

    /// Frees so many slots; whether somebody waits.
    #[inline]
    fn free(&self, weight: u32, tag: Tag) -> bool {
        let room = tag.whose().room(P).and_then(|index| self.rooms.get(index));
        match room {
            Some(room) => {
                let before = room.release(weight);
                before.heeds() && self.left(room, before, weight)
            }
            None => self.free_pooled(weight, tag),
        }
    }

    /// The same for slots of what is for everybody.
    #[inline(never)]
    fn free_pooled(&self, weight: u32, tag: Tag) -> bool {
        if let Some(room) = tag.whose().place().and_then(|index| self.rooms.get(index)) {
            room.take_pooled(weight);
        }
        self.limiter.entry.admission.release(weight).waiting()
    }

    /// Does what follows where so many left: gives back what is beyond the quota, and tells whether somebody waits.
    #[cold]
    #[inline(never)]
    fn left(&self, room: &Room, before: Places, weight: u32) -> bool {
        let mut wake = before.waiting();
        let over = room.over(before, weight);
        if over != 0 {
            wake |= self.limiter.entry.admission.release(over).waiting();
        }
        wake
    }

    /// Records what became of work whose seat may be free by now; for adapters, with
    /// [`Limiter::observe_sample`](crate::Limiter::observe_sample). The returned change of the limit has moved the
    /// quotas as well.
    #[inline]
    pub fn observe(
        &self,
        sample: Sample,
        outcome: Outcome,
        ended: Timestamp,
        now: Timestamp,
    ) -> Option<Change> {
        self.count(sample, outcome);
        let change = self.limiter.observe_sample(sample, outcome, ended, now);
        if change.is_some() {
            self.balance();
        }
        change
    }
}
