//! What a request says about itself when it asks for a slot.

use crate::law::shares::Priority;

/// What is known of a request before it is let in: how much it matters, how much it costs.
///
/// One that says nothing is treated as by [`try_acquire`](crate::Limiter::try_acquire): it may use the whole
/// limit and takes one slot.
///
/// ```
/// use limiter_core::{Priority, Request};
///
/// const REPORT: Request = Request::new().priority(Priority::Batch).weight(3);
/// assert_eq!(REPORT.attempt(2).class(), Priority::BestEffort);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[must_use = "a request does nothing until it is admitted"]
pub struct Request {
    priority: Priority,
    /// The priority, or the class below for a retry.
    class: Priority,
    weight: u32,
    retry: bool,
    /// [`NOWHERE`] for none; with [`ASIDE`] when its class and its weight do not tell all.
    place: u16,
    /// What it may use at most, per mille, whatever its class.
    most: u16,
}

const ASIDE: u16 = 1 << 15;
const NOWHERE: u16 = ASIDE - 1;
/// The whole of what its class may use.
const ALL: u16 = 1_000;

impl Request {
    /// Of the highest class, of weight 1, a first attempt.
    pub const fn new() -> Self {
        Self {
            priority: Priority::Critical,
            class: Priority::Critical,
            weight: 1,
            retry: false,
            place: NOWHERE,
            most: ALL,
        }
    }

    /// How much it matters.
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self.classed()
    }

    /// How many slots it takes, at least 1; 0 is refused.
    ///
    /// Choose the unit so that the usual request takes one or a few: a law counts in slots, and of a limit of which
    /// one request takes hundreds it is slow to find the right one.
    ///
    /// A request that is heavier than what its class may use now is let in when nothing else is in flight of what is
    /// not guaranteed to partitions, beside whatever these have in flight: a limit that was cut below the weight of
    /// all requests would otherwise refuse them all, and never learn that it may grow. One that is heavier than its class may use at the largest limit is refused at once,
    /// as [`TooHeavy`](crate::RejectReason::TooHeavy).
    pub const fn weight(mut self, slots: u32) -> Self {
        self.weight = slots;
        self.plain_or_not()
    }

    /// Which attempt it is, 1 for the first. A later one counts as one class lower than its priority: the work
    /// of retries is done only where it does not take from first attempts.
    ///
    /// Leave it out where retries matter as much as first attempts.
    pub const fn attempt(mut self, number: u32) -> Self {
        self.retry = number > 1;
        self.classed()
    }

    const fn classed(mut self) -> Self {
        self.class = if self.retry {
            self.priority.lower()
        } else {
            self.priority
        };
        self
    }

    /// The partition it is of, by its place in a [`Partitioned`](crate::Partitioned) limiter. One without
    /// partitions takes no notice.
    pub const fn partition(mut self, index: usize) -> Self {
        self.place = if index < NOWHERE as usize {
            index as u16
        } else {
            NOWHERE - 1
        };
        self.plain_or_not()
    }

    const fn plain_or_not(mut self) -> Self {
        self.place &= NOWHERE;
        if self.weight == 0 || self.most < ALL {
            self.place |= ASIDE;
        }
        self
    }

    /// The place of its partition.
    pub const fn place(&self) -> Option<usize> {
        match self.place & NOWHERE {
            NOWHERE => None,
            place => Some(place as usize),
        }
    }

    /// The class it is admitted in: its priority, one lower for a retry.
    pub const fn class(&self) -> Priority {
        self.class
    }

    /// The place of its partition, past every place when it has none, or when more than its class and its weight
    /// tells whether it may have one of its own slots.
    #[inline]
    pub(crate) const fn plain_place(&self) -> u16 {
        self.place
    }

    /// The same, which may use no more than this of the limit, per mille, whatever its class; for adapters.
    pub const fn at_most(mut self, per_mille: u16) -> Self {
        self.most = per_mille;
        self.plain_or_not()
    }

    /// What it may use, per mille, where its class may use `share`.
    #[inline]
    pub(crate) const fn share(&self, share: u32) -> u32 {
        if (self.most as u32) < share {
            self.most as u32
        } else {
            share
        }
    }

    /// How many slots it takes.
    pub const fn slots(&self) -> u32 {
        self.weight
    }
}

impl Default for Request {
    fn default() -> Self {
        Self::new()
    }
}
