//! What the programs of this package have in common: how they end, and where their rows go.

use serde::Serialize;
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
