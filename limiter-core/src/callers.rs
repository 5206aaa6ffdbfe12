//! Callers: who has had more than its share is refused first.
//!
//! The rule by which a caller combines with priority, partition and weight: a caller beyond its share is let in
//! as if its class had no more than a part of the limit, whatever its class; all else stays. So what is kept free
//! is for callers within their share, of every class.
//!
//! A table of hashed counts tells who is beyond: bounded, whatever names callers give. Each caller has one cell
//! in each of four rows; three of them are judged by while the fourth is filled anew under another seed, in turn,
//! so that no two callers are taken for one another for long.
//!
//! **A caller that changes its name** on every request has no history under any of them. What protects then is a
//! second key that it cannot choose: its address, its connection, its account, by [`Caller::from`]. Origins are
//! judged first, each as one caller; what an origin beyond its share is let in for is not counted under the
//! names it gives. What cannot be told apart is a caller that changes both, from as many callers of one request each:
//! there, a partition of its own for callers that nobody vouches for, or a lower class, bounds what they take
//! together. And those who share the origin of a caller that takes too much share its refusals.

use crate::cell::callers::{Fading, Shared};
use crate::cell::sync::const_unless_loom;
use crate::error::Rejected;
use crate::law::Law;
use crate::law::backoff::mix;
use crate::law::callers::Census;
use crate::limiter::Limiter;
use crate::partition::{Partitioned, Seat};
use crate::permit::Slot;
use crate::request::Request;
use crate::time::{Pace, TickRate, Timestamp};
use core::time::Duration;

/// Slots in all from which on shares are not told: a thousand million a second.
const MOST: u32 = u32::MAX / 4;
/// Rows of a table; one of them is always being filled.
const ROWS: u32 = 4;
/// Periods until the next row is emptied and filled under another seed.
const TURN: u32 = 16;
/// In one of these counts halve: short enough to follow, long enough for counts to mean something.
const PERIOD: Duration = Duration::from_millis(500);

/// Who sends a request: hashes of names, of any hash function. Names that are given by callers should be hashed
/// with a key, or a caller may look for names that share the cells of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Caller {
    name: u32,
    origin: Option<u32>,
}

impl Caller {
    /// The caller whose name has this hash.
    pub const fn new(name: u64) -> Self {
        Self {
            name: (name ^ name >> 32) as u32,
            origin: None,
        }
    }

    /// Where it comes from, which it cannot choose freely: the hash of an address, a network, an account.
    #[must_use]
    pub const fn from(mut self, origin: u64) -> Self {
        self.origin = Some((origin ^ origin >> 32) as u32);
        self
    }
}

/// How a caller stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Standing {
    /// Within its share, or nobody knows otherwise.
    Within,
    /// Its name has had more than its share.
    Beyond,
    /// Its origin has.
    OriginBeyond,
}

/// What callers were let in for lately, in `CELLS` cells: a power of two, 16 at least, and better four times
/// as many as there are callers that matter. Takes 32 bytes for each cell, and no more. Where callers are let in
/// for more than a thousand million slots a second together, none is beyond its share.
///
/// ```
/// use limiter_core::law::Fixed;
/// use limiter_core::{Caller, Callers, Config, Limiter, Request, TickRate, Timestamp};
///
/// static LIMITER: Limiter<Fixed> = Limiter::new(Config::new(Fixed, TickRate::MILLIS));
/// static CALLERS: Callers<64> = Callers::new(TickRate::MILLIS, 0x5eed);
///
/// let caller = Caller::new(0x0123_4567_89ab_cdef);
/// let slot = CALLERS.admit(&LIMITER, Request::new(), caller, Timestamp::from_ticks(5));
/// LIMITER.release(slot.expect("nothing is in flight"));
/// ```
#[derive(Debug)]
pub struct Callers<const CELLS: usize> {
    names: Table<CELLS>,
    origins: Table<CELLS>,
    pace: Pace,
    period: u32,
    seed: u32,
    within: u16,
}

impl<const CELLS: usize> Callers<CELLS> {
    const_unless_loom! {
        /// An empty table; a caller that takes more than its share may use four fifths of the limit.
        ///
        /// `seed` should be random, or callers may look for names that share the cells of others.
        pub fn new(rate: TickRate, seed: u32) -> Self {
            const { assert!(CELLS.is_power_of_two() && CELLS >= 16, "a power of two, 16 at least") };
            let pace = rate.pace();
            Self {
                names: Table::new(),
                origins: Table::new(),
                pace,
                period: pace.units(rate.ticks(PERIOD)),
                seed,
                within: 800,
            }
        }
    }

    /// What callers beyond their share may use of the limit, per mille: 1 to 1,000. The rest is kept free for
    /// others, and is idle where there are none.
    #[must_use]
    pub const fn beyond_may_use(mut self, per_mille: u16) -> Self {
        self.within = match per_mille {
            0 => 1,
            most if most > 1_000 => 1_000,
            share => share,
        };
        self
    }

    /// How a caller stands at `now`.
    pub fn standing(&self, caller: Caller, now: Timestamp) -> Standing {
        let period = self.period_of(now);
        if caller
            .origin
            .is_some_and(|origin| self.origins.is_beyond(origin, period, self.seed))
        {
            Standing::OriginBeyond
        } else if self.names.is_beyond(caller.name, period, self.seed) {
            Standing::Beyond
        } else {
            Standing::Within
        }
    }

