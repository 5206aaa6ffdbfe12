//! A limiter for each key.

use crate::clock::{Clock, MonotonicClock};
use crate::{Config, ConfigError, Limiter, Permit, Rejected};
use core::fmt;
use core::hash::{BuildHasher, Hash};
use limiter_core::law::{Knee, Law};
use lru::LruCache;
use std::collections::hash_map::RandomState;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
/// for one. What it had learned is gone. A limiter in use is never dropped, for its key would get a second one
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
    config: Config<L>,
    clock: C,
}

struct Shard<K, L: Law, C: Clock> {
    limiters: Mutex<LruCache<K, Limiter<L, C>>>,
    /// How many it may hold.
    most: usize,
}

/// Every limiter of the part of the table where this key belongs is in use, and none of them has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeysBusy {
    /// How many that part may hold: all, in a table of fewer than 512 keys.
    pub keys: usize,
}

impl fmt::Display for KeysBusy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.keys;
        write!(
            f,
            "all {keys} keys have work in flight or waiting; refuse the caller, retry later"
        )
    }
}

impl core::error::Error for KeysBusy {}

/// Why a key got no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRefused {
    /// By its limiter.
    Rejected(Rejected),
    /// It has no limiter, and there is no place for another.
    KeysBusy(KeysBusy),
}

impl fmt::Display for KeyRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(refused) => refused.fmt(f),
            Self::KeysBusy(busy) => busy.fmt(f),
        }
    }
}

impl core::error::Error for KeyRefused {}

impl<K: Hash + Eq, L: Law> Keyed<K, L> {
    /// A table for at most `keys` limiters, each made from `config` when its key is first asked for.
    ///
    /// # Errors
    ///
    /// The first field that does not work; `keys` is at least 1 and at most [`MAX_KEYS`].
    pub fn try_new(config: Config<L>, keys: u32) -> Result<Self, ConfigError> {
        Self::with_clock(config, keys, MonotonicClock::new())
    }
}

impl<K: Hash + Eq, L: Law, C: Clock + Clone> Keyed<K, L, C> {
    /// As [`try_new`](Keyed::try_new), on a clock of your own.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Keyed::try_new).
    pub fn with_clock(config: Config<L>, keys: u32, clock: C) -> Result<Self, ConfigError> {
        ConfigError::check("keys", keys.into(), 1, MAX_KEYS.into())?;
        // All limiters are made from it, so one tells whether it works.
        Limiter::with_clock(config, clock.clone())?;
        let keys = keys as usize;
        let count = (keys / KEYS_OF_A_SHARD).clamp(1, SHARDS);
        let shards = (0..count).map(|index| Shard {
            limiters: Mutex::new(LruCache::unbounded()),
            most: keys / count + usize::from(index < keys % count),
        });
        Ok(Self {
            shards: shards.collect(),
            hasher: RandomState::new(),
            config,
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
        if let Some(limiter) = limiters.get(&key) {
            return Ok(limiter.clone());
        }
        let evicted = if limiters.len() < shard.most {
            None
        } else {
            let busy = KeysBusy { keys: shard.most };
            Some(evict(&mut limiters).ok_or(busy)?)
        };
        let made = Limiter::with_clock(self.config, self.clock.clone());
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

    fn shard(&self, key: &K) -> &Shard<K, L, C> {
        let hash = self.hasher.hash_one(key) as usize;
        // At least one shard there is.
        &self.shards[hash % self.shards.len()]
    }
}

/// Takes the idle limiter out that was asked for least recently.
fn evict<K: Hash + Eq, L: Law, C: Clock>(
    limiters: &mut LruCache<K, Limiter<L, C>>,
) -> Option<(K, Limiter<L, C>)> {
    // Where all are in use, a stranger with made-up keys costs a look at them and no more.
    if !limiters.iter().any(|(_, limiter)| limiter.is_only_handle()) {
        return None;
    }
    for _ in 0..limiters.len() {
        let (key, limiter) = limiters.pop_lru()?;
        // Handles are cloned under the lock that is held, so one that is idle stays so.
        if limiter.is_only_handle() {
            return Some((key, limiter));
        }
        // In use. It goes to the other end, so the next one who looks does not meet it again.
        limiters.put(key, limiter);
    }
    None
}

impl<K, L: Law, C: Clock> Shard<K, L, C> {
    fn lock(&self) -> MutexGuard<'_, LruCache<K, Limiter<L, C>>> {
        // A hash or a comparison of the user's may have panicked: the table is in order between two steps.
        self.limiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq, L: Law, C: Clock + Clone> fmt::Debug for Keyed<K, L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
