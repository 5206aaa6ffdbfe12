//! A limiter for each key.

mod refused;
mod shard;

use crate::clock::{Clock, MonotonicClock};
use crate::{
    Config, ConfigError, Limiter, Partition, PartitionError, Partitions, Permit, Request,
    UnknownPartition,
};
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::time::Duration;
use limiter_core::law::{Knee, Law};
use lru::LruCache;
pub use refused::{KeyRefused, KeysBusy};
use shard::{Shard, evict};
use std::collections::hash_map::RandomState;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

/// The most keys: their limiters take a few hundred megabytes.
pub const MAX_KEYS: u32 = 1 << 20;

/// As many locks at most: with more, threads of a machine of any size hardly meet at one.
const SHARDS: usize = 16;

/// A lock for fewer keys is not worth that one lock may be full while others are not.
const KEYS_OF_A_SHARD: usize = 256;

/// A limiter for each key: one per upstream, tenant or route. Clones of the limiters outlive their places.
///
/// There are at most as many as it was made for. When another key comes, the limiter is dropped whose key was
/// asked for least recently among those that are idle: nobody has a permit or a handle of it, and nobody waits
/// for one. A key that is found in use then counts as asked for at that time. What it had learned is gone. A limiter in use is never dropped, for its key would get a second one
/// and twice its limit; when all are in use a new key is refused. So keys that a stranger makes up can take
/// neither memory nor the limiters of others at work.
///
/// ```
/// use limiter_std::{Config, Keyed, Outcome, law::Knee};
///
/// let tenants = Keyed::try_new(Config::new(Knee::new()), 10_000)?;
/// match tenants.try_acquire("acme") {
///     Ok(permit) => permit.finish(Outcome::Success),
///     Err(refused) => println!("busy: {refused}"),
/// }
/// assert_eq!(tenants.len(), 1);
/// # Ok::<(), limiter_std::ConfigError>(())
/// ```
///
/// # Fairness
///
/// Keys with many requests and keys with few have limiters of their own; nothing is shared but the table.
pub struct Keyed<K, L: Law = Knee, C: Clock = MonotonicClock> {
    shards: Box<[Shard<K, L, C>]>,
    hasher: RandomState,
    plan: RwLock<Plan<L>>,
    /// Of two who change all limiters the second comes after the first, or each would have the last word with
    /// some of them.
    changes: Mutex<()>,
    clock: C,
}

/// What limiters are made from.
struct Plan<L> {
    config: Config<L>,
    /// `None` for limiters without.
    partitions: Option<Partitions>,
}

impl<L: Law + Copy> Plan<L> {
    fn make<C: Clock>(&self, clock: C) -> Result<Limiter<L, C>, ConfigError> {
        match &self.partitions {
            Some(partitions) => Limiter::partitioned_with_clock(self.config, partitions, clock),
            None => Limiter::with_clock(self.config, clock),
        }
    }
}

impl<K: Hash + Eq, L: Law + Copy> Keyed<K, L> {
    /// A table for at most `keys` limiters, each made from `config` when its key is first asked for.
    ///
    /// # Errors
    ///
    /// The first field that does not work; `keys` is at least 1 and at most [`MAX_KEYS`].
    pub fn try_new(config: Config<L>, keys: u32) -> Result<Self, ConfigError> {
        Self::with_clock(config, keys, MonotonicClock::new())
    }

    /// As [`try_new`](Keyed::try_new), each limiter with these partitions.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Keyed::try_new) and [`Partitions::check`].
    pub fn partitioned(
        config: Config<L>,
        partitions: Partitions,
        keys: u32,
    ) -> Result<Self, ConfigError> {
        Self::partitioned_with_clock(config, partitions, keys, MonotonicClock::new())
    }
}

impl<K: Hash + Eq, L: Law + Copy, C: Clock + Clone> Keyed<K, L, C> {
    /// As [`try_new`](Keyed::try_new), on a clock of your own.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Keyed::try_new).
    pub fn with_clock(config: Config<L>, keys: u32, clock: C) -> Result<Self, ConfigError> {
        let partitions = None;
        Self::planned(Plan { config, partitions }, keys, clock)
    }

