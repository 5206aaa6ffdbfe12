//! What the programs of this package have in common: how they end, and where their rows go.

use lexopt::prelude::*;
use serde::Serialize;
use std::ffi::OsStr;
use std::path::PathBuf;
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
/// Another argument, or none where one is needed.
pub fn json_and_seed(help: &str) -> Result<Option<(Option<PathBuf>, u64)>, Failure> {
    let (mut json, mut seed) = (None, 1);
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
    Ok(Some((json, seed)))
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

/// Writes rows as JSON to the file that was asked for, if one was.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_json(path: Option<&PathBuf>, rows: &impl Serialize) -> Result<(), Failure> {
    if let Some(path) = path {
        std::fs::write(path, serde_json::to_string_pretty(rows)? + "\n")?;
    }
    Ok(())
}
