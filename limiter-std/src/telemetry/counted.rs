//! A limiter's handle, as far as it counts.

use super::LimiterCounts;
use crate::clock::Clock;
use crate::shared::Lane;
use crate::{Limiter, Permit, Rejected, Request};
use limiter_core::law::Law;
use limiter_core::{Slot, Timestamp};
use std::sync::Arc;

impl<L: Law, C: Clock> Limiter<L, C> {
    /// What was counted since it was made.
    ///
    /// ```
    /// use limiter_std::{Config, Limiter, law::Fixed};
    ///
    /// let limiter = Limiter::try_new(Config::new(Fixed).initial(1))?;
    /// let permit = limiter.try_acquire();
    /// assert!(limiter.try_acquire().is_err());
    /// assert_eq!((limiter.counts().admitted, limiter.counts().refused.at_limit), (1, 1));
    /// # drop(permit);
    /// # Ok::<(), limiter_std::ConfigError>(())
    /// ```
    pub fn counts(&self) -> LimiterCounts {
        self.shared().counters().read()
    }

    /// As [`try_acquire`](Limiter::try_acquire), where a refusal is not the end: it is not counted.
    #[inline(always)]
    pub(crate) fn try_now(&self) -> Result<Permit<L, C>, Rejected> {
        // Whatever is rare is a call of its own, so that nothing has to be kept for it.
        match self.shared().core().admit(Timestamp::default()) {
            Ok(slot) if slot.is_timed() => Ok(self.begin_timed(slot)),
            Ok(slot) => Ok(Permit::new(Arc::clone(self.shared()), Some(slot.into()))),
            Err(refused) => self.try_otherwise(refused),
        }
    }

    #[inline(never)]
    fn begin_timed(&self, slot: Slot) -> Permit<L, C> {
        let shared = self.shared();
        let slot = shared.core().date(slot, shared.clock().now());
        Permit::new(Arc::clone(shared), Some(slot.into()))
    }

    #[cold]
    #[inline(never)]
    fn try_otherwise(&self, refused: Rejected) -> Result<Permit<L, C>, Rejected> {
        let slot = self.shared().admit_otherwise(refused)?;
        Ok(Permit::new(Arc::clone(self.shared()), slot))
    }

    /// As [`try_acquire_for`](Limiter::try_acquire_for), where a refusal is not the end.
    pub(crate) fn try_now_for(&self, request: Request) -> Result<Permit<L, C>, Rejected> {
        let slot = self.shared().admit_for(&request)?;
        Ok(Permit::new(Arc::clone(self.shared()), slot))
    }

    /// Counts a request that is refused, and hands the refusal on.
    pub(crate) fn refused(&self, rejected: Rejected, request: &Request) -> Rejected {
        self.shared().refused(rejected, request)
    }
}
