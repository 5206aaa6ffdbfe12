//! Partitions: each with slots of its own and a part of what is for everybody.
//!
//! The rule by which partition, priority and weight combine: a request is let in on the slots of its partition,
//! when what the partition has in flight there and the request's weight are within the share of its class of
//! the quota; else on what is for everybody, by the same share of that; else it is refused. It is never split
//! between the two. One compare-exchange lets it in, on the partition's word or on the admission word.
//!
//! Quotas are booked in the admission word, as if their slots were in flight: so what is for everybody is what
//! is left, all together never pass the limit, and a guarantee that grows, or is taken back, keeps newcomers
//! out until those who are in have left. When the limit shrinks below what is in flight, what is for everybody
//! lets nobody in until enough have left, as without partitions; a partition may use what is still guaranteed.

mod balance;
mod enter;
mod leave;
mod seen;

use crate::cell::admission::Arrival;
use crate::cell::books::Books;
use crate::cell::gate::Gate;
use crate::cell::partition::Room;
use crate::cell::sync::const_unless_loom;
use crate::config::Config;
use crate::error::{ConfigError, Rejected};
use crate::law::partition::Guarantee;
use crate::law::{Knee, Law};
use crate::limiter::Limiter;
use crate::permit::Slot;
use crate::request::Request;
use crate::tag::{MOST_PLACES, Tag};
use crate::time::{TickRate, Timestamp};
pub use seen::PartitionSnapshot;

/// A limiter with `P` partitions, 1,023 at most.
///
/// Every request goes through it: one that names no partition has what is for everybody.
/// [`Snapshot::inflight`](crate::Snapshot::inflight) of the limiter inside counts guaranteed slots as taken,
/// also while they are idle.
///
/// ```
/// use limiter_core::law::Aimd;
/// use limiter_core::{Config, Guarantee, Outcome, Partitioned, Request, TickRate, Timestamp};
///
/// const READS: usize = 0;
/// const WRITES: usize = 1;
/// static STORE: Partitioned<2, Aimd> = Partitioned::new(
///     Config::new(Aimd::new(), TickRate::MICROS).initial(10),
///     [Guarantee::NONE, Guarantee::of(300)],
/// );
///
/// let now = Timestamp::from_ticks(0);
/// let reads = Request::new().partition(READS);
/// let held: Vec<_> = core::iter::from_fn(|| STORE.admit(&reads, now).ok()).collect();
/// assert_eq!(held.len(), 7);
/// let write = STORE.admit(&Request::new().partition(WRITES), now).expect("3 are for writes");
/// STORE.settle(write, Outcome::Failure, now);
/// assert_eq!(STORE.partition(WRITES).expect("there are two").failures, 1);
/// # for seat in held { STORE.release(seat); }
/// ```
#[derive(Debug)]
pub struct Partitioned<const P: usize, L: Law = Knee> {
    limiter: Limiter<L>,
    rooms: [Room; P],
    gate: Gate,
    books: Books,
}

/// A slot, and whose it is. Give it back to where it is from by [`Partitioned::settle`] or
/// [`Partitioned::release`]; one that is dropped stays taken for ever.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
#[must_use = "a dropped seat stays taken for ever"]
pub struct Seat(Slot);

impl From<Slot> for Seat {
    /// A slot of what is for everybody, of no partition.
    #[inline]
    fn from(slot: Slot) -> Self {
        Self(slot)
    }
}

impl Seat {
    /// The slot alone, for a limiter without partitions: of one that has them it is given back by
    /// [`Partitioned::release`].
    #[inline]
    pub fn into_slot(self) -> Slot {
        self.0
    }

    /// The slot, to record its outcome by.
    #[inline]
    pub const fn slot(&self) -> &Slot {
        &self.0
    }

    /// The partition it is of.
    #[inline]
    pub const fn partition(&self) -> Option<usize> {
        self.0.tag.whose().place()
    }

    /// Whether it is one of the partition's own slots.
    #[inline]
    pub const fn is_own(&self) -> bool {
        self.0.tag.whose().room(MOST_PLACES).is_some()
    }
}

impl<const P: usize, L: Law> Partitioned<P, L> {
    const_unless_loom! {
        /// Partitions with these guarantees; see [`Limiter::new`].
        ///
        /// # Panics
        ///
        /// If the configuration is wrong. At run time use [`try_new`](Partitioned::try_new).
        pub fn new(config: Config<L>, guarantees: [Guarantee; P]) -> Self
        where
            L: Copy,
        {
            if let Err(error) = Guarantee::check(&guarantees) {
                error.fail::<()>();
            }
            Self::around(Limiter::new(config), guarantees)
        }
    }

    /// Partitions with these guarantees, from a configuration that may be wrong.
    ///
    /// # Errors
    ///
    /// As [`Limiter::try_new`], and guarantees that are together more than
    /// [`MOST_GUARANTEED`](crate::MOST_GUARANTEED).
    pub fn try_new(config: Config<L>, guarantees: [Guarantee; P]) -> Result<Self, ConfigError> {
        Guarantee::check(&guarantees)?;
        Ok(Self::around(Limiter::try_new(config)?, guarantees))
    }

