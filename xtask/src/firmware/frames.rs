//! What the library writes through defmt: the frames of a run, decoded on the host and compared.

use anyhow::{Context, Result, bail};
use std::fs;

use super::build::{BOARDS, Compiler};
use super::qemu::Run;
use crate::command::{capture, run as run_command};
use crate::project::Project;

const DECODER: &str = "limiter-embassy/firmware/decode/Cargo.toml";
const EXPECTED: &str = "limiter-embassy/firmware/expected/lines.txt";

/// Builds the binary, runs it, decodes what it wrote and compares.
///
/// # Errors
///
/// Something does not build or run, or a line differs.
pub(crate) fn run(project: &Project, compiler: &Compiler) -> Result<()> {
    let board = BOARDS
        .iter()
        .find(|board| board.has_wire)
        .context("no board")?;
    let folder = compiler.lines(project, board)?;
    let frames = Run::new(board, &folder, "lines", 6);
    if !frames.execute()?.success {
        bail!("lines failed");
    }
    run_command(&mut project.cargo(&["fmt", "--check", "--manifest-path", DECODER]))?;
    let mut command = project.cargo_with(
        "decode",
        "-D warnings",
        &[
            "run",
            "--quiet",
            "--locked",
            "--manifest-path",
            DECODER,
            "--",
        ],
    );
    let decoded = capture(command.arg(folder.join("lines")).arg(frames.log()))?;
    let expected = fs::read_to_string(project.root.join(EXPECTED)).context(EXPECTED)?;
    if !decoded.status.success() || decoded.stdout != expected {
        bail!(
            "decoded\n{}{}instead of what is in {EXPECTED}",
            decoded.stdout,
            decoded.stderr
        );
    }
    Ok(())
}
