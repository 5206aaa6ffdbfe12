//! The boards and how a binary for each is built.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::command::run;
use crate::project::Project;
use crate::toolchain::BareMetal;

pub(crate) const MANIFEST: &str = "limiter-embassy/firmware/Cargo.toml";

/// A board that QEMU emulates, and how atomics of its core are built.
#[derive(Debug)]
pub(crate) struct Board {
    /// What a build is called.
    pub(crate) name: &'static str,
    pub(crate) target: &'static str,
    /// What QEMU calls it.
    pub(crate) machine: &'static str,
    flags: &'static str,
    features: &'static str,
    /// How much longer the timers' periods are on a slower core, or with a faster clock of the timers.
    pub(crate) interrupt_period: u32,
    /// Where the crash loop runs: a shift at which a tick of its timer is an instruction or less, and the
    /// ticks before an attempt leaves that it sweeps: the end of the save, where memory is written.
    pub(crate) crash: Option<(u32, u32)>,
    /// Where the node runs; its time is that of the host.
    pub(crate) has_wire: bool,
}

pub(crate) const STRICT: &str = "-D warnings";
pub(crate) const SINGLE_CORE: &str = "-D warnings --cfg portable_atomic_unsafe_assume_single_core";
pub(crate) const M0: &str = "thumbv6m-none-eabi";
pub(crate) const M3: &str = "thumbv7m-none-eabi";
pub(crate) const M4: &str = "thumbv7em-none-eabihf";

/// The Cortex-M0 with both back ends for compare-and-swap, the M3 and the M4.
pub(crate) const BOARDS: [Board; 4] = [
    Board {
        name: "microbit",
        target: M0,
        machine: "microbit",
        flags: SINGLE_CORE,
        features: "",
        interrupt_period: 2,
        crash: Some((6, 300)),
        has_wire: false,
    },
    Board {
        name: "microbit-critical-section",
        target: M0,
        machine: "microbit",
        flags: STRICT,
        features: "critical-section",
        interrupt_period: 3,
        crash: None,
        has_wire: false,
    },
    Board {
        name: "lm3s6965evb",
        target: M3,
        machine: "lm3s6965evb",
        flags: STRICT,
        features: "",
        interrupt_period: 1,
        crash: Some((7, 500)),
        has_wire: true,
    },
    Board {
        name: "mps2-an386",
        target: M4,
        machine: "mps2-an386",
        flags: STRICT,
        features: "",
        interrupt_period: 2,
        crash: None,
        has_wire: false,
    },
];

/// Builds the firmware's binaries.
#[derive(Debug)]
pub(crate) struct Compiler(BareMetal);

impl Compiler {
    /// Finds or installs a compiler for every board.
    ///
    /// # Errors
    ///
    /// There is none.
    pub(crate) fn find() -> Result<Self> {
        BareMetal::find(&[M0, M3, M4]).map(Self)
    }

    /// Builds all binaries for a board, and returns the folder they are in.
    ///
    /// # Errors
    ///
    /// A build that fails.
    pub(crate) fn binaries(&self, project: &Project, board: &Board) -> Result<PathBuf> {
        let args = ["--bins", "--features", board.features];
        self.build(project, board.flags, board.target, &args)
    }

    /// Builds one binary for a board, and returns the folder it is in.
    ///
    /// # Errors
    ///
    /// A build that fails.
    pub(crate) fn binary(&self, project: &Project, board: &Board, name: &str) -> Result<PathBuf> {
        let args = ["--bin", name, "--features", board.features];
        self.build(project, board.flags, board.target, &args)
    }

    /// Builds the binary that writes through defmt.
    ///
    /// # Errors
    ///
    /// A build that fails.
    pub(crate) fn lines(&self, project: &Project, board: &Board) -> Result<PathBuf> {
        let args = ["--bin", "lines", "--features", "defmt"];
        let mut command = self.command(project, board.flags, board.target, &args);
        // Without it only errors are written.
        run(command.env("DEFMT_LOG", "info"))?;
        Ok(folder(project, board.flags)
            .join(board.target)
            .join("release"))
    }

    /// Builds with these flags and arguments, and returns the folder that has the binaries.
    ///
    /// # Errors
    ///
    /// A build that fails.
    pub(crate) fn build(
        &self,
        project: &Project,
        flags: &str,
        target: &str,
        args: &[&str],
    ) -> Result<PathBuf> {
        run(&mut self.command(project, flags, target, args))?;
        Ok(folder(project, flags).join(target).join("release"))
    }

    fn command(&self, project: &Project, flags: &str, target: &str, args: &[&str]) -> Command {
        let mut all = vec!["--manifest-path", MANIFEST, "--locked"];
        all.extend(args);
        self.0.build(project, kind(flags), flags, &[target], &all)
    }
}

/// One folder for each set of flags: with two in one, cargo would build everything again each time.
fn kind(flags: &str) -> &'static str {
    if flags == SINGLE_CORE {
        "firmware-single-core"
    } else {
        "firmware"
    }
}

fn folder(project: &Project, flags: &str) -> PathBuf {
    project.build_folder(kind(flags))
}
