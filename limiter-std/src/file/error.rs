//! What is wrong with a file, and where.

use super::source::{Source, line};
use core::fmt;
use core::time::Duration;
use limiter_core::{ConfigError, MOST_GUARANTEED};

/// What is wrong with a file: the path of the field, the line where the format tells it, and why it does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Empty where the text as a whole cannot be read.
    path: String,
    line: Option<usize>,
    why: String,
}

/// What fields are called in a file that have other names in a builder.
const NAMES: [(&str, &str); 15] = [
    ("limit", "initial"),
    ("interactive", "shares.interactive"),
    ("batch", "shares.batch"),
    ("best_effort", "shares.best_effort"),
    ("queue_length", "queue.length"),
    ("longest_wait", "queue.longest_wait"),
    ("standing_delay.target", "queue.target"),
    ("standing_delay.interval", "queue.interval"),
    ("vegas.queue.alpha", "vegas.alpha"),
    ("vegas.queue.beta", "vegas.beta"),
    ("timeout_quantile", "timeout_quantile.per_mille"),
    ("hedge", "hedge.per_mille"),
    ("breaker.slow_share", "breaker.slow_share.per_mille"),
    ("breaker.open", "breaker.open.first"),
    ("budget.floor.period", "budget.floor_period"),
];

/// Fields whose range begins at another one.
const FLOORS: [(&str, &str); 1] = [("limiter.initial", "limiter.min")];

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
        let (floor, bound) = (of(&FLOORS, &path), of(&BOUNDS, &path));
        let text = |path: &str| source.at(path).and_then(|written| written.text);
        match (text(&path), bound) {
            (Some(got), _) => {
                let why = format!("got {got}, allowed {allowed}");
                let other = if error.value() < error.least() {
                    floor.map(|floor| (floor, "above", least))
                } else {
                    bound.map(|bound| (bound, "below", most))
                };
                let why = match other.map(|other| (source.at(other.0), other)) {
                    None => why,
                    Some((None, (other, _, is))) => {
                        format!("{why}: {other} is {is} unless it is set")
                    }
                    Some((Some(written), (other, beyond, is))) => {
                        let line = written.line.map(|line| format!(" (line {line})"));
                        let line = line.unwrap_or_default();
                        format!("{why}: {other}{line} is {beyond} it, {is}")
                    }
                };
                let start = "; where it is left out a limit starts within the bounds";
                let start = if name == "initial" { start } else { "" };
                Self::field(source, &path, format!("{why}{start}"))
            }
            // A default that does not go with what is written.
            (None, Some(bound)) => {
                let got = text(bound).unwrap_or(most);
                let why = format!("got {got}, but {path} is {value} unless it is set");
                Self::field(source, bound, why)
            }
            (None, None) => Self::field(source, &path, format!("got {value}, allowed {allowed}")),
        }
    }

    /// What is wrong with what partitions are guaranteed, alone or together, if anything.
    pub(super) fn guarantees<'a>(
        source: &Source<'_>,
        shares: impl Iterator<Item = (&'a str, u64)>,
    ) -> Result<(), Self> {
        let most = MOST_GUARANTEED.into();
        let (mut sum, mut said, mut last) = (0, String::new(), (None, String::new()));
        for (name, share) in shares.filter(|(_, share)| *share != 0) {
            let written = source.at_names(["limiter", "partitions", name, "guarantee"]);
            let line = written.and_then(|written| written.line);
            let path = format!("limiter.partitions.{name}.guarantee");
            if share > most {
                let why = format!("got {share}, allowed 0 to {most}");
                return Err(Self { path, line, why });
            }
            let and = if sum == 0 { "" } else { " + " };
            said = format!("{said}{and}{share} ({name})");
            sum += share;
            // The one that is written last is one too many.
            last = last.max((line, path));
        }
        if sum <= most {
            return Ok(());
        }
        let ((line, path), why) = (
            last,
            format!("{said} is {sum} together, allowed 0 to {most}"),
        );
        Err(Self { path, line, why })
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

fn of(pairs: &[(&str, &'static str)], path: &str) -> Option<&'static str> {
    let pair = pairs.iter().find(|(field, _)| *field == path);
    pair.map(|(_, other)| *other)
}

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
