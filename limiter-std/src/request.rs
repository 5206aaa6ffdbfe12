//! What a request says about itself: how much it matters, what it costs, whose it is.

use crate::partitions::Partition;
use core::hash::{BuildHasher, Hash};
use limiter_core::Priority;
use std::hash::RandomState;
use std::sync::OnceLock;

/// What is known of a request before it is let in. One that says nothing may use the whole limit and takes one
/// slot.
///
/// ```
/// use limiter_std::{Caller, Config, Guarantee, Limiter, Partitions, Priority, Request, law::Fixed};
///
/// let partitions = Partitions::new()
///     .partition("reads", Guarantee::NONE)
///     .partition("writes", Guarantee::of(300));
/// let store = Limiter::partitioned(Config::new(Fixed), &partitions)?;
/// let (tenant, address) = ("acme", [192, 0, 2, 7]);
///
/// let write = Request::new()
///     .partition(store.partition("writes")?)
///     .priority(Priority::Interactive)
///     .caller(Caller::new(tenant).from(&address))
///     .attempt(2);
/// assert_eq!(write.class(), Priority::Batch);
/// let permit = store.try_acquire_for(write)?;
/// # drop(permit);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[must_use = "a request does nothing until it is admitted"]
pub struct Request {
    pub(crate) core: limiter_core::Request,
    pub(crate) caller: Option<Caller>,
}

impl Request {
    /// Of the highest class, of weight 1, a first attempt, of no partition and nobody.
    pub const fn new() -> Self {
        Self {
            core: limiter_core::Request::new(),
            caller: None,
        }
    }

    /// How much it matters.
    pub const fn priority(self, priority: Priority) -> Self {
        self.with(self.core.priority(priority))
    }

    /// How many slots it takes, at least 1; 0 is refused.
    ///
    /// A request that is heavier than what its class may use now is let in when nothing else is in flight: a
    /// limit that was cut below the weight of all requests would otherwise refuse them all, and never learn
    /// that it may grow. One that is heavier than its class may use at the largest limit is refused at once,
    /// as [`TooHeavy`](crate::RejectReason::TooHeavy).
    pub const fn weight(self, slots: u32) -> Self {
        self.with(self.core.weight(slots))
    }

    /// Which attempt it is, 1 for the first. A later one counts as one class lower than its priority: the work
    /// of retries is done only where it does not take from first attempts.
    pub const fn attempt(self, number: u32) -> Self {
        self.with(self.core.attempt(number))
    }

    /// The partition it is of, by [`Limiter::partition`](crate::Limiter::partition). A limiter without
    /// partitions takes no notice.
    pub const fn partition(self, partition: Partition) -> Self {
        self.with(self.core.partition(partition.index()))
    }

    /// Who sends it: one that has had more than its share is refused first while there is not enough for all.
    /// The first request that names a caller makes the limiter's table of callers, of 32 kB.
    pub const fn caller(mut self, caller: Caller) -> Self {
        self.caller = Some(caller);
        self
    }

    /// The class it is admitted in: its priority, one lower for a retry.
    pub const fn class(&self) -> Priority {
        self.core.class()
    }

    /// How many slots it takes.
    pub const fn slots(&self) -> u32 {
        self.core.slots()
    }

    const fn with(mut self, core: limiter_core::Request) -> Self {
        self.core = core;
        self
    }
}

/// Who sends a request: hashes of a name and of an origin, by a hasher that every process seeds at random, so that
/// nobody can look for names that are taken for others'.
///
/// The name is what is to be fair between: a tenant, an account, a client's address. Where callers give their names
/// themselves, say also where they come from, by [`from`](Caller::from): under a new name for every request nobody
/// has a history. Origins are judged first, each as one caller.
///
/// ```
/// use limiter_std::Caller;
/// use std::net::{IpAddr, Ipv4Addr};
///
/// let address = IpAddr::from(Ipv4Addr::LOCALHOST);
/// let caller = Caller::new("acme").from(&address);
/// assert_ne!(caller, Caller::new("acme"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Caller(pub(crate) limiter_core::Caller);

impl Caller {
    /// The caller of this name.
    pub fn new<K: Hash + ?Sized>(name: &K) -> Self {
        Self(limiter_core::Caller::new(hash(name)))
    }

    /// Where it comes from, which it cannot choose freely: an address, a network, an account.
    #[must_use]
    pub fn from<K: Hash + ?Sized>(self, origin: &K) -> Self {
        Self(self.0.from(hash(origin)))
    }
}

fn hash<K: Hash + ?Sized>(key: &K) -> u64 {
    static HASHER: OnceLock<RandomState> = OnceLock::new();
    HASHER.get_or_init(RandomState::new).hash_one(key)
}
