//! What is wrong with a file, and where.

use super::source::{Source, line};
use core::fmt;
use core::time::Duration;
use limiter_core::ConfigError;

/// What is wrong with a file: the path of the field, the line where the format tells it, and why it does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Empty where the text as a whole cannot be read.
    path: String,
    line: Option<usize>,
    why: String,
}

/// What fields are called in a file that have other names in a builder.
const NAMES: [(&str, &str); 16] = [
    ("limit", "initial"),
    ("interactive", "shares.interactive"),
    ("batch", "shares.batch"),
    ("best_effort", "shares.best_effort"),
    ("queue_length", "queue.length"),
    ("longest_wait", "queue.longest_wait"),
    ("standing_delay.target", "queue.target"),
    ("standing_delay.interval", "queue.interval"),
    ("guarantees together", "partitions"),
    ("vegas.queue.alpha", "vegas.alpha"),
    ("vegas.queue.beta", "vegas.beta"),
    ("timeout_quantile", "timeout_quantile.per_mille"),
    ("hedge", "hedge.per_mille"),
    ("breaker.slow_share", "breaker.slow_share.per_mille"),
    ("breaker.open", "breaker.open.first"),
    ("budget.floor.period", "budget.floor_period"),
];

/// Fields whose range ends at another one.
const BOUNDS: [(&str, &str); 12] = [
    ("limiter.min", "limiter.max"),
    ("limiter.shares.batch", "limiter.shares.interactive"),
    ("limiter.shares.best_effort", "limiter.shares.batch"),
    ("limiter.windows.shortest", "limiter.windows.longest"),
    ("limiter.vegas.alpha", "limiter.vegas.beta"),
    (
        "dependency.timeout_bounds.least",
        "dependency.timeout_bounds.most",
    ),
    (
        "dependency.breaker.open.first",
        "dependency.breaker.open.most",
    ),
    ("dependency.backoff.base", "dependency.backoff.cap"),
    (
        "dependency.retry_cost_milli",
        "dependency.budget.capacity_milli",
    ),
    (
        "dependency.timeout_cost_milli",
        "dependency.budget.capacity_milli",
    ),
    (
        "dependency.pushback_cost_milli",
        "dependency.budget.capacity_milli",
    ),
    ("limiter.initial", "limiter.max"),
];

impl FileError {
    pub(super) fn text(error: impl fmt::Display) -> Self {
        Self {
            path: String::new(),
            line: None,
            why: error.to_string().trim_end().to_owned(),
        }
    }

    pub(super) fn toml(text: &str, error: &toml::de::Error) -> Self {
        Self {
            line: error.span().map(|span| line(text, span.start)),
            ..Self::text(error.message())
        }
    }

    /// That the field at a path does not work, as it is written there.
    pub(super) fn field(source: &Source<'_>, path: &str, why: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: source.at(path).and_then(|written| written.line),
            why: why.into(),
        }
    }

    /// What a reader of the format said of a path.
    pub(super) fn read(path: String, line: Option<usize>, why: String) -> Self {
        // The root of a file has no name.
        let path = if path == "." { String::new() } else { path };
        Self { path, line, why }
    }

    /// What a builder said of a section.
    pub(super) fn value(source: &Source<'_>, section: &str, error: &ConfigError) -> Self {
        let (name, unit) = match error.field().split_once(" in ") {
            Some((name, unit)) => (name, Unit::of(unit)),
            None => (error.field(), Unit::None),
        };
        let named = NAMES.iter().find(|(builder, _)| *builder == name);
        let name = named.map_or(name, |(_, file)| file);
        let milli = if unit == Unit::Milli { "_milli" } else { "" };
        let path = format!("{section}.{name}{milli}");
        let [value, least, most] =
            [error.value(), error.least(), error.most()].map(|number| unit.show(number));
        let allowed = if error.most() == u64::MAX {
            format!("{least} or more")
        } else {
            format!("{least} to {most}")
        };
        let bound = BOUNDS.iter().find(|(field, _)| *field == path);
        let text = |path: &str| source.at(path).and_then(|written| written.text);
        match (text(&path), bound) {
            (Some(got), Some((_, bound)))
                if error.value() > error.most() && source.at(bound).is_none() =>
            {
                let why =
                    format!("got {got}, allowed {allowed}: {bound} is {most} unless it is set");
                Self::field(source, &path, why)
            }
            (Some(got), _) => Self::field(source, &path, format!("got {got}, allowed {allowed}")),
            // A default that does not go with what is written.
            (None, Some((_, bound))) => {
                let got = text(bound).unwrap_or(most);
                let why = format!("got {got}, but {path} is {value} unless it is set");
                Self::field(source, bound, why)
            }
            (None, None) => Self::field(source, &path, format!("got {value}, allowed {allowed}")),
        }
    }

    /// The path of the field, empty where the text as a whole cannot be read.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The line it is in, from 1, where the format tells.
    pub const fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.as_str(), self.line) {
            ("", None) => {}
            ("", Some(line)) => write!(f, "line {line}: ")?,
            (path, None) => write!(f, "{path}: ")?,
            (path, Some(line)) => write!(f, "{path} (line {line}): ")?,
        }
        f.write_str(&self.why)
    }
}

impl core::error::Error for FileError {}

/// What the numbers of a builder's error are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    None,
    Milli,
    /// In nanoseconds each.
    Time(u64),
}

impl Unit {
    fn of(name: &str) -> Self {
        match name {
            "ns" => Self::Time(1),
            "us" => Self::Time(1_000),
            "ms" => Self::Time(1_000_000),
            "thousandths" => Self::Milli,
            _ => Self::None,
        }
    }

    /// As people write it in a file.
    fn show(self, number: u64) -> String {
        match self {
            Self::Time(nanos) => {
                let time = Duration::from_nanos(number.saturating_mul(nanos));
                humantime::format_duration(time).to_string()
            }
            Self::None | Self::Milli => number.to_string(),
        }
    }
}
