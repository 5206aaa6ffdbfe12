//! A file's text, and what is written where in it.

use super::{FileError, Format};
use toml::de::{DeTable, DeValue};

/// A text that was read.
#[derive(Debug)]
pub(super) struct Source<'a> {
    text: &'a str,
    tree: Tree<'a>,
}

#[derive(Debug)]
enum Tree<'a> {
    Toml(DeTable<'a>),
    Json(serde_json::Value),
}

/// A value as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// `None` for a section.
    pub(super) text: Option<String>,
    /// From 1, where the format tells.
    pub(super) line: Option<usize>,
}

impl<'a> Source<'a> {
    /// A text that is right as TOML or JSON.
    pub(super) fn new(text: &'a str, format: Format) -> Result<Self, FileError> {
        let tree = match format {
            Format::Toml => {
                let table = DeTable::parse(text).map_err(|error| FileError::toml(text, &error))?;
                Tree::Toml(table.into_inner())
            }
            Format::Json => Tree::Json(serde_json::from_str(text).map_err(FileError::text)?),
        };
        Ok(Self { text, tree })
    }

    /// What is written at a path; `None` where nothing is.
    pub(super) fn at(&self, path: &str) -> Option<Written> {
        self.at_names(path.split('.'))
    }

    /// The same, of a path in its parts: names of partitions may have dots in them.
    pub(super) fn at_names<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Option<Written> {
        let mut names = names.into_iter();
        match &self.tree {
            Tree::Toml(table) => {
                let mut value = table.get(names.next()?)?;
                for name in names {
                    let DeValue::Table(inner) = value.get_ref() else {
                        return None;
                    };
                    value = inner.get(name)?;
                }
                let (span, section) = (value.span(), value.get_ref().is_table());
                let text = self.text.get(span.clone()).filter(|_| !section);
                Some(Written {
                    text: text.map(plain),
                    line: Some(line(self.text, span.start)),
                })
            }
            Tree::Json(value) => {
                let value = names.try_fold(value, |value, name| value.get(name))?;
                let text = (!value.is_object()).then(|| plain(&value.to_string()));
                Some(Written { text, line: None })
            }
        }
    }
}

/// Without the quotes.
fn plain(text: &str) -> String {
    text.trim_matches(['"', '\'']).to_owned()
}

/// The line of a place in a text, from 1.
pub(super) fn line(text: &str, place: usize) -> usize {
    let before = text.bytes().take(place);
    before.filter(|byte| *byte == b'\n').count() + 1
}
