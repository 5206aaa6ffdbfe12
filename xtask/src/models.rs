//! Loom models as programs: built apart from being run, and run with a limit of time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use wait_timeout::ChildExt;

use crate::command::capture;
use crate::loom::{self, Width};
use crate::project::Project;

/// A program with models, and what makes `cargo test` build no other.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) target: &'static [&'static str],
    pub(crate) path: PathBuf,
}

/// What became of a build.
pub(crate) enum Build {
    Done(Vec<Program>),
    /// With what the compiler said.
    DoesNotCompile(String),
}

/// Builds test targets of a library under loom.
///
/// # Errors
///
/// cargo cannot be started or does not say what it built.
pub(crate) fn build(
    tree: &Project,
    library: &str,
    width: Width,
    targets: &[&str],
) -> Result<Build> {
    let mut command = loom::test(tree, library, width, targets);
    command.args(["--no-run", "--message-format", "json-render-diagnostics"]);
    let built = capture(&mut command)?;
    if !built.status.success() {
        return Ok(Build::DoesNotCompile(built.stderr));
    }
    let programs = programs_of(&built.stdout);
    if programs.is_empty() {
        bail!("cargo did not say where it built the models");
    }
    Ok(Build::Done(programs))
}

/// The programs among cargo's messages.
fn programs_of(messages: &str) -> Vec<Program> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|message| {
            let target: &[&str] = match message["target"]["kind"][0].as_str()? {
                "lib" => &["--lib"],
                "test" => &["--test", "loom"],
                _ => return None,
            };
            let path = message["executable"].as_str()?.into();
            Some(Program { target, path })
        })
        .collect()
}

/// How a run of models ended.
pub(crate) struct End {
    /// Nothing when it was stopped because its time was over.
    pub(crate) success: Option<bool>,
    pub(crate) output: String,
}

/// Runs the models of a program whose names contain `model`.
///
/// # Errors
///
/// The program cannot be started or its output not be kept.
pub(crate) fn execute(
    tree: &Project,
    library: &str,
    program: &Path,
    model: &str,
    limit: Duration,
) -> Result<End> {
    let log = tree.root.with_extension("log");
    let out = File::create(&log)?;
    let mut child = Command::new(program)
        // Not captured by the test harness: a panic that aborts would take its report with it.
        .args([model, "--nocapture"])
        .current_dir(tree.root.join(library))
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out)
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let status = child.wait_timeout(limit)?;
    if status.is_none() {
        child.kill()?;
        child.wait()?;
    }
    Ok(End {
        success: status.map(|status| status.success()),
        output: String::from_utf8_lossy(&fs::read(&log)?).into_owned(),
    })
}

impl End {
    /// The first panic's message: the line after the one that says where.
    pub(crate) fn report(&self) -> Option<String> {
        let mut lines = self.output.lines();
        lines.find(|line| line.contains("panicked at "))?;
        Some(lines.next().unwrap_or_default().trim().to_owned())
    }

    /// How many models the test harness found.
    pub(crate) fn models(&self) -> usize {
        let mut lines = self.output.lines();
        lines
            .find_map(|line| {
                let count = line.strip_prefix("running ")?.split(' ').next()?;
                count.parse().ok()
            })
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(output: &str) -> End {
        let output = output.to_owned();
        End {
            success: Some(false),
            output,
        }
    }

    #[test]
    fn the_report_is_the_message_of_the_first_panic() {
        let text = "running 1 test\nthread 'x' panicked at a.rs:9:5:\n two holders\nnote: run\nthread 'x' panicked at b.rs:1:1:\nlater\n";
        assert_eq!(end(text).report().as_deref(), Some("two holders"));
        assert_eq!(end("running 1 test\n").report(), None);
    }

    #[test]
    fn a_filter_that_matches_nothing_is_seen() {
        assert_eq!(end("\nrunning 0 tests\n\ntest result: ok.").models(), 0);
        assert_eq!(end("\nrunning 12 tests\n").models(), 12);
        assert_eq!(end("").models(), 0);
    }

    #[test]
    fn the_programs_are_read_from_cargo_s_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"kind":["lib"]},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["lib"]},"executable":"/t/core-1"}
{"reason":"compiler-artifact","target":{"kind":["test"]},"executable":"/t/loom-1"}
{"reason":"compiler-artifact","target":{"kind":["bin"]},"executable":"/t/other"}
{"reason":"build-finished","success":true}"#;
        let programs = [
            Program {
                target: &["--lib"],
                path: "/t/core-1".into(),
            },
            Program {
                target: &["--test", "loom"],
                path: "/t/loom-1".into(),
            },
        ];
        assert_eq!(programs_of(messages), programs);
        assert!(programs_of("not json").is_empty());
    }
}