    /// Counts what a caller was let in for.
    pub fn count(&self, caller: Caller, standing: Standing, weight: u32, now: Timestamp) {
        let period = self.period_of(now);
        let noise = mix(caller.name ^ now.ticks() as u32);
        let count = |table: &Table<CELLS>, key| {
            table.count(key, (weight, noise), period, self.seed);
        };
        if let Some(origin) = caller.origin {
            count(&self.origins, origin);
        }
        if standing != Standing::OriginBeyond {
            count(&self.names, caller.name);
        }
    }

    /// Lets a request of `caller` in, by its class, its weight, and how its caller stands.
    ///
    /// # Errors
    ///
    /// As [`Limiter::admit_for`], and [`OverShare`](crate::RejectReason::OverShare).
    pub fn admit<L: Law>(
        &self,
        limiter: &Limiter<L>,
        request: Request,
        caller: Caller,
        now: Timestamp,
    ) -> Result<Slot, Rejected> {
        self.around(request, caller, now, |request| {
            limiter.admit_for(request, now)
        })
    }

    /// Lets a request of `caller` in, by its partition, its class, its weight, and how its caller stands: the
    /// whole rule.
    ///
    /// # Errors
    ///
    /// As [`Partitioned::admit`], and [`OverShare`](crate::RejectReason::OverShare).
    pub fn admit_to<const P: usize, L: Law>(
        &self,
        limiter: &Partitioned<P, L>,
        request: Request,
        caller: Caller,
        now: Timestamp,
    ) -> Result<Seat, Rejected> {
        self.around(request, caller, now, |request| limiter.admit(request, now))
    }

    fn around<T>(
        &self,
        request: Request,
        caller: Caller,
        now: Timestamp,
        admit: impl FnOnce(&Request) -> Result<T, Rejected>,
    ) -> Result<T, Rejected> {
        let standing = self.standing(caller, now);
        let admitted = admit(&self.judged(request, standing))?;
        self.count(caller, standing, request.slots(), now);
        Ok(admitted)
    }

    /// The request as a caller that stands so may make it; for adapters whose requests wait.
    pub const fn judged(&self, request: Request, standing: Standing) -> Request {
        match standing {
            Standing::Within => request,
            Standing::Beyond | Standing::OriginBeyond => request.at_most(self.within),
        }
    }

    fn period_of(&self, now: Timestamp) -> u32 {
        self.pace.stamp(now).0.checked_div(self.period).unwrap_or(0)
    }
}

/// Counts by one key.
#[derive(Debug)]
struct Table<const CELLS: usize> {
    rows: [[Fading; CELLS]; ROWS as usize],
    total: Fading,
    requests: Fading,
    used: Shared,
    period: Shared,
}

impl<const CELLS: usize> Table<CELLS> {
    const_unless_loom! {
        fn new() -> Self {
            Self {
                #[cfg(not(limiter_loom))]
                rows: [const { [const { Fading::new() }; CELLS] }; ROWS as usize],
                #[cfg(limiter_loom)]
                rows: core::array::from_fn(|_| core::array::from_fn(|_| Fading::new())),
                total: Fading::new(),
                requests: Fading::new(),
                used: Shared::new(),
                period: Shared::new(),
            }
        }
    }

    /// The cells of a key, each with whether it is judged by.
    fn cells(&self, key: u32, period: u32, seed: u32) -> impl Iterator<Item = (&Fading, bool)> {
        let turn = period / TURN;
        self.rows.iter().zip(0..).filter_map(move |(row, index)| {
            // When this row was last emptied.
            let age = turn.wrapping_sub(index) % ROWS;
            let hash = mix(key ^ mix(seed ^ turn.wrapping_sub(age)));
            // The high bits.
            let place = ((u64::from(hash) * CELLS as u64) >> 32) as usize;
            Some((row.get(place)?, age != 0))
        })
    }

    fn is_beyond(&self, key: u32, period: u32, seed: u32) -> bool {
        let total = self.total.read(period);
        // Where the sum was cut, by now or in the period before, it tells no share.
        if total >= MOST || !self.period.reaches(period) {
            return false;
        }
        let judged = self.cells(key, period, seed).filter(|(_, judged)| *judged);
        let least = judged.map(|(cell, _)| cell.read(period)).min();
        let census = Census {
            total,
            requests: self.requests.read(period),
            used: self.used.get(),
            log_cells: CELLS.trailing_zeros(),
        };
        least.is_some_and(|count| census.is_beyond(count))
    }

    fn count(&self, key: u32, (weight, noise): (u32, u32), period: u32, seed: u32) {
        if let Some(before) = self.period.turn(period) {
            self.look_over(before, period);
        }
        self.total.add(weight, period, noise);
        self.requests.add(1, period, noise);
        for (cell, _) in self.cells(key, period, seed) {
            cell.add(weight, period, noise);
        }
    }

    /// Counts the cells in use, and empties the rows whose turn came: once a period, by one of those who come.
    /// After a silence, and when the clock was set back, those are all, and everybody starts anew.
    #[cold]
    fn look_over(&self, before: u32, period: u32) {
        let turn = period / TURN;
        let passed = turn.wrapping_sub(before / TURN);
        if passed >= ROWS {
            self.total.clear();
            self.requests.clear();
        }
        let oldest = turn.wrapping_add(1) % ROWS;
        for (row, index) in self.rows.iter().zip(0..) {
            let age = turn.wrapping_sub(index) % ROWS;
            if age < passed {
                row.iter().for_each(Fading::clear);
            }
            if index == oldest {
                let used = row.iter().filter(|cell| cell.read(period) != 0).count();
                self.used.set(used as u32);
            }
        }
    }
}
