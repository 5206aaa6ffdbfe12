//! Limits, and all that is around a dependency, from a file; and from the same file again while running.
//!
//! ```
//! use limiter_std::{Dependency, file::{Format, Settings}};
//!
//! let text = "[limiter]\nmax = 200\n[dependency.budget]\nratio = 200";
//! let mut settings = Settings::parse(text, Format::Toml)?;
//! let store = settings.dependency()?;
//!
//! let wrong = text.replace("ratio = 200", "ratio = 2000");
//! let error = settings.reload_dependency(&wrong, Format::Toml, &store).unwrap_err();
//! assert_eq!(error.to_string(), "dependency.budget.ratio (line 4): got 2000, allowed 0 to 1000");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Ranges are those of the builders, which check them: [`Config`],
//! [`DependencyConfig`] and what they are made of. Fields are called as their methods are,
//! and amounts of tokens are in thousandths. Settings that rule each other out, such as a timeout longer than
//! the call, are mistakes too. An error tells [all mistakes](FileError::mistakes) of a file, but those that would not
//! be there without another one.
//!
//! **Write another file and rename it over this one.** An editor that empties a file and then writes it has it empty,
//! or only the first half of it there, for a moment, and what is left out has its default. A file that says nothing is
//! no reload; of half a file nobody can tell.
//!
//! | section | what | while running |
//! | --- | --- | --- |
//! | `[limiter]` | bounds, `initial`, `beyond_may_use`, `watch_only` | changes |
//! | `[limiter]`, `[limiter.knee]` and the other laws | `law`, its parameters | changes; another `law` [begins anew](Limiter::set_law) |
//! | `[limiter]`, `[limiter.windows]` | how long a window is, and how many samples and overloads are in one | at a restart |
//! | `[limiter.shares]`, `[limiter.queue]` | what each class may use, who may wait | changes |
//! | `[limiter.partitions.NAME]` | `guarantee`, `lend_after` | changes; the names at a restart |
//! | `[dependency.budget]` | capacity, ratio, floor | changes |
//! | `[dependency]` and its other sections | attempts, times, hedges, back-off, breaker, throttle | at a restart |
//!
//! A file with a section `dependency` is one of a dependency, whose limiter has no partitions and cannot only watch.

mod check;
mod dependency;
mod error;
mod json;
mod laws;
mod reload;
mod sections;
mod sense;
mod source;
mod told;
mod values;

use crate::{Config, Dependency, DependencyConfig, Limiter, Partitions};
pub use dependency::{
    BackoffTimes, Breaker, Budget, Dependence, Draw, Hedge, OpenTimes, SlowShare, Throttle,
    TimeoutBounds, TimeoutQuantile,
};
pub use error::{FileError, Mistake};
pub use laws::{AimdTerms, FixedTerms, GradientTerms, KneeTerms, Law, VegasTerms};
use limiter_core::ConfigError;
use limiter_core::law::AnyLaw;
pub use sections::{Limit, Queue, Settings, Share, SharesOfClasses, Windows};
use source::Source;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML.
    Toml,
    /// JSON.
    Json,
}

impl Settings {
    /// Reads a file, and checks every value. An empty one has all defaults.
    ///
    /// # Errors
    ///
    /// Every field that is unknown, of the wrong kind, of a value that it does not allow, or that another one rules out,
    /// by its path.
    pub fn parse(text: &str, format: Format) -> Result<Self, FileError> {
        check::settings(&Source::new(text, format)?)
    }

    /// A limiter from them, with the partitions that they name.
    ///
    /// # Errors
    ///
    /// The first field that does not work; none where they were [parsed](Settings::parse).
    pub fn limiter(&self) -> Result<Limiter<AnyLaw>, FileError> {
        self.make_limiter().map_err(of_the("limiter"))
    }

    fn make_limiter(&self) -> Result<Limiter<AnyLaw>, ConfigError> {
        let config = self.limiter.config()?;
        if self.limiter.partitions.is_empty() {
            return Limiter::try_new(config);
        }
        Limiter::partitioned(config, &self.partitions())
    }

    /// A dependency from them: its limiter, its budget, its attempts and times. One that names partitions, or
    /// only watches, is a server's.
    ///
    /// # Errors
    ///
    /// As [`limiter`](Settings::limiter), and those two.
    pub fn dependency(&self) -> Result<Dependency<AnyLaw>, FileError> {
        sense::of_a_dependency(self, &Source::default())?;
        let limiter = self.limiter_config()?;
        limiter.check().map_err(of_the("limiter"))?;
        Dependency::try_new(self.dependency.config(limiter)).map_err(of_the("dependency"))
    }

    /// What a limiter is built from, beside its [partitions](Settings::partitions).
    ///
    /// # Errors
    ///
    /// A parameter of the law that does not work; none where they were [parsed](Settings::parse).
    pub fn limiter_config(&self) -> Result<Config<AnyLaw>, FileError> {
        self.limiter.config().map_err(of_the("limiter"))
    }

    /// The partitions, in the order of their names.
    pub fn partitions(&self) -> Partitions {
        let all = self.limiter.partitions.iter();
        all.fold(Partitions::new(), |partitions, (name, share)| {
            partitions.partition(name.as_str(), (*share).into())
        })
    }

    /// What a dependency is built from.
    ///
    /// # Errors
    ///
    /// As [`limiter_config`](Settings::limiter_config).
    pub fn dependency_config(&self) -> Result<DependencyConfig<AnyLaw>, FileError> {
        Ok(self.dependency.config(self.limiter_config()?))
    }
}

/// What a builder said of settings that came from no file.
fn of_the(section: &'static str) -> impl Fn(ConfigError) -> FileError {
    move |error| told::value(&Source::default(), section, &error).into()
}