    /// As [`partitioned`](Keyed::partitioned), on a clock of your own.
    ///
    /// # Errors
    ///
    /// As [`partitioned`](Keyed::partitioned).
    pub fn partitioned_with_clock(
        config: Config<L>,
        partitions: Partitions,
        keys: u32,
        clock: C,
    ) -> Result<Self, ConfigError> {
        let partitions = Some(partitions);
        Self::planned(Plan { config, partitions }, keys, clock)
    }

    fn planned(plan: Plan<L>, keys: u32, clock: C) -> Result<Self, ConfigError> {
        ConfigError::check("keys", keys.into(), 1, MAX_KEYS.into())?;
        // All limiters are made from it, so one tells whether it works.
        plan.make(clock.clone())?;
        let keys = keys as usize;
        let count = (keys / KEYS_OF_A_SHARD).clamp(1, SHARDS);
        let shards = (0..count).map(|index| Shard {
            limiters: Mutex::new(LruCache::unbounded()),
            most: keys / count + usize::from(index < keys % count),
        });
        Ok(Self {
            shards: shards.collect(),
            hasher: RandomState::new(),
            plan: RwLock::new(plan),
            changes: Mutex::new(()),
            clock,
        })
    }

    /// The limiter of `key`, made if there is none.
    ///
    /// While the returned handle exists its key keeps its place: do not store it.
    ///
    /// # Errors
    ///
    /// [`KeysBusy`]: it would be a new key, there are as many as may be, and all of them are in use. A table of
    /// 512 keys and more is kept in up to 16 parts by the hash of the key, each with its part of the places:
    /// then one part may be full a little before the whole is.
    pub fn get(&self, key: K) -> Result<Limiter<L, C>, KeysBusy> {
        let shard = self.shard(&key);
        let mut limiters = shard.lock();
        match limiters.get(&key) {
            Some(limiter) => Ok(limiter.clone()),
            None => self.add(shard, limiters, key),
        }
    }

