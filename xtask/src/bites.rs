//! Shows that the loom models bite: each seeded fault, put into a copy of the tree, is reported.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use wait_timeout::ChildExt;

use crate::command::capture;
use crate::loom::{self, Width};
use crate::mutation::{self, Mutation};
use crate::project::Project;

/// Applies every mutation of the table in turn and runs the model that has to report it.
///
/// # Errors
///
/// A table that does not fit the tree, a model that fails without any fault, or a fault that was not reported.
pub(crate) fn run(project: &Project) -> Result<()> {
    let table = fs::read_to_string(project.root.join("xtask/mutations.toml"))?;
    let mutations = mutation::table(&table).context("xtask/mutations.toml")?;
    if mutations.is_empty() {
        println!("xtask/mutations.toml has no mutations");
        return Ok(());
    }
    fits(project, &mutations)?;

    let copy = project.copy_at(project.build_folder("loom-bites"));
    synchronise(project, &copy)?;
    without_faults(&copy, &mutations)?;

    let mut missed = 0;
    for mutation in &mutations {
        let start = Instant::now();
        let verdict = try_one(&copy, mutation)?;
        let (word, reason) = match &verdict {
            Verdict::Caught(report) => ("caught", report),
            Verdict::Missed(reason) => ("MISSED", reason),
        };
        missed += usize::from(word == "MISSED");
        println!(
            "{word}  {}: {} ({:.1} s)\n        {} `{}`: {reason}",
            mutation.file,
            mutation.why,
            start.elapsed().as_secs_f64(),
            mutation.library,
            mutation.model
        );
    }
    println!(
        "{} of {} seeded faults caught",
        mutations.len() - missed,
        mutations.len()
    );
    if missed > 0 {
        bail!("{missed} seeded faults were missed");
    }
    Ok(())
}

/// Checks every entry against the tree before anything is built.
fn fits(project: &Project, mutations: &[Mutation]) -> Result<()> {
    let mut problems = Vec::new();
    for mutation in mutations {
        if loom::targets(&mutation.library).is_none() {
            problems.push(format!("`{}` has no models", mutation.library));
        }
        let applied = fs::read_to_string(project.root.join(&mutation.file))
            .with_context(|| format!("cannot read {}", mutation.file))
            .and_then(|source| mutation.apply(&source));
        if let Err(error) = applied {
            problems.push(format!("{error:#}"));
        }
    }
    if !problems.is_empty() {
        bail!(
            "xtask/mutations.toml does not fit the tree:\n{}",
            problems.join("\n")
        );
    }
    Ok(())
}

/// Makes the copy equal to what git has or would take. Files that are equal already keep their
/// times, so that only what changed is built again.
fn synchronise(project: &Project, copy: &Project) -> Result<()> {
    let listed = capture(Command::new("git").current_dir(&project.root).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    if !listed.status.success() {
        bail!("git cannot list the tree: {}", listed.stderr.trim());
    }
    let mut wanted = Vec::new();
    for name in listed.stdout.split_terminator('\0') {
        let (from, to) = (project.root.join(name), copy.root.join(name));
        // Listed and gone: removed, but not yet for git.
        let Ok(new) = fs::read(&from) else { continue };
        if fs::read(&to).ok().as_ref() != Some(&new) {
            fs::create_dir_all(to.parent().unwrap_or(&copy.root))?;
            fs::write(&to, new)?;
        }
        wanted.push(to);
    }
    remove_others(&copy.root, &wanted)
}

fn remove_others(folder: &Path, wanted: &[PathBuf]) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, wanted)?;
        } else if !wanted.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Checks that each model passes without a fault: one that fails anyway would catch everything.
fn without_faults(copy: &Project, mutations: &[Mutation]) -> Result<()> {
    let mut done: Vec<(&str, &str, Width)> = Vec::new();
    for mutation in mutations {
        let key = (
            mutation.library.as_str(),
            mutation.model.as_str(),
            mutation.width,
        );
        if done.contains(&key) {
            continue;
        }
        done.push(key);
        let (library, model, width) = key;
        let Build::Done(programs) = build(copy, library, width)? else {
            bail!("the models of {library} do not compile ({width:?})");
        };
        let end = execute(copy, &programs, mutation)?;
        if models_run(&end.output) == 0 {
            bail!("{library} has no model `{model}`");
        }
        if end.success != Some(true) {
            bail!(
                "{library} `{model}` fails without any fault:\n{}",
                end.output
            );
        }
    }
    Ok(())
}

/// What became of a seeded fault.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Caught(String),
    Missed(String),
}

fn try_one(copy: &Project, mutation: &Mutation) -> Result<Verdict> {
    let file = copy.root.join(&mutation.file);
    let source = fs::read_to_string(&file)?;
    fs::write(&file, mutation.apply(&source)?)?;
    let verdict = match build(copy, &mutation.library, mutation.width) {
        Ok(Build::Done(programs)) => {
            execute(copy, &programs, mutation).map(|end| judge(&end, mutation))
        }
        Ok(Build::DoesNotCompile(why)) => {
            Ok(Verdict::Missed(format!("it does not compile:\n{why}")))
        }
        Err(error) => Err(error),
    };
    fs::write(&file, source)?;
    verdict
}

