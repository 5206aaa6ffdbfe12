//! The adapter for firmware: its tests at three tick rates, and its builds without features and for targets.

use anyhow::Result;

use crate::command::run as run_command;
use crate::project::Project;
use crate::toolchain::{BareMetal, components};

/// One megahertz is embassy-time's own default, and part of the host's tests.
const RATES: [&str; 2] = ["tick-hz-1_000", "tick-hz-32_768"];
const TARGETS: [&str; 2] = ["thumbv7m-none-eabi", "thumbv7em-none-eabihf"];
const PACKAGE: [&str; 2] = ["-p", "limiter-embassy"];

/// Runs every check of the adapter that the host's part leaves out.
///
/// # Errors
///
/// The first command that fails.
pub(crate) fn run(project: &Project) -> Result<()> {
    components(&[("clippy", "clippy")])?;
    let clippy = ["clippy", "-p", "limiter-embassy", "--no-default-features"];
    run_command(project.cargo(&clippy).args(["--", "-D", "warnings"]))?;
    for rate in RATES {
        // A folder of its own for each rate: the clock is below everything else.
        let feature = format!("embassy-time/{rate}");
        let args = ["test", "--tests", "--features", &feature];
        let mut command = project.cargo_with(&format!("embassy-{rate}"), "-D warnings", &args);
        run_command(command.args(PACKAGE))?;
    }
    let compiler = BareMetal::find(&TARGETS)?;
    for features in ["", "defmt", "log", "defmt,log"] {
        let args = [&PACKAGE[..], &["--features", features]].concat();
        run_command(&mut compiler.build(project, "embassy", "-D warnings", &TARGETS, &args))?;
    }
    Ok(())
}
