//! What the programs of this package have in common: how they end, and where their rows go.

use lexopt::prelude::*;
use serde::Serialize;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What stopped a program.
pub type Failure = Box<dyn std::error::Error>;

/// Ends the program called `name`: by one line that says why, when it was stopped.
pub fn end(name: &str, done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The file to write to, if any, and the seed of a program that takes `--json`, `--seed` and `--help`; `None` when the
/// help was printed.
///
/// # Errors
///
/// Another argument, or none where one is needed; a file that cannot be written.
pub fn json_and_seed(help: &str) -> Result<Option<(Option<Output>, u64)>, Failure> {
    let (mut json, mut seed): (Option<PathBuf>, _) = (None, 1);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("json") => json = Some(arguments.value()?.into()),
            Long("seed") => seed = arguments.value()?.parse()?,
            Long("help") | Short('h') => {
                print!("{help}");
                return Ok(None);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(Some((Output::json(json.as_ref())?, seed)))
}

/// The most seeds of a program that runs all of them one after the other.
const MOST_SEEDS: u64 = 1_000;

/// How many seeds to run, after `--seeds`.
///
/// # Errors
///
/// No number, 0, or more than anybody waits for.
pub fn seeds(value: &OsStr) -> Result<u64, String> {
    let number = value.to_str().and_then(|text| text.parse().ok());
    number
        .filter(|number| (1..=MOST_SEEDS).contains(number))
        .ok_or_else(|| {
            format!(
                "--seeds {}: allowed is 1 to {MOST_SEEDS}",
                value.to_string_lossy()
            )
        })
}

/// A file to be written at the end of a program, opened at its start: that it cannot be written is known before the run,
/// and what is in it stays until then.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    file: File,
}

impl Output {
    /// The file at `path`.
    ///
    /// # Errors
    ///
    /// The file cannot be written; the error names it.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).open(path);
        Ok(Self {
            path: path.to_owned(),
            file: file.map_err(|error| unwritable(path, &error))?,
        })
    }

    /// That of `--json`, if it was asked for.
    ///
    /// # Errors
    ///
    /// As [`open`](Output::open).
    pub fn json(path: Option<&PathBuf>) -> Result<Option<Self>, Failure> {
        path.map(|path| Self::open(path)).transpose()
    }

    /// Puts `text` in place of whatever is in it.
    ///
    /// # Errors
    ///
    /// As [`open`](Output::open).
    pub fn write(mut self, text: &str) -> Result<(), Failure> {
        // A device has no length to set.
        let length = text.len() as u64;
        let plain = self.file.metadata().is_ok_and(|data| data.is_file());
        let written = self.file.write_all(text.as_bytes());
        let cut = if plain {
            self.file.set_len(length)
        } else {
            Ok(())
        };
        written
            .and(cut)
            .map_err(|error| unwritable(&self.path, &error))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Makes a folder where it is missing, and looks whether files can be written into it.
///
/// # Errors
///
/// They cannot; the error names it.
pub fn folder(path: &Path) -> Result<(), Failure> {
    let probe = path.join(format!(".probe-{}", std::process::id()));
    std::fs::create_dir_all(path)
        .and_then(|()| File::create(&probe))
        .and_then(|_| std::fs::remove_file(&probe))
        .map_err(|error| unwritable(path, &error))
}

/// What is said of a path that cannot be written.
fn unwritable(path: &Path, error: &io::Error) -> Failure {
    format!("cannot write {}: {error}", path.display()).into()
}

/// Writes rows as JSON to the file that was asked for, if one was.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_json(output: Option<Output>, rows: &impl Serialize) -> Result<(), Failure> {
    match output {
        Some(output) => output.write(&(serde_json::to_string_pretty(rows)? + "\n")),
        None => Ok(()),
    }
}

/// Refuses options beside one that does without them.
///
/// # Errors
///
/// Names the first that was given.
pub fn alone(option: &str, others: &[(&str, bool)]) -> Result<(), Failure> {
    match others.iter().find(|(_, given)| *given) {
        Some((other, _)) => Err(format!("{other} says nothing beside {option}").into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_what_is_in_it_until_it_is_written_and_one_that_cannot_be_is_named_at_once() {
        let folder = std::env::temp_dir().join(format!("limiter-output-{}", std::process::id()));
        super::folder(&folder).unwrap();
        let path = folder.join("rows.json");
        Output::open(&path).unwrap().write("a longer text").unwrap();
        let output = Output::open(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a longer text");
        output.write("short").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "short");

        // Below a file there is no folder.
        let wrong = path.join("rows.json");
        let error = Output::json(Some(&wrong)).unwrap_err().to_string();
        let begins = format!("cannot write {}: ", wrong.display());
        assert!(error.starts_with(&begins), "{error}");
        assert!(Output::json(None).unwrap().is_none());
        assert!(
            super::folder(&path)
                .unwrap_err()
                .to_string()
                .starts_with("cannot write ")
        );
        super::folder(&folder.join("plots")).unwrap();
        assert_eq!(std::fs::read_dir(folder.join("plots")).unwrap().count(), 0);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_option_that_would_be_ignored_is_named() {
        let wrong = alone("--sweep", &[("--seeds", false), ("--only", true)]).unwrap_err();
        assert_eq!(wrong.to_string(), "--only says nothing beside --sweep");
        assert!(alone("--sweep", &[("--only", false)]).is_ok());
    }
}
