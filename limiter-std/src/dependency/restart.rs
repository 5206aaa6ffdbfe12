//! What outlives a restart of the process.

use super::Dependency;
use crate::clock::Clock;
use crate::wait::serve;
use core::time::Duration;
use limiter_core::law::Law;
use limiter_core::{Record, RecordError};

/// How many bytes [`Dependency::save`] makes.
pub const RECORD_SIZE: usize = Record::SIZE;

impl<L: Law, C: Clock> Dependency<L, C> {
    /// What of it is to outlive a restart: limit, budget and breaker, with a version and a checksum. Durations
    /// and no stamps: clocks start anew.
    ///
    /// ```
    /// use core::time::Duration;
    /// use limiter_std::Dependency;
    ///
    /// let kept = Dependency::default().save();
    ///
    /// let store = Dependency::default();
    /// store.restore(&kept, Duration::from_secs(3))?;
    /// // Torn or blank bytes: only the floor and first attempts fill the budget from here.
    /// assert!(Dependency::default().restore(&[0; 8], Duration::ZERO).is_err());
    /// # Ok::<(), limiter_std::RecordError>(())
    /// ```
    pub fn save(&self) -> [u8; RECORD_SIZE] {
        self.shared.core.save(self.now()).to_bytes()
    }

    /// Brings back what was saved, before the first call; `asleep` is the time since then, zero when it is
    /// not known. Returns the bytes to save at once: a process that dies before its breaker's open time is
    /// over would else never get to try.
    ///
    /// # Errors
    ///
    /// What is wrong with the bytes. Then the budget is empty, as after a long bad day.
    pub fn restore(
        &self,
        bytes: &[u8],
        asleep: Duration,
    ) -> Result<[u8; RECORD_SIZE], RecordError> {
        let restored = self.shared.core.restore(bytes, asleep, self.now());
        // A limit that was raised lets those in who wait already.
        serve(&*self.shared);
        restored.map(|record| record.to_bytes())
    }
}
