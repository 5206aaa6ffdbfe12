//! The loom models: `tests/loom.rs` of each library and what its unit tests include, with both widths of the
//! admission word.

use std::process::Command;

use anyhow::{Result, bail};

use crate::command::{capture, run as run_command};
use crate::project::Project;

/// The libraries with models and the test targets that have them. The core's cells are modelled in its
/// unit tests, which see what is private.
const MODELS: [(&str, &[&str]); 2] = [
    ("limiter-core", &["--lib", "--test", "loom"]),
    ("limiter-std", &["--test", "loom"]),
];

/// The width of the admission word in a build for loom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// The host's machine word.
    Wide,
    /// 32 bits, as on a small target.
    Narrow,
}

impl Width {
    /// Both widths.
    pub(crate) const ALL: [Width; 2] = [Width::Wide, Width::Narrow];

    fn folder(self) -> &'static str {
        match self {
            Width::Wide => "loom",
            Width::Narrow => "loom-narrow",
        }
    }

    fn flags(self) -> &'static str {
        match self {
            Width::Wide => "--cfg limiter_loom",
            Width::Narrow => "--cfg limiter_loom --cfg limiter_narrow",
        }
    }
}

/// Runs the models of every library.
///
/// # Errors
///
/// A model fails, or a `tests/loom.rs` contains none.
pub(crate) fn run(project: &Project) -> Result<()> {
    for (library, targets) in MODELS {
        for width in Width::ALL {
            run_command(&mut test(project, library, width, targets))?;
            let mut list = test(project, library, width, &["--test", "loom"]);
            let models = count(&capture(list.args(["--", "--list"]))?.stdout);
            if models == 0 {
                bail!("{library}/tests/loom.rs has no test under --cfg limiter_loom");
            }
            println!("{library}: {models} models of tests/loom.rs hold, {width:?}");
        }
    }
    Ok(())
}

/// The test targets with models of a library.
pub(crate) fn targets(library: &str) -> Option<&'static [&'static str]> {
    let (_, targets) = MODELS.iter().find(|(name, _)| *name == library)?;
    Some(targets)
}

/// `cargo test` for these test targets of a library, under loom.
pub(crate) fn test(project: &Project, library: &str, width: Width, targets: &[&str]) -> Command {
    let mut args = vec!["test", "--profile", "loom", "-p", library];
    args.extend(["--features", "loom"]);
    args.extend(targets);
    project.cargo_with(width.folder(), width.flags(), &args)
}

fn count(list: &str) -> usize {
    list.lines().filter(|line| line.ends_with(": test")).count()
}
