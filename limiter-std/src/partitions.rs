//! Partitions of a limiter, by name.

use crate::tuned::Tuned;
use core::fmt;
use limiter_core::law::Law;
use limiter_core::{
    ConfigError, Guarantee, Partitioned, RejectReason, Rejected, Request, Seat, Timestamp,
};
use std::sync::Arc;

/// The most partitions of a limiter: 16. In the model checker 2, for each has words of its own.
pub const MAX_PARTITIONS: usize = if cfg!(limiter_loom) { 2 } else { 16 };

/// The partitions of a limiter: their names, and what each is guaranteed of the limit whatever the others ask for.
///
/// ```
/// use limiter_std::{Config, Guarantee, Limiter, Partitions, Request, law::Fixed};
/// use std::time::Duration;
///
/// let partitions = Partitions::new()
///     .partition("reads", Guarantee::NONE)
///     // Three tenths, lent to others when a second went by without writes.
///     .partition("writes", Guarantee::of(300).lend_after(Duration::from_secs(1)));
/// let store = Limiter::partitioned(Config::new(Fixed).initial(10), &partitions)?;
///
/// let read = Request::new().partition(store.partition("reads")?);
/// let reads: Vec<_> = std::iter::from_fn(|| store.try_acquire_for(read).ok()).collect();
/// assert_eq!(reads.len(), 7);
/// let write = Request::new().partition(store.partition("writes")?);
/// assert!(store.try_acquire_for(write).is_ok());
///
/// let unknown = store.partition("wirtes").unwrap_err();
/// assert_eq!(unknown.to_string(), "no partition \"wirtes\"; there are \"reads\", \"writes\"");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partitions {
    all: Vec<(Arc<str>, Guarantee)>,
}

impl Partitions {
    /// None yet.
    pub const fn new() -> Self {
        Self { all: Vec::new() }
    }

    /// One more, or another guarantee for one that there is. At most [`MAX_PARTITIONS`]; all guarantees together
    /// leave a tenth for everybody.
    #[must_use]
    pub fn partition(mut self, name: impl Into<Arc<str>>, guarantee: Guarantee) -> Self {
        let name = name.into();
        match self.all.iter_mut().find(|(other, _)| *other == name) {
            Some((_, old)) => *old = guarantee,
            None => self.all.push((name, guarantee)),
        }
        self
    }

    /// The names, in the order in which they were given.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.all.iter().map(|(name, _)| name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Checks how many there are, and what they are guaranteed together.
    ///
    /// # Errors
    ///
    /// The first of both that does not work.
    pub fn check(&self) -> Result<(), ConfigError> {
        let (count, most) = (self.all.len() as u64, MAX_PARTITIONS as u64);
        ConfigError::check("partitions", count, 0, most)?;
        let together = self.all.iter().map(|(_, each)| u64::from(each.share()));
        let most = limiter_core::MOST_GUARANTEED.into();
        ConfigError::check("guarantees together", together.sum(), 0, most)
    }

    /// The place of a name.
    pub(crate) fn find(&self, name: &str) -> Result<Partition, UnknownPartition> {
        let index = self.names().position(|known| **known == *name);
        let index = index.and_then(|index| u16::try_from(index).ok());
        index.map(Partition).ok_or_else(|| UnknownPartition {
            name: name.to_owned(),
            known: self.names().map(Arc::clone).collect(),
        })
    }

    /// The same names in the same order with the guarantees of `next`; those that it does not name have none.
    pub(crate) fn changed(&self, next: &Self) -> Result<Self, PartitionError> {
        next.check().map_err(PartitionError::Config)?;
        let mut changed = self.clone();
        for (_, guarantee) in &mut changed.all {
            *guarantee = Guarantee::NONE;
        }
        for (name, guarantee) in &next.all {
            self.find(name).map_err(PartitionError::Unknown)?;
            changed = changed.partition(Arc::clone(name), *guarantee);
        }
        Ok(changed)
    }

    /// As many guarantees as there may be partitions.
    fn guarantees(&self) -> [Guarantee; MAX_PARTITIONS] {
        let mut guarantees = [Guarantee::NONE; MAX_PARTITIONS];
        for (guarantee, (_, given)) in guarantees.iter_mut().zip(&self.all) {
            *guarantee = *given;
        }
        guarantees
    }
}

/// A partition of a limiter, to make requests with: from [`Limiter::partition`](crate::Limiter::partition), for that
/// limiter and those with the same partitions in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Partition(u16);

impl Partition {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// There is no partition of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownPartition {
    /// The name that was asked for.
    pub name: String,
    /// The names that there are.
    pub known: Vec<Arc<str>>,
}

impl fmt::Display for UnknownPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no partition {:?}; there are ", self.name)?;
        for (index, name) in self.known.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{name:?}")?;
        }
        if self.known.is_empty() {
            f.write_str("none")?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownPartition {}

/// Why partitions were not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartitionError {
    /// A value that does not work.
    Config(ConfigError),
    /// A partition that was not there at the start.
    Unknown(UnknownPartition),
}

impl fmt::Display for PartitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Unknown(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for PartitionError {}

/// One partition at one moment, from [`Limiter::partitions`](crate::Limiter::partitions). Counts wrap.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartitionSnapshot {
    /// Its name.
    pub name: Arc<str>,
    /// Slots, and what became of its requests: what others do is not in it.
    pub seen: limiter_core::PartitionSnapshot,
    /// How many wait.
    pub queued: usize,
}

/// A limiter with partitions, and their names.
#[derive(Debug)]
pub(crate) struct Parted<L: Law> {
    pub(crate) core: Partitioned<MAX_PARTITIONS, Tuned<L>>,
    /// As they were at the start: the names stay.
    named: Partitions,
}

impl<L: Law> Parted<L> {
    pub(crate) fn try_new(
        config: limiter_core::Config<Tuned<L>>,
        partitions: &Partitions,
    ) -> Result<Self, ConfigError> {
        partitions.check()?;
        let core = Partitioned::try_new(config, partitions.guarantees())?;
        // Its quotas are there before anybody asks.
        core.balance();
        Ok(Self {
            core,
            named: partitions.clone(),
        })
    }

    /// Takes the slots of a request, of a partition that there is.
    #[inline]
    pub(crate) fn admit(
        &self,
        request: &Request,
        now: impl FnOnce() -> Timestamp,
    ) -> Result<Seat, Rejected> {
        if request
            .place()
            .is_some_and(|place| place >= self.named.len())
        {
            let seen = self.core.limiter().snapshot();
            let reason = RejectReason::NoSuchPartition;
            return Err(Rejected::new(reason, seen.limit, seen.inflight));
        }
        self.core.admit_with(request, now)
    }

    /// Not inlined beside what a limiter without partitions does.
    #[inline(never)]
    pub(crate) fn release(&self, seat: &mut Option<Seat>) -> bool {
        seat.take()
            .is_some_and(|seat| self.core.release(seat).wake())
    }

    pub(crate) const fn named(&self) -> &Partitions {
        &self.named
    }

    /// Changes the guarantees of those that are named, the others' to none.
    pub(crate) fn set(&self, partitions: &Partitions) -> Result<(), PartitionError> {
        let changed = self.named.changed(partitions)?;
        let set = self.core.set_guarantees(changed.guarantees());
        set.map(|_| ()).map_err(PartitionError::Config)
    }
}
