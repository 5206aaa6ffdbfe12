//! What needs nothing but the host: format, lints, tests, documentation.

use anyhow::Result;

use crate::command::run as run_command;
use crate::project::Project;
use crate::toolchain;

/// Runs every check of the host.
///
/// # Errors
///
/// The first command that fails.
pub(crate) fn run(project: &Project) -> Result<()> {
    toolchain::components(&[("rustfmt", "fmt"), ("clippy", "clippy")])?;
    for line in [
        "fmt --all --check",
        "clippy --workspace --all-targets --all-features -- -D warnings",
        // Code that only a feature uses is dead without it, and a feature may hide a missing import.
        "clippy -p limiter-core -p limiter-std --no-default-features -- -D warnings",
        // Without a choice of targets: the examples are built and the doctests are run.
        "test --workspace --all-features",
    ] {
        run_command(&mut project.cargo(&words(line)))?;
    }
    run_command(
        project
            .cargo(&words("doc --workspace --no-deps --all-features"))
            .env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    run_command(&mut project.cargo_with(
        "narrow",
        "-D warnings --cfg limiter_narrow",
        &words("test -p limiter-core --all-features"),
    ))
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}
