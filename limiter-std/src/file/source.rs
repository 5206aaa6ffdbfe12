//! A file's text as a tree, and where in it what is written.

use super::error::{FileError, Mistake};
use super::{Format, json};
use core::ops::Range;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A text that was read, or none, of settings that came from no file.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    tree: Value,
    places: BTreeMap<Names, Written>,
    format: Option<Format>,
}

/// A path in its parts: names of partitions may have dots in them.
pub(super) type Names = Vec<String>;

/// A value as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// `None` for a section.
    pub(super) text: Option<String>,
    /// From 1.
    pub(super) line: usize,
}

impl Source {
    /// A text that is right as TOML or JSON.
    pub(super) fn new(text: &str, format: Format) -> Result<Self, FileError> {
        let mut reader = Reader {
            text,
            path: Names::new(),
            places: BTreeMap::new(),
        };
        let tree = match format {
            Format::Toml => {
                let (table, errors) = DeTable::parse_recoverable(text);
                let wrong = errors.iter().map(|error| Mistake::toml(text, error));
                FileError::of(wrong.collect())?;
                Value::Object(reader.table(table.get_ref()))
            }
            Format::Json => json::tree(&mut reader)?,
        };
        Ok(Self {
            tree,
            places: reader.places,
            format: Some(format),
        })
    }

    pub(super) const fn tree(&self) -> &Value {
        &self.tree
    }

    /// Whether these settings come from a file.
    pub(super) const fn is_file(&self) -> bool {
        self.format.is_some()
    }

    /// Whether no setting is in it, and nothing that says that this is meant: `{}` in JSON does.
    pub(super) fn says_nothing(&self) -> bool {
        let nothing = self.tree.as_object().is_some_and(Map::is_empty);
        nothing && self.format == Some(Format::Toml)
    }

    /// What is written at a path; `None` where nothing is.
    pub(super) fn at(&self, path: &str) -> Option<&Written> {
        self.at_names(&names(path))
    }

    pub(super) fn at_names(&self, names: &[String]) -> Option<&Written> {
        self.places.get(names)
    }
}

/// A path whose parts have no dots in them.
pub(super) fn names(path: &str) -> Names {
    path.split('.').map(str::to_owned).collect()
}

/// Takes a text apart.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    path: Names,
    places: BTreeMap<Names, Written>,
}

impl Reader<'_> {
    /// What is at a place of the text under this name.
    pub(super) fn under<T>(
        &mut self,
        name: &str,
        (place, section): (Range<usize>, bool),
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let text = self.text.get(place.clone()).filter(|_| !section);
        let written = Written {
            text: text.map(plain),
            line: line(self.text, place.start),
        };
        self.path.push(name.to_owned());
        self.places.insert(self.path.clone(), written);
        let read = read(self);
        self.path.pop();
        read
    }

    pub(super) fn path(&self) -> &Names {
        &self.path
    }

    fn table(&mut self, table: &DeTable<'_>) -> Map<String, Value> {
        let fields = table.iter().map(|(name, value)| {
            let name: &str = name.get_ref();
            let place = (value.span(), value.get_ref().is_table());
            let value = self.under(name, place, |reader| reader.toml(value));
            (name.to_owned(), value)
        });
        fields.collect()
    }

    fn toml(&mut self, value: &Spanned<DeValue<'_>>) -> Value {
        match value.get_ref() {
            DeValue::Table(table) => Value::Object(self.table(table)),
            // No setting is a list, and one in the place of a section would be read by its order.
            DeValue::Array(_) => self.text.get(value.span()).unwrap_or_default().into(),
            DeValue::String(text) => text.as_ref().into(),
            DeValue::Boolean(flag) => (*flag).into(),
            DeValue::Integer(number) => {
                let number = i128::from_str_radix(number.as_str(), number.radix());
                let number = number.unwrap_or(i128::MAX);
                // Of what is too large for any field it does not matter by how much.
                match (i64::try_from(number), u64::try_from(number)) {
                    (Ok(number), _) => number.into(),
                    (_, Ok(number)) => number.into(),
                    _ if number < 0 => i64::MIN.into(),
                    _ => u64::MAX.into(),
                }
            }
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(value) => value.into(),
                Err(_) => number.as_str().into(),
            },
            DeValue::Datetime(time) => time.to_string().into(),
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
