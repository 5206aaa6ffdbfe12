//! QEMU: finding it, and running a binary on a board with a status and an output.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use wait_timeout::ChildExt;

use super::build::Board;
use crate::command::{probe, show};
use crate::toolchain::install;

pub(crate) const PROGRAM: &str = "qemu-system-arm";
/// The longest run takes a tenth of it.
const PATIENCE: Duration = Duration::from_secs(180);

/// Makes sure that QEMU is there.
///
/// # Errors
///
/// It is missing and cannot be installed.
pub(crate) fn find() -> Result<()> {
    let there = || probe(PROGRAM, &["--version"]).is_some();
    let found = there() || (install(&[PROGRAM]) && there());
    if !found {
        bail!(
            "missing: {PROGRAM}; `apt-get install --no-install-recommends {PROGRAM}` installs it as root on Debian"
        );
    }
    Ok(())
}

/// A binary on a board, with what it is told.
#[derive(Debug)]
pub(crate) struct Run {
    machine: &'static str,
    folder: PathBuf,
    pub(crate) binary: &'static str,
    shift: u32,
    numbers: Vec<u32>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) success: bool,
    pub(crate) output: String,
}

impl Run {
    /// `shift`: an instruction takes 2^shift nanoseconds of the board's time.
    pub(crate) fn new(board: &Board, folder: &Path, binary: &'static str, shift: u32) -> Self {
        Self {
            machine: board.machine,
            folder: folder.to_path_buf(),
            binary,
            shift,
            numbers: Vec::new(),
        }
    }

    /// Numbers for the binary's command line.
    pub(crate) fn with(mut self, numbers: &[u32]) -> Self {
        self.numbers.extend(numbers);
        self
    }

    /// What it wrote.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join(format!("{}.log", self.binary))
    }

    fn command(&self) -> Command {
        let mut semihosting = format!("enable=on,target=native,arg={}", self.binary);
        for number in &self.numbers {
            semihosting.push_str(&format!(",arg={number}"));
        }
        let mut command = Command::new(PROGRAM);
        command
            .args(["-M", self.machine, "-display", "none", "-monitor", "none"])
            .args(["-serial", "none"])
            // Time is a function of the instructions executed, and sleep takes none of ours.
            .args(["-icount", &format!("shift={},sleep=off", self.shift)])
            .args(["-semihosting-config", &semihosting])
            .arg("-kernel")
            .arg(self.folder.join(self.binary));
        command
    }

    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// It could not be started, or did not end.
    pub(crate) fn execute(&self) -> Result<End> {
        let mut command = self.command();
        println!("$ {}", show(&command));
        let log = self.log();
        let out = File::create(&log)?;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {PROGRAM}"))?;
        let status = child.wait_timeout(PATIENCE)?;
        if status.is_none() {
            child.kill()?;
            child.wait()?;
        }
        let output = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        match status {
            Some(status) => Ok(End {
                success: status.success(),
                output,
            }),
            None => bail!(
                "{} did not end in {} s; it said:\n{output}",
                self.binary,
                PATIENCE.as_secs()
            ),
        }
    }
}

/// A path as a message shows it.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}
