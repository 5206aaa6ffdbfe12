//! The soak: everything at once, for ten minutes.

use anyhow::Result;

use crate::command::run as run_command;
use crate::project::Project;

/// Runs it.
///
/// # Errors
///
/// Something is left at the end, memory grew, or fewer than a thousand million operations were done.
pub(crate) fn run(project: &Project) -> Result<()> {
    let line = "run --release -p benches --bin soak -- --seconds 600 --operations 1000000000";
    run_command(&mut project.cargo(&line.split(' ').collect::<Vec<_>>()))
}
