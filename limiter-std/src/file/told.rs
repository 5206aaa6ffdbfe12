//! What a builder says of a value, in the words of the file.

use super::error::Mistake;
use super::source::{Source, Written, names};
use core::time::Duration;
use limiter_core::{ConfigError, MOST_GUARANTEED};

/// What fields are called in a file that have other names in a builder, from their section on.
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

/// All fields that a range begins or ends at, as a file calls them.
const ENDS: [&str; 10] = [
    "limiter.min",
    "limiter.max",
    "limiter.shares.interactive",
    "limiter.shares.batch",
    "limiter.windows.longest",
    "limiter.vegas.beta",
    "dependency.timeout_bounds.most",
    "dependency.breaker.open.most",
    "dependency.backoff.cap",
    "dependency.budget.capacity_milli",
];

/// The path in a file of what a builder calls `field`, and what its numbers are in.
fn path(section: &str, field: &str) -> (String, Unit) {
    let (name, unit) = match field.split_once(" in ") {
        Some((name, unit)) => (name, Unit::of(unit)),
        None => (field, Unit::None),
    };
    let named = NAMES.iter().find(|(builder, _)| *builder == name);
    let name = named.map_or(name, |(_, file)| file);
    let milli = if unit == Unit::Milli { "_milli" } else { "" };
    (format!("{section}.{name}{milli}"), unit)
}

/// The path of a field that a range begins or ends at.
fn end(section: &str, field: Option<&str>, unit: Unit) -> Option<&'static str> {
    let field = match unit {
        Unit::Milli => format!("{} in thousandths", field?),
        _ => field?.to_owned(),
    };
    let (path, _) = path(section, &field);
    ENDS.into_iter().find(|end| *end == path)
}

/// What a builder said of a section.
pub(super) fn value(source: &Source, section: &str, error: &ConfigError) -> Mistake {
    let (path, unit) = path(section, error.field());
    let [value, least, most] =
        [error.value(), error.least(), error.most()].map(|number| unit.show(number));
    let allowed = if error.most() == u64::MAX {
        format!("{least} or more")
    } else {
        format!("{least} to {most}")
    };
    let floor = end(section, error.begins_at(), unit);
    let bound = end(section, error.ends_at(), unit);
    let text = |path: &str| source.at(path).and_then(|written| written.text.clone());
    let got = text(&path);
    if let (None, Some(bound), true) = (&got, bound, source.is_file()) {
        // A default that does not go with what is written.
        let got = text(bound).unwrap_or(most);
        let why = format!("got {got}, but {path} is {value} unless it is set");
        return Mistake::field(source, bound, why);
    }
    let why = format!("got {}, allowed {allowed}", got.unwrap_or(value));
    let other = if error.value() < error.least() {
        floor.map(|floor| (floor, "above", least))
    } else {
        bound.map(|bound| (bound, "below", most))
    };
    let why = other.map_or(why.clone(), |(other, beyond, is)| {
        format!("{why}: {}", because(source, other, beyond, &is))
    });
    let start = "; where it is left out a limit starts within the bounds";
    let start = if path == "limiter.initial" { start } else { "" };
    Mistake::field(source, &path, format!("{why}{start}")).about(floor.into_iter().chain(bound))
}

/// What another field has to do with it: where it is, and what.
pub(super) fn because(source: &Source, other: &str, beyond: &str, is: &str) -> String {
    match source.at(other) {
        None if source.is_file() => format!("{other} is {is} unless it is set"),
        written => format!("{other}{} is {beyond} it, {is}", in_line(written)),
    }
}

/// Where something is written.
pub(super) fn in_line(written: Option<&Written>) -> String {
    written.map_or(String::new(), |written| format!(" (line {})", written.line))
}

/// What is wrong with what partitions are guaranteed, alone or together, if anything.
pub(super) fn guarantees<'a>(
    source: &Source,
    shares: impl Iterator<Item = (&'a str, u64)>,
) -> Result<(), Mistake> {
    let most = MOST_GUARANTEED.into();
    let (mut sum, mut said) = (0, String::new());
    let mut last = (0, names("limiter.partitions"));
    for (name, share) in shares.filter(|(_, share)| *share != 0) {
        let path = ["limiter", "partitions", name, "guarantee"].map(str::to_owned);
        if share > most {
            let why = format!("got {share}, allowed 0 to {most}");
            return Err(Mistake::at(source, path.into(), why));
        }
        let and = if sum == 0 { "" } else { " + " };
        said = format!("{said}{and}{share} ({name})");
        sum += share;
        // The one that is written last is one too many.
        let line = source.at_names(&path).map_or(0, |written| written.line);
        last = last.max((line, path.into()));
    }
    if sum <= most {
        return Ok(());
    }
    let why = format!("{said} is {sum} together, allowed 0 to {most}");
    Err(Mistake::at(source, last.1, why))
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
            Self::Time(nanos) => time(Duration::from_nanos(number.saturating_mul(nanos))),
            Self::None | Self::Milli => number.to_string(),
        }
    }
}

/// A time as people write it: in days and less, for a year is not the same to all.
pub(super) fn time(time: Duration) -> String {
    const DAY: u64 = 86_400;
    let days = time.as_secs() / DAY;
    let plural = if days == 1 { "" } else { "s" };
    let rest = time - Duration::from_secs(days * DAY);
    match days {
        0 => humantime::format_duration(rest).to_string(),
        // Beyond years nobody counts hours.
        1_000.. => format!("{days}days"),
        _ if rest.is_zero() => format!("{days}day{plural}"),
        _ => format!("{days}day{plural} {}", humantime::format_duration(rest)),
    }
}
