//! What interrupt handlers may call: it exists only for the mutex that may be locked there.

use crate::clock::now;
use crate::{Limiter, Permit};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use limiter_core::law::Law;
use limiter_core::{Outcome, Rejected};

/// For interrupt handlers. With another mutex these do not exist:
///
/// ```compile_fail,E0599
/// # use embassy_sync::blocking_mutex::raw::NoopRawMutex;
/// # use limiter_embassy::{Limiter, config, law::Aimd};
/// let limiter: Limiter<NoopRawMutex> = Limiter::new(config(Aimd::new()));
/// let _ = limiter.try_acquire_from_isr();
/// ```
///
/// and with this one they do:
///
/// ```
/// # use mock_clock as _;
/// # use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
/// # use limiter_embassy::{Limiter, Outcome, config, law::Aimd};
/// let limiter: Limiter<CriticalSectionRawMutex> = Limiter::new(config(Aimd::new()));
/// let permit = limiter.try_acquire_from_isr().expect("far below the limit");
/// permit.finish_from_isr(Outcome::Success);
/// ```
impl<L: Law, const WAITERS: usize> Limiter<CriticalSectionRawMutex, L, WAITERS> {
    /// Takes a slot from an interrupt handler: never runs a law, never locks.
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Limiter::try_acquire).
    pub fn try_acquire_from_isr(
        &self,
    ) -> Result<Permit<'_, CriticalSectionRawMutex, L, WAITERS>, Rejected> {
        let slot = self.core.admit_with(now)?;
        Ok(Permit::new(self.lane(), slot))
    }
}

/// For interrupt handlers.
impl<L: Law, const WAITERS: usize> Permit<'_, CriticalSectionRawMutex, L, WAITERS> {
    /// Records how the work ended, now, and frees the slot, from an interrupt handler: never runs a law.
    /// The window that it completes is marked due, and closed by the next call of a task.
    ///
    /// When somebody waits this is one short critical section, and then a wake-up outside it.
    pub fn finish_from_isr(mut self, outcome: Outcome) {
        if let Some(slot) = self.take() {
            self.lane.settle_without_law(slot, outcome);
        }
    }
}