    const_unless_loom! {
        fn around(limiter: Limiter<L>, guarantees: [Guarantee; P]) -> Self {
            const { assert!(P <= MOST_PLACES, "a limiter has at most 1,023 partitions") };
            let rooms = rooms(&guarantees, limiter.rate());
            Self {
                limiter,
                rooms,
                gate: Gate::new(),
                books: Books::new(),
            }
        }
    }

    /// The limiter inside, for its settings and gauges. After a setting call [`balance`](Partitioned::balance).
    pub const fn limiter(&self) -> &Limiter<L> {
        &self.limiter
    }

    /// Takes the slots that a request needs, or says at once why it may not have them.
    ///
    /// # Errors
    ///
    /// As [`Limiter::try_acquire_for`], and
    /// [`NoSuchPartition`](crate::RejectReason::NoSuchPartition).
    #[inline]
    pub fn admit(&self, request: &Request, now: Timestamp) -> Result<Seat, Rejected> {
        let weight = request.slots();
        match self.enter_newcomer(request, weight, now) {
            Ok(tag) => Ok(self.seat(weight, tag, now)),
            Err(refused) => {
                self.count_refused(request);
                Err(refused)
            }
        }
    }

    /// As [`admit`](Partitioned::admit), but asks for the time only when there is a seat that is timed, or when more
    /// than the partition's own slots is to be thought of. `now` must not panic, for by then a slot may be taken.
    ///
    /// For adapters whose requests may wait or ask again: whom it refuses is not
    /// [counted](PartitionSnapshot::refused).
    ///
    /// # Errors
    ///
    /// As [`admit`](Partitioned::admit).
    #[inline]
    pub fn admit_with(
        &self,
        request: &Request,
        now: impl FnOnce() -> Timestamp,
    ) -> Result<Seat, Rejected> {
        let weight = request.slots();
        if let Some(tag) = self.enter_plainly(request, weight) {
            return Ok(Seat(self.limiter.slot_with(weight, tag, now)));
        }
        let now = now();
        let tag = self.enter(Arrival::Newcomer, request, now)?;
        Ok(self.seat(weight, tag, now))
    }

    #[inline]
    fn seat(&self, weight: u32, tag: Tag, now: Timestamp) -> Seat {
        Seat(self.limiter.slot(weight, tag, now))
    }

    /// Changes what the partitions are guaranteed, and keeps who is in. A quota that grows takes what is for
    /// everybody as others leave; one that shrinks is for everybody at once, as far as it is not in use. The
    /// returned flag says that somebody waits and may be let in now.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Partitioned::try_new); nothing changes.
    pub fn set_guarantees(&self, guarantees: [Guarantee; P]) -> Result<bool, ConfigError> {
        Guarantee::check(&guarantees)?;
        for (room, guarantee) in self.rooms.iter().zip(&guarantees) {
            room.set_terms(guarantee.terms(self.limiter.rate()));
        }
        self.balance();
        Ok(self.limiter.occupancy().waiting())
    }

    /// As [`admit`](Partitioned::admit), for one who waited: under the queue's lock, after
    /// [`set_waiting`](Partitioned::set_waiting).
    ///
    /// # Errors
    ///
    /// As [`admit`](Partitioned::admit), but never because of waiters.
    pub fn admit_waiter(&self, request: &Request, now: Timestamp) -> Result<Seat, Rejected> {
        let tag = self.enter(Arrival::Waiter, request, now)?;
        Ok(self.seat(request.slots(), tag, now))
    }

    /// As [`admit_waiter`](Partitioned::admit_waiter), on slots of its partition's own alone: for the first of a
    /// partition's waiters, while what is for everybody is another's turn.
    pub fn admit_waiter_own(&self, request: &Request, now: Timestamp) -> Option<Seat> {
        let index = request.place()?;
        let room = self.rooms.get(index)?;
        let tag = self.enter_room_or_claim(request, index as u16, room, now)?;
        Some(self.seat(request.slots(), tag, now))
    }

    /// Announces that such a request waits, in every word it may be let in by; for adapters, under the queue's
    /// lock, before the waiter's last try.
    pub fn set_waiting(&self, request: &Request) {
        if let Some(room) = request.place().and_then(|index| self.rooms.get(index)) {
            room.set_waiting();
        }
        self.limiter.set_waiting_from(request.class());
    }

    /// Lets newcomers of a partition in again on its own slots: none of its requests wait. For adapters, under
    /// the queue's lock; [`Limiter::clear_waiting`] when nobody waits at all.
    pub fn clear_waiting(&self, index: usize) {
        if let Some(room) = self.rooms.get(index) {
            room.clear_waiting();
        }
    }
}

#[cfg(not(limiter_loom))]
const fn rooms<const P: usize>(guarantees: &[Guarantee; P], rate: TickRate) -> [Room; P] {
    let mut rooms = [const { Room::new(Guarantee::NONE.terms(TickRate::MILLIS)) }; P];
    let mut i = 0;
    while i < P {
        rooms[i] = Room::new(guarantees[i].terms(rate));
        i += 1;
    }
    rooms
}

#[cfg(limiter_loom)]
fn rooms<const P: usize>(guarantees: &[Guarantee; P], rate: TickRate) -> [Room; P] {
    core::array::from_fn(|index| Room::new(guarantees[index].terms(rate)))
}
