//! Shows that the interrupt test bites: with an admission that loads and then stores, it has to fail.

use std::fs;

use anyhow::{Context, Result, bail};

use super::build::{BOARDS, Compiler};
use super::{SHIFTS, interrupts};
use crate::bites::synchronise;
use crate::project::Project;

/// One core without compare-and-swap, and one with it.
const ON: [&str; 2] = ["microbit", "lm3s6965evb"];
const FILE: &str = "limiter-core/src/cell/admission.rs";
const FIND: &str = "            match self
                .0
                .compare_exchange_weak(word, after, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return Ok(Occupancy(after)),
                Err(current) => word = current,
            }
";
const REPLACE: &str = "            self.0.store(after, Ordering::Relaxed);
            word = after;
            return Ok(Occupancy(word));
";

/// Builds the fault into a copy of the tree, and runs the test there.
///
/// # Errors
///
/// The fault does not fit the tree, does not build, or is not found.
pub(crate) fn run(project: &Project, compiler: &Compiler) -> Result<()> {
    let copy = project.copy_at(project.build_folder("firmware-seeded"));
    synchronise(project, &copy)?;
    let file = copy.root.join(FILE);
    let source = fs::read_to_string(&file)?;
    fs::write(&file, seed(&source)?)?;
    println!("the next ones have to fail: admission loads and then stores");
    for board in BOARDS.iter().filter(|board| ON.contains(&board.name)) {
        let binaries = compiler.binary(&copy, board, "isr")?;
        let caught = SHIFTS.iter().skip(1).find_map(|(shift, reloads)| {
            let end = interrupts(board, &binaries, *shift, *reloads).execute();
            end.map(|end| if end.success { None } else { Some(end.output) })
                .transpose()
        });
        let output = caught
            .transpose()?
            .with_context(|| format!("{}: not found with any period", board.name))?;
        match output.lines().find(|line| line.starts_with("FAILED")) {
            Some(said) => println!("    caught: {said}"),
            None => bail!("{}: it ended without a report:\n{output}", board.name),
        }
    }
    Ok(())
}

fn seed(source: &str) -> Result<String> {
    let found = source.matches(FIND).count();
    if found != 1 {
        bail!("{FILE}: the admission to replace occurs {found} times, not once");
    }
    Ok(source.replacen(FIND, REPLACE, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fault_fits_the_tree() {
        let source = fs::read_to_string(Project::here().root.join(FILE)).unwrap();
        assert!(seed(&source).is_ok_and(|seeded| !seeded.contains(FIND)));
        assert!(seed("").is_err());
    }
}
