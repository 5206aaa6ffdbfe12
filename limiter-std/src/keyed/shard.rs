//! A part of the keys, under a lock of its own.

use crate::Limiter;
use crate::clock::Clock;
use core::hash::Hash;
use limiter_core::law::Law;
use lru::LruCache;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) struct Shard<K, L: Law, C: Clock> {
    pub(super) limiters: Mutex<LruCache<K, Limiter<L, C>>>,
    /// How many it may hold.
    pub(super) most: usize,
}

/// Takes the idle limiter out that was asked for least recently.
pub(super) fn evict<K: Hash + Eq, L: Law, C: Clock>(
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
    pub(super) fn lock(&self) -> MutexGuard<'_, LruCache<K, Limiter<L, C>>> {
        // A hash or a comparison of the user's may have panicked: the table is in order between two steps.
        self.limiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