    /// As [`get`](Keyed::get), by a borrowed key: one that has a limiter is not made owned.
    ///
    /// ```
    /// use limiter_std::{Config, Keyed, law::Knee};
    ///
    /// let tenants: Keyed<String> = Keyed::try_new(Config::new(Knee::new()), 1_000)?;
    /// let permit = tenants.get_by("acme")?.try_acquire()?;
    /// # drop(permit);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`get`](Keyed::get).
    pub fn get_by<Q>(&self, key: &Q) -> Result<Limiter<L, C>, KeysBusy>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let shard = self.shard(key);
        let mut limiters = shard.lock();
        match limiters.get(key) {
            Some(limiter) => Ok(limiter.clone()),
            None => self.add(shard, limiters, key.to_owned()),
        }
    }

    /// Makes the limiter of a key that has none, in its shard.
    fn add(
        &self,
        shard: &Shard<K, L, C>,
        mut limiters: MutexGuard<'_, LruCache<K, Limiter<L, C>>>,
        key: K,
    ) -> Result<Limiter<L, C>, KeysBusy> {
        let evicted = if limiters.len() < shard.most {
            None
        } else {
            let busy = KeysBusy { keys: shard.most };
            Some(evict(&mut limiters).ok_or(busy)?)
        };
        // Under the shard's lock: whoever changes the plan looks at all shards after it.
        let made = self.plan().make(self.clock.clone());
        // It worked when the table was made.
        let Ok(limiter) = made else {
            return Err(KeysBusy { keys: 0 });
        };
        limiters.put(key, limiter.clone());
        drop(limiters);
        // After the lock, for the key and the clock are the user's.
        drop(evicted);
        Ok(limiter)
    }

    /// Takes a slot of the limiter of `key`, or says at once why there is none.
    ///
    /// # Errors
    ///
    /// As [`Limiter::try_acquire`] and [`get`](Keyed::get).
    pub fn try_acquire(&self, key: K) -> Result<Permit<L, C>, KeyRefused> {
        let limiter = self.get(key).map_err(KeyRefused::KeysBusy)?;
        limiter.try_acquire().map_err(KeyRefused::Rejected)
    }

    /// As [`try_acquire`](Keyed::try_acquire), for a request that says what it is.
    ///
    /// # Errors
    ///
    /// As [`Limiter::try_acquire_for`] and [`get`](Keyed::get).
    pub fn try_acquire_for(&self, key: K, request: Request) -> Result<Permit<L, C>, KeyRefused> {
        let limiter = self.get(key).map_err(KeyRefused::KeysBusy)?;
        limiter
            .try_acquire_for(request)
            .map_err(KeyRefused::Rejected)
    }

    /// Takes a slot of the limiter of `key`, blocking the thread for at most `timeout`. Futures wait by
    /// [`get`](Keyed::get) and [`Limiter::acquire_async_for`].
    ///
    /// # Errors
    ///
    /// As [`Limiter::acquire_timeout_for`] and [`get`](Keyed::get).
    ///
    /// # Fairness
    ///
    /// As [`Limiter::acquire_for`], with those of the same key.
    pub fn acquire_timeout_for(
        &self,
        key: K,
        request: Request,
        timeout: Duration,
    ) -> Result<Permit<L, C>, KeyRefused> {
        let limiter = self.get(key).map_err(KeyRefused::KeysBusy)?;
        limiter
            .acquire_timeout_for(request, timeout)
            .map_err(KeyRefused::Rejected)
    }

    /// Goes by another configuration from now on: limiters that there are, which keep what they learned, as by
    /// [`Limiter::reconfigure`], its law too, and those that are made later.
    ///
    /// # Errors
    ///
    /// The first field that does not work; nothing changes.
    pub fn reconfigure(&self, config: &Config<L>) -> Result<(), ConfigError> {
        let _alone = self.alone();
        // One tells whether it works, with the partitions too.
        let partitions = self.plan().partitions.clone();
        let config = *config;
        Plan { config, partitions }.make(self.clock.clone())?;
        self.plan
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .config = config;
        self.all()
            .try_for_each(|limiter| limiter.reconfigure(&config))
    }

    /// Changes what the partitions of all limiters are guaranteed, as by [`Limiter::set_partitions`].
    ///
    /// # Errors
    ///
    /// As [`Limiter::set_partitions`]; nothing changes.
    pub fn set_partitions(&self, partitions: &Partitions) -> Result<(), PartitionError> {
        let _alone = self.alone();
        let next = self.plan().partitions.clone().unwrap_or_default();
        let next = next.changed(partitions)?;
        let mut plan = self.plan.write().unwrap_or_else(PoisonError::into_inner);
        plan.partitions = plan.partitions.as_ref().map(|_| next);
        drop(plan);
        self.all()
            .try_for_each(|limiter| limiter.set_partitions(partitions))
    }

    /// The partition of this name, of every limiter.
    ///
    /// # Errors
    ///
    /// As [`Limiter::partition`].
    pub fn partition(&self, name: &str) -> Result<Partition, UnknownPartition> {
        let plan = self.plan();
        let none = Partitions::new();
        plan.partitions.as_ref().unwrap_or(&none).find(name)
    }

    fn alone(&self) -> MutexGuard<'_, ()> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn plan(&self) -> RwLockReadGuard<'_, Plan<L>> {
        // Nothing under it panics.
        self.plan.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every limiter, a shard at a time. One is in use only while it is looked at.
    fn all(&self) -> impl Iterator<Item = Limiter<L, C>> {
        let each = self.shards.iter().flat_map(|shard| {
            let limiters = shard.lock();
            let each = limiters
                .iter()
                .map(|(_, limiter)| Arc::downgrade(limiter.shared()));
            each.collect::<Vec<_>>()
        });
        each.filter_map(|limiter| limiter.upgrade().map(Limiter::from_shared))
    }

    /// How many keys have a limiter.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }

    /// Whether no key has one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys and their limiters, for looking at or changing all of them. Asks for no key, so the order in
    /// which they are dropped stays.
    pub fn limiters(&self) -> Vec<(K, Limiter<L, C>)>
    where
        K: Clone,
    {
        let all = |shard: &Shard<K, L, C>| {
            let limiters = shard.lock();
            let each = limiters.iter();
            each.map(|(key, limiter)| (key.clone(), limiter.clone()))
                .collect::<Vec<_>>()
        };
        self.shards.iter().flat_map(all).collect()
    }

    fn shard<Q: Hash + ?Sized>(&self, key: &Q) -> &Shard<K, L, C> {
        let hash = self.hasher.hash_one(key) as usize;
        // At least one shard there is.
        &self.shards[hash % self.shards.len()]
    }
}

impl<K: Hash + Eq, L: Law + Copy, C: Clock + Clone> fmt::Debug for Keyed<K, L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
