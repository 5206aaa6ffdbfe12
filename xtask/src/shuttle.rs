//! Whole limiters under random schedules.

use anyhow::Result;

use crate::command::run as run_command;
use crate::project::Project;

/// Runs `limiter-core/tests/shuttle.rs`.
///
/// # Errors
///
/// Something is wrong under a schedule; the report has the seed.
pub(crate) fn run(project: &Project) -> Result<()> {
    let line = "test --profile loom -p limiter-core --test shuttle";
    run_command(&mut project.cargo_with(
        "shuttle",
        "--cfg limiter_shuttle",
        &line.split(' ').collect::<Vec<_>>(),
    ))
}
