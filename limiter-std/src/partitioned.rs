//! A limiter's handle, as far as it has partitions.

use crate::clock::{Clock, MonotonicClock};
use crate::partitions::{
    Parted, Partition, PartitionError, PartitionSnapshot, Partitions, UnknownPartition,
};
use crate::shared::{Lane, Shared};
use crate::way::Door;
use crate::{Config, ConfigError, Limiter};
use limiter_core::law::Law;
use std::sync::Arc;

impl<L: Law + Copy> Limiter<L> {
    /// A limiter with partitions: a part of the limit is guaranteed to each, and the rest is for everybody. See
    /// [`Partitions`] for an example.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Limiter::try_new) and [`Partitions::check`].
    pub fn partitioned(config: Config<L>, partitions: &Partitions) -> Result<Self, ConfigError> {
        Self::partitioned_with_clock(config, partitions, MonotonicClock::new())
    }
}

impl<L: Law + Copy, C: Clock> Limiter<L, C> {
    /// As [`partitioned`](Limiter::partitioned), on a clock of your own.
    ///
    /// # Errors
    ///
    /// As [`partitioned`](Limiter::partitioned).
    pub fn partitioned_with_clock(
        config: Config<L>,
        partitions: &Partitions,
        clock: C,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        let parted = Parted::try_new(config.tuned(), partitions)?;
        Ok(Self::from_door(
            Door::Parted(Box::new(parted)),
            &config,
            clock,
        ))
    }
}

impl<L: Law, C: Clock> Limiter<L, C> {
    /// The partition of this name, to make [requests](crate::Request::partition) with. Look it up once.
    ///
    /// # Errors
    ///
    /// [`UnknownPartition`], with the names that there are.
    pub fn partition(&self, name: &str) -> Result<Partition, UnknownPartition> {
        let none = Partitions::new();
        let named = self.shared().parted().map_or(&none, Parted::named);
        named.find(name)
    }

    /// Every partition at this moment: what it has, and what became of its requests.
    ///
    /// ```
    /// use limiter_std::{Config, Guarantee, Limiter, Outcome, Partitions, Request, law::Fixed};
    ///
    /// let partitions = Partitions::new()
    ///     .partition("reads", Guarantee::NONE)
    ///     .partition("writes", Guarantee::of(300));
    /// let store = Limiter::partitioned(Config::new(Fixed), &partitions)?;
    /// let write = Request::new().partition(store.partition("writes")?);
    /// store.try_acquire_for(write)?.finish(Outcome::Failure);
    ///
    /// // Reads that are well do not hide writes that fail.
    /// let [reads, writes] = &store.partitions()[..] else { panic!() };
    /// assert_eq!((reads.seen.failures, writes.seen.failures), (0, 1));
    /// assert_eq!((&*writes.name, writes.seen.quota), ("writes", 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn partitions(&self) -> Vec<PartitionSnapshot> {
        self.shared().partitions()
    }

    /// Changes what the partitions are guaranteed; one that is not named is guaranteed nothing any more. Who is in
    /// stays, who waits and fits now is let in. A guarantee that grows has its slots as others leave.
    ///
    /// # Errors
    ///
    /// As [`Partitions::check`], and a name that was not there at the start; nothing changes.
    pub fn set_partitions(&self, partitions: &Partitions) -> Result<(), PartitionError> {
        self.shared().set_guarantees(partitions)
    }
}

impl<L: Law, C: Clock> Shared<L, C> {
    pub(crate) fn partitions(&self) -> Vec<PartitionSnapshot> {
        let Some(parted) = self.parted() else {
            return Vec::new();
        };
        let named = parted.named().names().enumerate();
        named
            .filter_map(|(index, name)| {
                Some(PartitionSnapshot {
                    name: Arc::clone(name),
                    seen: parted.core.partition(index)?,
                    queued: self.waiters().of_partition(index),
                })
            })
            .collect()
    }
}
