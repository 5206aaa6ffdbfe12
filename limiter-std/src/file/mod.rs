//! Limits and budgets from a file, and from the same file again while running.
//!
//! ```
//! use limiter_std::{Dependency, file::{Format, Settings}};
//!
//! let text = "[limiter]\nmax = 200\n[dependency.budget]\nratio = 200";
//! let mut settings = Settings::parse(text, Format::Toml)?;
//! let store = Dependency::try_new(settings.dependency_config())?;
//!
//! let wrong = text.replace("ratio = 200", "ratio = 2000");
//! let error = settings.reload_dependency(&wrong, Format::Toml, &store).unwrap_err();
//! assert_eq!(error.to_string(), "dependency.budget.ratio: got 2000, allowed 0..=1000");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod sections;

use crate::clock::Clock;
use crate::{BudgetConfig, Config, Dependency, DependencyConfig, Limiter, Shares, Tokens};
use core::time::Duration;
pub use error::FileError;
use limiter_core::law::{Aimd, AnyLaw, Fixed, Gradient, Knee, Vegas};
pub use sections::{Budget, Dependence, Law, Limit, Queue, Settings, SharesOfClasses, Windows};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _};

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML.
    Toml,
    /// JSON.
    Json,
}

fn read<T: DeserializeOwned>(text: &str, format: Format) -> Result<T, FileError> {
    match format {
        Format::Toml => {
            let toml = toml::Deserializer::parse(text).map_err(FileError::text)?;
            with_path(toml, |error| error.message().to_owned())
        }
        Format::Json => {
            let mut json = serde_json::Deserializer::from_str(text);
            let read = with_path(&mut json, ToString::to_string)?;
            json.end().map_err(FileError::text)?;
            Ok(read)
        }
    }
}

fn with_path<'de, T: DeserializeOwned, D: serde::Deserializer<'de>>(
    reader: D,
    said: impl FnOnce(&D::Error) -> String,
) -> Result<T, FileError> {
    serde_path_to_error::deserialize(reader)
        .map_err(|error| FileError::field(error.path().to_string(), said(error.inner())))
}

impl Settings {
    /// Reads a file, and checks every value.
    ///
    /// # Errors
    ///
    /// The first field that is unknown, of the wrong kind, or of a value that it does not allow, by its path.
    pub fn parse(text: &str, format: Format) -> Result<Self, FileError> {
        let settings: Self = read(text, format)?;
        settings.check()?;
        Ok(settings)
    }

    /// What a limiter is built from.
    pub fn limiter_config(&self) -> Config<AnyLaw> {
        let limit = &self.limiter;
        let law = match limit.law {
            Law::Fixed => AnyLaw::Fixed(Fixed),
            Law::Aimd => AnyLaw::Aimd(Aimd::new()),
            Law::Vegas => AnyLaw::Vegas(Vegas::new()),
            Law::Gradient => AnyLaw::Gradient(Gradient::new()),
            Law::Knee => AnyLaw::Knee(Knee::new()),
        };
        Config::new(law)
            .initial(limit.initial)
            .min(limit.min)
            .max(limit.max)
            .windows(limit.windows.shortest, limit.windows.longest)
            .min_samples(limit.min_samples)
            .overload_tolerance(limit.overload_tolerance)
            .urgent_overloads(limit.urgent_overloads)
            .shares(limit.shares.into())
            .queue_length(limit.queue.length)
            .longest_wait(limit.queue.longest_wait)
            .standing_delay(limit.queue.target, limit.queue.interval)
    }

    /// What a dependency is built from: its limiter, its budget, its attempts and times.
    pub fn dependency_config(&self) -> DependencyConfig<AnyLaw> {
        DependencyConfig::new(self.limiter_config())
            .budget(self.dependency.budget.into())
            .attempts(self.dependency.attempts)
            .total(self.dependency.total)
    }

    fn check(&self) -> Result<(), FileError> {
        Limiter::try_new(self.limiter_config()).map_err(|error| FileError::limiter(&error))?;
        BudgetConfig::from(self.dependency.budget)
            .check()
            .map_err(|error| FileError::budget(&error))?;
        Dependency::try_new(self.dependency_config())
            .map_err(|error| FileError::dependency(&error))?;
        Ok(())
    }

    /// Goes by another text from now on, and so does `limiter`, which keeps what it learned.
    ///
    /// Bounds, shares and queue change at once; the limit is moved into the bounds, and set by hand where
    /// `initial` is another. Law, windows and what a window is judged by change at a restart only.
    ///
    /// # Errors
    ///
    /// As [`parse`](Settings::parse), and a field that changes at a restart only: nothing changes then,
    /// neither here nor in `limiter`.
    pub fn reload_limiter<C: Clock>(
        &mut self,
        text: &str,
        format: Format,
        limiter: &Limiter<AnyLaw, C>,
    ) -> Result<(), FileError> {
        let next = self.next(text, format)?;
        let initial =
            (next.limiter.initial != self.limiter.initial).then_some(next.limiter.initial);
        limiter
            .reconfigure(&next.limiter_config())
            .and_then(|()| initial.map_or(Ok(()), |limit| limiter.set_limit(limit)))
            .map_err(|error| FileError::limiter(&error))?;
        *self = next;
        Ok(())
    }

    /// Goes by another text from now on, and so does `dependency`, which keeps what it learned: as
    /// [`reload_limiter`](Settings::reload_limiter), and the budget, which stays equally full. Attempts and
    /// total time change at a restart only.
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
        let next = self.next(text, format)?;
        let initial =
            (next.limiter.initial != self.limiter.initial).then_some(next.limiter.initial);
        dependency
            .reconfigure(&next.dependency_config())
            .and_then(|()| initial.map_or(Ok(()), |limit| dependency.set_limit(limit)))
            .map_err(|error| FileError::limiter(&error))?;
        *self = next;
        Ok(())
    }

    /// The settings of a text that differs only where a change while running is possible.
    fn next(&self, text: &str, format: Format) -> Result<Self, FileError> {
        let next = Self::parse(text, format)?;
        let (old, new) = (&self.limiter, &next.limiter);
        let fixed = [
            ("limiter.law", old.law != new.law),
            ("limiter.windows", old.windows != new.windows),
            ("limiter.min_samples", old.min_samples != new.min_samples),
            (
                "limiter.overload_tolerance",
                old.overload_tolerance != new.overload_tolerance,
            ),
            (
                "limiter.urgent_overloads",
                old.urgent_overloads != new.urgent_overloads,
            ),
            (
                "dependency.attempts",
                self.dependency.attempts != next.dependency.attempts,
            ),
            (
                "dependency.total",
                self.dependency.total != next.dependency.total,
            ),
        ];
        match fixed.into_iter().find(|(_, changed)| *changed) {
            Some((path, _)) => Err(FileError::at_restart(path)),
            None => Ok(next),
        }
    }
}

impl From<SharesOfClasses> for Shares {
    fn from(shares: SharesOfClasses) -> Self {
        Self::new()
            .interactive(shares.interactive)
            .batch(shares.batch)
            .best_effort(shares.best_effort)
    }
}

impl From<Budget> for BudgetConfig {
    fn from(budget: Budget) -> Self {
        Self::new()
            .capacity(Tokens::milli(budget.capacity_milli))
            .ratio(budget.ratio)
            .floor(Tokens::milli(budget.floor_milli), budget.floor_period)
    }
}

/// A length of time as people write it: `"250ms"`, `"1m 30s"`.
fn time<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(reader)?;
    humantime::parse_duration(&text).map_err(D::Error::custom)
}
