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
//! and amounts of tokens are in thousandths.
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

mod dependency;
mod error;
mod laws;
mod reload;
mod sections;
mod source;
mod values;

use crate::{Config, Dependency, DependencyConfig, Limiter, Partitions};
pub use dependency::{
    BackoffTimes, Breaker, Budget, Dependence, Draw, Hedge, OpenTimes, SlowShare, Throttle,
    TimeoutBounds, TimeoutQuantile,
};
pub use error::FileError;
pub use laws::{AimdTerms, GradientTerms, KneeTerms, Law, VegasTerms};
use limiter_core::ConfigError;
use limiter_core::law::AnyLaw;
pub use sections::{Limit, Queue, Settings, Share, SharesOfClasses, Windows};
use serde::de::DeserializeOwned;
use source::{Source, line};

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
            let parsed = toml::Deserializer::parse(text);
            let toml = parsed.map_err(|error| FileError::toml(text, &error))?;
            serde_path_to_error::deserialize(toml).map_err(|error| {
                let (path, inner) = (error.path().to_string(), error.inner());
                let line = inner.span().map(|span| line(text, span.start));
                FileError::read(path, line, inner.message().to_owned())
            })
        }
        Format::Json => {
            let mut json = serde_json::Deserializer::from_str(text);
            let read = serde_path_to_error::deserialize(&mut json).map_err(|error| {
                let inner = error.inner();
                let said = inner.to_string();
                let place = format!(" at line {} column {}", inner.line(), inner.column());
                let why = said.strip_suffix(&place).unwrap_or(&said).to_owned();
                let line = (inner.line() > 0).then_some(inner.line());
                FileError::read(error.path().to_string(), line, why)
            })?;
            json.end().map_err(FileError::text)?;
            Ok(read)
        }
    }
}

impl Settings {
    /// Reads a file, and checks every value.
    ///
    /// # Errors
    ///
    /// The first field that is unknown, of the wrong kind, or of a value that it does not allow, by its path.
    pub fn parse(text: &str, format: Format) -> Result<Self, FileError> {
        let settings: Self = read(text, format)?;
        settings.check(&Source::new(text, format)?)?;
        Ok(settings)
    }

    /// A limiter from them, with the partitions that they name.
    ///
    /// # Errors
    ///
    /// The first field that does not work; none where they were [parsed](Settings::parse).
    pub fn limiter(&self) -> Result<Limiter<AnyLaw>, ConfigError> {
        let config = self.limiter_config()?;
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
    pub fn dependency(&self) -> Result<Dependency<AnyLaw>, ConfigError> {
        let partitions = self.limiter.partitions.len() as u64;
        ConfigError::check("partitions", partitions, 0, 0)?;
        Dependency::try_new(self.dependency_config()?)
    }

    /// What a limiter is built from, beside its [partitions](Settings::partitions).
    ///
    /// # Errors
    ///
    /// A parameter of the law that does not work; none where they were [parsed](Settings::parse).
    pub fn limiter_config(&self) -> Result<Config<AnyLaw>, ConfigError> {
        self.limiter.config()
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
    pub fn dependency_config(&self) -> Result<DependencyConfig<AnyLaw>, ConfigError> {
        Ok(self.dependency.config(self.limiter_config()?))
    }

    fn check(&self, source: &Source<'_>) -> Result<(), FileError> {
        if let Some(path) = self.limiter.terms().idle() {
            let why = "the law is another; leave it out, or choose its law";
            return Err(FileError::field(source, path, why));
        }
        let limiter = |error: ConfigError| FileError::value(source, "limiter", &error);
        let shares = self.limiter.partitions.iter();
        let shares = shares.map(|(name, share)| (name.as_str(), share.guarantee.into()));
        FileError::guarantees(source, shares)?;
        self.partitions().check().map_err(limiter)?;
        self.limiter().map_err(limiter)?;
        // Of the dependency alone, for its limiter works, and may be a server's.
        let config = self.limiter_config().map_err(limiter)?;
        Dependency::try_new(self.dependency.config(config.watch_only(false)))
            .map_err(|error| FileError::value(source, "dependency", &error))?;
        Ok(())
    }
}
