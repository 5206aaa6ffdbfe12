//! The core on bare metal, and the back ends of its atomics as firmware authors choose them.

use anyhow::{Result, bail};

use crate::command::{Captured, capture, run as run_command};
use crate::project::Project;
use crate::toolchain::{BareMetal, components};

/// Cores that have compare-and-swap: nothing to choose.
const WITH_CAS: [&str; 2] = ["thumbv7m-none-eabi", "thumbv7em-none-eabihf"];
/// Cores that have none: the final binary picks a back end of portable-atomic.
const WITHOUT_CAS: [&str; 2] = ["thumbv6m-none-eabi", "riscv32imc-unknown-none-elf"];

const CORE: [&str; 3] = ["-p", "limiter-core", "--no-default-features"];
/// Code that only a small target compiles is linted here or nowhere.
const STRICT: &str = "-D warnings";
const STRICT_SINGLE_CORE: &str = "-D warnings --cfg portable_atomic_unsafe_assume_single_core";
const USER: &str = "xtask/no-std-user/Cargo.toml";
/// From portable-atomic's message on a target that needs a choice.
const CHOOSE: &str = "dependents require atomic CAS but not available on this target by default";

/// Builds for every target, with every back end.
///
/// # Errors
///
/// No compiler, a build that fails, or a missing choice of back end that is not told in one error.
pub(crate) fn run(project: &Project) -> Result<()> {
    // The binary is a workspace of its own, which formatting the whole tree leaves out.
    components(&[("rustfmt", "fmt")])?;
    run_command(&mut project.cargo(&["fmt", "--check", "--manifest-path", USER]))?;

    let compiler = BareMetal::find(&[WITH_CAS, WITHOUT_CAS].concat())?;
    let plain =
        |targets: &[&str], args: &[&str]| compiler.build(project, "no-std", STRICT, targets, args);
    run_command(&mut plain(&WITH_CAS, &CORE))?;
    run_command(&mut compiler.build(
        project,
        "no-std-single-core",
        STRICT_SINGLE_CORE,
        &WITHOUT_CAS,
        &CORE,
    ))?;
    // The binary turns on portable-atomic/critical-section. One target at a time: Cargo would unite the
    // features of critical-section that each architecture's implementation sets.
    for target in WITHOUT_CAS {
        run_command(&mut plain(&[target], &["--manifest-path", USER]))?;
    }
    println!("the next ones have to fail, with one error:");
    for target in WITHOUT_CAS {
        no_choice_is_one_error(&capture(&mut plain(&[target], &CORE))?)?;
    }
    Ok(())
}

/// Checks that a build failed for want of a back end, and said so in one error.
fn no_choice_is_one_error(build: &Captured) -> Result<()> {
    let errors: Vec<_> = build
        .stderr
        .lines()
        .filter(|line| line.starts_with("error") && !line.contains("could not compile"))
        .collect();
    let problem = if build.status.success() {
        "the core built without a back end for compare-and-swap"
    } else if errors.len() != 1 {
        "a missing back end has to be told in exactly one error"
    } else if !errors[0].contains(CHOOSE) {
        "the error does not say that a back end has to be chosen"
    } else {
        println!("{}", errors[0]);
        return Ok(());
    };
    bail!("{problem}; the build said:\n{}", build.stderr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn build(succeeds: bool, stderr: &str) -> Captured {
        let subcommand = if succeeds { "--version" } else { "no-such" };
        let end = capture(Command::new("cargo").arg(subcommand)).unwrap();
        Captured {
            stderr: stderr.to_owned(),
            ..end
        }
    }

    fn told(line: &str) -> String {
        format!(
            "   Compiling x\nerror[E0277]: {line}\n  --> x\nerror: could not compile `x` (lib)\n"
        )
    }

    #[test]
    fn a_missing_back_end_told_in_one_error_is_accepted() {
        let text = told(CHOOSE);
        assert!(no_choice_is_one_error(&build(false, &text)).is_ok());
    }

    #[test]
    fn a_build_that_succeeds_or_fails_otherwise_or_in_many_errors_is_not() {
        let one = told(CHOOSE);
        let two = one.repeat(2);
        for (succeeds, text) in [
            (true, one.as_str()),
            (false, two.as_str()),
            (false, told("can't find crate for `core`").as_str()),
            (false, ""),
        ] {
            assert!(no_choice_is_one_error(&build(succeeds, text)).is_err());
        }
    }
}