enum Build {
    Done(Vec<PathBuf>),
    DoesNotCompile(String),
}

/// Builds the models by themselves, so that a fault that does not compile is not taken for a report.
fn build(copy: &Project, library: &str, width: Width) -> Result<Build> {
    let targets = loom::targets(library).unwrap_or_default();
    let mut command = loom::test(copy, library, width, targets);
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
fn programs_of(messages: &str) -> Vec<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
        .collect()
}

/// How a run of a model ended.
struct End {
    /// Nothing when it was stopped because its time was over.
    success: Option<bool>,
    output: String,
}

/// Runs a mutation's model: the programs in turn until one does not succeed.
fn execute(copy: &Project, programs: &[PathBuf], mutation: &Mutation) -> Result<End> {
    let log = copy.root.with_extension("log");
    let mut output = String::new();
    let mut success = Some(true);
    for program in programs {
        let out = File::create(&log)?;
        let mut child = Command::new(program)
            // Not captured by the test harness: a panic that aborts would take its report with it.
            .args([mutation.model.as_str(), "--nocapture"])
            .current_dir(copy.root.join(&mutation.library))
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let status = child.wait_timeout(mutation.limit)?;
        if status.is_none() {
            child.kill()?;
            child.wait()?;
        }
        success = status.map(|status| status.success());
        output.push_str(&String::from_utf8_lossy(&fs::read(&log)?));
        if success != Some(true) {
            break;
        }
    }
    Ok(End { success, output })
}

/// Only a panic, which is how an assertion and loom itself report, catches a fault.
fn judge(end: &End, mutation: &Mutation) -> Verdict {
    let missed = |reason: String| Verdict::Missed(reason);
    match (end.success, report(&end.output)) {
        (None, _) => missed(format!("no report in {}", seconds(mutation.limit))),
        (Some(true), _) => missed("the model passes".to_owned()),
        (Some(false), None) => missed(format!("it ended without a report:\n{}", end.output)),
        (Some(false), Some(report)) if !end.output.contains(&mutation.report) => missed(format!(
            "the report does not contain {:?}: {report}",
            mutation.report
        )),
        (Some(false), Some(report)) => Verdict::Caught(report),
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs())
}

/// The first panic's message: the line after the one that says where.
fn report(output: &str) -> Option<String> {
    let mut lines = output.lines();
    lines.find(|line| line.contains("panicked at "))?;
    Some(lines.next().unwrap_or_default().trim().to_owned())
}

/// How many models the runs of the test harness found.
fn models_run(output: &str) -> usize {
    output
        .lines()
        .filter_map(|line| line.strip_prefix("running ")?.split(' ').next())
        .filter_map(|count| count.parse::<usize>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PANIC: &str = "running 1 test\n\nthread 'x' panicked at tests/loom.rs:9:5:\nassertion failed: one holder\nnote: run with\ntest x ... FAILED\n";

    fn verdict(success: Option<bool>, output: &str, wanted: &str) -> Verdict {
        let table = format!(
            "[[mutation]]\nwhy='w'\nfile='f'\nfind='a'\nreplace='b'\ncrate='c'\nmodel='m'\nseconds=5\nreport='{wanted}'"
        );
        let mutation = mutation::table(&table).unwrap().remove(0);
        let output = output.to_owned();
        judge(&End { success, output }, &mutation)
    }

    #[test]
    fn a_panic_catches_a_fault_and_its_message_is_the_report() {
        let caught = Verdict::Caught("assertion failed: one holder".to_owned());
        assert_eq!(verdict(Some(false), PANIC, ""), caught);
        assert_eq!(verdict(Some(false), PANIC, "one holder"), caught);
    }

    #[test]
    fn a_pass_a_time_out_a_silent_death_or_another_report_is_a_miss() {
        for (success, output, wanted) in [
            (Some(true), PANIC, ""),
            (None, PANIC, ""),
            (Some(false), "running 1 test\n", ""),
            (Some(false), PANIC, "two holders"),
        ] {
            let verdict = verdict(success, output, wanted);
            assert!(matches!(verdict, Verdict::Missed(_)), "{verdict:?}");
        }
    }

    #[test]
    fn a_filter_that_matches_nothing_is_seen() {
        assert_eq!(
            models_run("\nrunning 0 tests\n\ntest result: ok. 0 passed"),
            0
        );
        assert_eq!(models_run("\nrunning 2 tests\nx\nrunning 12 tests\n"), 14);
        assert_eq!(models_run(""), 0);
    }

    #[test]
    fn the_programs_are_read_from_cargo_s_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"limiter_core"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"limiter_core"},"executable":"/t/limiter_core-1"}
{"reason":"compiler-artifact","target":{"name":"loom"},"executable":"/t/loom-1"}
{"reason":"build-finished","success":true}"#;
        let programs = ["/t/limiter_core-1", "/t/loom-1"].map(PathBuf::from);
        assert_eq!(programs_of(messages), programs);
        assert!(programs_of("not json").is_empty());
    }
}
