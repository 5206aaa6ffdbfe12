//! A model and a limiter of the user's own, from a TOML file. The format is described in the README of
//! this package; [`EXAMPLE`] is a file that says everything.

mod limiter;
mod numbers;
mod server;

use super::laws::Contestant;
use super::model::Model;
use limiter_core::ConfigError;
use serde::Deserialize;
use std::fmt;
use std::ops::Range;
use toml::Spanned;

/// A file with every field that there is.
pub const EXAMPLE: &str = include_str!("example.toml");

/// What a file describes.
#[derive(Debug)]
pub struct Configured {
    /// The server, the load and the callers.
    pub model: Model,
    /// The limiter, as the law `yours`; `None` if the file has none.
    pub law: Option<Contestant>,
}

/// Why a file was not understood: the line, the field and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Counted from 1; 0 where no line is to blame.
    pub line: usize,
    /// What is wrong, with the name of the field.
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for FileError {}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct File {
    #[serde(default)]
    server: server::Server,
    #[serde(default)]
    callers: server::Callers,
    #[serde(default)]
    phase: Vec<Spanned<server::Phase>>,
    limiter: Option<Spanned<limiter::Limiter>>,
}

/// Reads a file.
///
/// # Errors
///
/// A [`FileError`] for what is not TOML, for fields that do not exist or have the wrong type, and for
/// values that are not allowed.
pub fn read(text: &str) -> Result<Configured, FileError> {
    let file: File = toml::from_str(text).map_err(|error| unread(text, &error))?;
    let model = server::model(&file, text)?;
    let law = file
        .limiter
        .map(|limiter| limiter::contestant("yours", limiter, text))
        .transpose()?;
    Ok(Configured { model, law })
}

pub(crate) fn unread(text: &str, error: &toml::de::Error) -> FileError {
    let span = error.span();
    let field = span.clone().and_then(|span| field_at(text, &span));
    FileError {
        line: span.map_or(0, |span| line_of(text, span.start)),
        message: match field {
            Some(field) if !error.message().contains(&field) => {
                format!("{field}: {}", error.message())
            }
            _ => error.message().to_owned(),
        },
    }
}

/// A wrong value at `span`, which is in the line of its field.
pub(crate) fn wrong(text: &str, span: &Range<usize>, message: impl fmt::Display) -> FileError {
    let message = match field_at(text, span) {
        Some(field) => format!("{field}: {message}"),
        None => message.to_string(),
    };
    FileError {
        line: line_of(text, span.start),
        message,
    }
}

/// The allowed range, without the core's name of the field: the file's name stands before it.
fn allowed(error: &ConfigError) -> String {
    let said = error.to_string();
    said.split_once(" = ")
        .map_or(said.clone(), |(_, range)| range.to_owned())
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    before.filter(|&&byte| byte == b'\n').count() + 1
}

/// The key of the line in which `span` begins.
fn field_at(text: &str, span: &Range<usize>) -> Option<String> {
    let line = text.lines().nth(line_of(text, span.start) - 1)?;
    let key = line.split_once('=')?.0.trim();
    (!key.is_empty() && !key.starts_with('#')).then(|| key.to_owned())
}
