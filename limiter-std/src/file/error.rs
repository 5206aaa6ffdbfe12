//! What is wrong with a file, and where.

use core::fmt;
use limiter_core::ConfigError;

/// What is wrong with a file: the path of the field, and why it does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Empty where the text as a whole cannot be read.
    path: String,
    why: String,
}

/// What fields are called in a file that have other names in a configuration.
const NAMES: [(&str, &str); 11] = [
    ("longest window in ns", "windows.longest"),
    ("shortest window in ns", "windows.shortest"),
    ("interactive", "shares.interactive"),
    ("batch", "shares.batch"),
    ("best_effort", "shares.best_effort"),
    ("queue_length", "queue.length"),
    ("longest_wait", "queue.longest_wait"),
    ("standing_delay.target", "queue.target"),
    ("standing_delay.interval", "queue.interval"),
    ("limit", "initial"),
    ("total in ms", "total"),
];

const BUDGET: [(&str, &str); 4] = [
    ("budget capacity in thousandths", "capacity_milli"),
    ("budget ratio", "ratio"),
    ("budget floor in thousandths", "floor_milli"),
    ("budget floor period in ms", "floor_period"),
];

impl FileError {
    pub(super) fn text(error: impl fmt::Display) -> Self {
        Self {
            path: String::new(),
            why: error.to_string().trim_end().to_owned(),
        }
    }

    pub(super) fn field(path: String, why: String) -> Self {
        // The root of a file has no name.
        let path = if path == "." { String::new() } else { path };
        Self { path, why }
    }

    pub(super) fn at_restart(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            why: "changes at a restart only".to_owned(),
        }
    }

    pub(super) fn limiter(error: &ConfigError) -> Self {
        Self::value("limiter", &NAMES, error)
    }

    pub(super) fn budget(error: &ConfigError) -> Self {
        Self::value("dependency.budget", &BUDGET, error)
    }

    pub(super) fn dependency(error: &ConfigError) -> Self {
        Self::value("dependency", &NAMES, error)
    }

    fn value(section: &str, names: &[(&str, &str)], error: &ConfigError) -> Self {
        let named = names.iter().find(|(name, _)| *name == error.field());
        let name = named.map_or(error.field(), |(_, name)| name);
        let (value, least, most) = (error.value(), error.least(), error.most());
        Self {
            path: format!("{section}.{name}"),
            why: format!("got {value}, allowed {least}..={most}"),
        }
    }

    /// The path of the field, empty where the text as a whole cannot be read.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.why)
    }
}

impl core::error::Error for FileError {}
