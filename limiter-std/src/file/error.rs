//! What is wrong with a file, and where.

use super::source::{Names, Source, line, names};
use core::fmt;

/// What is wrong with a file: every mistake in it, in the order of its lines.
///
/// [`path`](FileError::path) and [`line`](FileError::line) are those of the first; [all of
/// them](FileError::mistakes) are in the message, one on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// At least one.
    mistakes: Vec<Mistake>,
}

/// One mistake: the path of the field, the line, and why it does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    names: Names,
    /// Empty where the text as a whole cannot be read.
    path: String,
    line: Option<usize>,
    why: String,
    /// Fields that it is about too: where one of them is wrong, this may only follow from that.
    about: Vec<&'static str>,
    /// The field that was meant by a name that there is not.
    meant: Option<Box<Names>>,
}

impl Mistake {
    pub(super) fn new(names: Names, line: Option<usize>, why: impl Into<String>) -> Self {
        Self {
            path: names.join("."),
            names,
            line,
            why: why.into(),
            about: Vec::new(),
            meant: None,
        }
    }

    /// What a reader of settings said of the field at a path.
    pub(super) fn read(source: &Source, names: Names, said: &str) -> Self {
        let near = near(said);
        let why = match near {
            Some(near) => format!("{said}; did you mean `{near}`?"),
            None => said.to_owned(),
        };
        let is_field = said.starts_with("unknown field");
        let meant = near.filter(|_| is_field).map(|near| {
            let section = names.iter().take(names.len().saturating_sub(1));
            section.cloned().chain([near.to_owned()]).collect()
        });
        // What is written itself has mistakes of its own.
        let meant = meant.filter(|meant: &Names| source.at_names(meant).is_none());
        let meant = meant.map(Box::new);
        Self {
            meant,
            ..Self::at(source, names, why)
        }
    }

    /// That the field at a path does not work, as it is written there.
    pub(super) fn field(source: &Source, path: &str, why: impl Into<String>) -> Self {
        Self::at(source, names(path), why)
    }

    pub(super) fn at(source: &Source, names: Names, why: impl Into<String>) -> Self {
        let line = source.at_names(&names).map(|written| written.line);
        Self::new(names, line, why)
    }

    /// What a reader of TOML said.
    pub(super) fn toml(text: &str, error: &toml::de::Error) -> Self {
        let span = error.span();
        let said = error.message().trim_end();
        let key = span.clone().and_then(|span| text.get(span));
        let why = match key {
            Some(key) if said == "duplicate key" => format!("{said} `{key}`"),
            _ => said.to_owned(),
        };
        Self::new(Names::new(), span.map(|span| line(text, span.start)), why)
    }

    pub(super) fn about(mut self, paths: impl IntoIterator<Item = &'static str>) -> Self {
        self.about.extend(paths);
        self
    }

    /// Whether it may follow from what is wrong with one of these: what it is about, or something within it.
    pub(super) fn follows_from(&self, wrong: &[Names]) -> bool {
        let about = self.about.iter().any(|path| wrong.contains(&names(path)));
        about || wrong.iter().any(|path| path.starts_with(&self.names))
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// What is wrong with it: the field, and the one that was meant by it.
    pub(super) fn wrong(self) -> impl Iterator<Item = Names> {
        [self.names]
            .into_iter()
            .chain(self.meant.map(|meant| *meant))
    }

    /// The path of the field, empty where the text as a whole cannot be read.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The line it is in, from 1; `None` for what is not written.
    pub const fn line(&self) -> Option<usize> {
        self.line
    }

    /// Why it does not work.
    pub fn why(&self) -> &str {
        &self.why
    }
}

/// The name that somebody may have meant who wrote one that there is not: by a slip of the fingers or two.
fn near(said: &str) -> Option<&str> {
    let (unknown, known) = said.strip_prefix("unknown ")?.split_once(", expected ")?;
    let (_, unknown) = unknown.split_once('`')?;
    let away = |name: &str| strsim::damerau_levenshtein(unknown.trim_end_matches('`'), name);
    // Each between two of these.
    let known = known.split('`').skip(1).step_by(2);
    let near = known.min_by_key(|name| away(name))?;
    let most = (near.len() / 3).clamp(1, 2);
    (away(near) <= most).then_some(near)
}

impl fmt::Display for Mistake {
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

impl FileError {
    /// None, where nothing is wrong.
    pub(super) fn of(mut mistakes: Vec<Mistake>) -> Result<(), Self> {
        if mistakes.is_empty() {
            return Ok(());
        }
        // What is not written comes last.
        mistakes.sort_by_key(|mistake| mistake.line.unwrap_or(usize::MAX));
        Err(Self { mistakes })
    }

    /// The path of the first field, empty where the text as a whole cannot be read.
    pub fn path(&self) -> &str {
        self.mistakes.first().map_or("", Mistake::path)
    }

    /// The line of the first mistake, from 1; `None` for what is not written.
    pub fn line(&self) -> Option<usize> {
        self.mistakes.first().and_then(Mistake::line)
    }

    /// All of them, in the order of their lines.
    pub fn mistakes(&self) -> impl Iterator<Item = &Mistake> {
        self.mistakes.iter()
    }
}

impl From<Mistake> for FileError {
    fn from(mistake: Mistake) -> Self {
        Self {
            mistakes: vec![mistake],
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.mistakes.iter().enumerate() {
            let line = if index == 0 { "" } else { "\n" };
            write!(f, "{line}{mistake}")?;
        }
        Ok(())
    }
}

impl core::error::Error for FileError {}
