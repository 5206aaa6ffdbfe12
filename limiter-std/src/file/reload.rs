//! Going by another text while running.

use super::source::Source;
use super::{FileError, Format, Settings};
use crate::clock::Clock;
use crate::{Dependency, Limiter, PartitionError};
use limiter_core::law::AnyLaw;

impl Settings {
    /// Goes by another text from now on, and so does `limiter`, which keeps what it learned.
    ///
    /// Bounds, shares, queue, guarantees and watching change at once, and the law as by
    /// [`Limiter::set_law`]; the limit is moved into the bounds, and set by hand where another `initial` is
    /// written.
    ///
    /// # Errors
    ///
    /// As [`parse`](Settings::parse), a field that changes at a restart only, and a partition that `limiter` has
    /// not: nothing changes then, neither here nor in `limiter`.
    pub fn reload_limiter<C: Clock>(
        &mut self,
        text: &str,
        format: Format,
        limiter: &Limiter<AnyLaw, C>,
    ) -> Result<(), FileError> {
        let source = Source::new(text, format)?;
        let next = self.next(text, format, &source)?;
        for name in next.limiter.partitions.keys() {
            limiter.partition(name).map_err(|error| {
                let path = format!("limiter.partitions.{name}");
                FileError::field(&source, &path, error.to_string())
            })?;
        }
        let said = |error| FileError::value(&source, "limiter", &error);
        let config = next.limiter_config().map_err(said)?;
        // It checks everything before it changes anything; what comes after it was checked above.
        limiter.reconfigure(&config).map_err(said)?;
        limiter
            .set_partitions(&next.partitions())
            .map_err(|error| match error {
                PartitionError::Config(error) => said(error),
                PartitionError::Unknown(error) => {
                    FileError::field(&source, "limiter.partitions", error.to_string())
                }
            })?;
        if let Some(limit) = self.set_by_hand(&next) {
            limiter.set_limit(limit).map_err(said)?;
        }
        *self = next;
        Ok(())
    }

    /// Goes by another text from now on, and so does `dependency`, which keeps what it learned: as
    /// [`reload_limiter`](Settings::reload_limiter), and the budget, which stays equally full. Attempts, times,
    /// back-off, breaker and throttle change at a restart only.
    ///
    /// # Errors
    ///
    /// As [`reload_limiter`](Settings::reload_limiter).
    pub fn reload_dependency<C: Clock>(
        &mut self,
        text: &str,
        format: Format,
        dependency: &Dependency<AnyLaw, C>,
    ) -> Result<(), FileError> {
        let source = Source::new(text, format)?;
        let next = self.next(text, format, &source)?;
        let said = |error| FileError::value(&source, "limiter", &error);
        let config = next.dependency_config().map_err(said)?;
        dependency.reconfigure(&config).map_err(said)?;
        if let Some(limit) = self.set_by_hand(&next) {
            dependency.set_limit(limit).map_err(said)?;
        }
        *self = next;
        Ok(())
    }

    /// The limit that is written in the next settings and was not in these.
    fn set_by_hand(&self, next: &Self) -> Option<u32> {
        let initial = next.limiter.initial;
        initial.filter(|_| initial != self.limiter.initial)
    }

    /// The settings of a text that differs only where a change while running is possible.
    fn next(&self, text: &str, format: Format, source: &Source<'_>) -> Result<Self, FileError> {
        let next = Self::parse(text, format)?;
        let (old, new) = (&self.limiter, &next.limiter);
        let (before, after) = (&self.dependency, &next.dependency);
        macro_rules! differ {
            ($($section:literal: $old:ident, $new:ident: $($field:ident)*;)*) => {
                [$($((
                    concat!($section, ".", stringify!($field)),
                    $old.$field != $new.$field,
                ),)*)*]
            };
        }
        let mut fixed = differ! {
            "limiter": old, new: windows min_samples overload_tolerance urgent_overloads;
            "dependency": before, after: attempts total timeout timeout_bounds timeout_quantile hedge
                retry_cost_milli timeout_cost_milli pushback_cost_milli waiting backoff breaker throttle;
        }
        .into_iter();
        if let Some((path, _)) = fixed.find(|(_, changed)| *changed) {
            return Err(FileError::field(source, path, "changes at a restart only"));
        }
        if !old.partitions.keys().eq(new.partitions.keys()) {
            let why = "names change at a restart only";
            return Err(FileError::field(source, "limiter.partitions", why));
        }
        Ok(next)
    }
}
