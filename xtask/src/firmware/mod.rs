//! The firmware binaries, built for the boards that QEMU emulates, run there, and compared with what is
//! expected of them.

pub(crate) mod build;
mod frames;
mod node;
mod qemu;
mod seeded;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::command::run as run_command;
use crate::project::Project;
use crate::toolchain::components;
use build::{BOARDS, Board, Compiler, MANIFEST};
use qemu::{Run, shown};

/// Below it an instruction takes this many times two nanoseconds; the periods of the interrupts grow with it,
/// so that some hundreds of instructions lie between two of them, and differ, so that they meet everywhere.
const SHIFTS: [(u32, [u32; 3]); 5] = [
    (4, [151, 137, 113]),
    (5, [401, 331, 277]),
    (6, [761, 653, 563]),
    (7, [1_511, 1_303, 1_129]),
    (8, [2_903, 2_617, 2_269]),
];
/// Slots that each of five tasks takes in one run.
const ROUNDS: u32 = 6_000;

/// Builds everything and runs it.
///
/// # Errors
///
/// What is missing, does not build, ends with another status, or prints something else than expected.
pub(crate) fn run(project: &Project) -> Result<()> {
    components(&[("rustfmt", "fmt")])?;
    run_command(&mut project.cargo(&["fmt", "--check", "--manifest-path", MANIFEST]))?;
    qemu::find()?;
    let compiler = Compiler::find()?;
    for board in &BOARDS {
        let binaries = compiler.binaries(project, board)?;
        every_binary(project, board, &binaries).with_context(|| board.name.to_owned())?;
        if board.has_wire {
            node::run(project, board, &binaries).context("node")?;
        }
    }
    frames::run(project, &compiler)?;
    seeded::run(project, &compiler)
}

fn every_binary(project: &Project, board: &Board, binaries: &Path) -> Result<()> {
    expect(project, &Run::new(board, binaries, "wrap", 6))?;
    expect(project, &Run::new(board, binaries, "cost", 10))?;
    if let Some((shift, save)) = board.crash {
        expect(
            project,
            &Run::new(board, binaries, "crashloop", shift).with(&[save]),
        )?;
    }
    for (shift, reloads) in SHIFTS {
        expect(project, &interrupts(board, binaries, shift, reloads))?;
    }
    Ok(())
}

fn interrupts(board: &Board, binaries: &Path, shift: u32, reloads: [u32; 3]) -> Run {
    let reloads = reloads.map(|reload| reload * board.interrupt_period);
    Run::new(board, binaries, "isr", shift)
        .with(&reloads)
        .with(&[ROUNDS])
}

/// Runs a binary, which has to succeed and to print what is in `expected/`, lines of notes left out.
fn expect(project: &Project, run: &Run) -> Result<()> {
    let end = run.execute()?;
    let (notes, text) = split(&end.output);
    for note in notes {
        println!("    {note}");
    }
    let file = project.root.join(format!(
        "limiter-embassy/firmware/expected/{}.txt",
        run.binary
    ));
    let expected = fs::read_to_string(&file).with_context(|| shown(&file))?;
    if !end.success {
        bail!("{} failed:\n{}", run.binary, end.output);
    }
    if text != expected {
        bail!(
            "{} printed\n{text}instead of what is in {}",
            run.binary,
            shown(&file)
        );
    }
    Ok(())
}

/// Notes, whose numbers may differ from one compiler to the next, and the rest.
fn split(output: &str) -> (Vec<&str>, String) {
    let (notes, rest): (Vec<_>, Vec<_>) =
        output.lines().partition(|line| line.starts_with("note: "));
    let mut text = rest.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    (notes, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_told_apart_from_what_is_compared() {
        let (notes, text) = split("one\nnote: 17 of 40\ntwo\n");
        assert_eq!(notes, ["note: 17 of 40"]);
        assert_eq!(text, "one\ntwo\n");
        assert_eq!(split(""), (Vec::new(), String::new()));
    }

    #[test]
    fn every_binary_that_runs_has_an_expected_output() {
        let folder = Project::here().root.join("limiter-embassy/firmware");
        for binary in ["wrap", "cost", "isr", "crashloop", "lines"] {
            assert!(folder.join(format!("expected/{binary}.txt")).is_file());
            let source = folder.join("src/bin").join(binary);
            assert!(source.is_dir() || source.with_extension("rs").is_file());
        }
    }
}
