//! Shows that the loom models bite: each seeded fault, put into a copy of the tree, is reported.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::command::capture;
use crate::loom;
use crate::models::{self, Build, End};
use crate::mutation::{self, Mutation};
use crate::project::Project;

/// Applies every mutation of the table in turn and runs the model that has to report it.
///
/// # Errors
///
/// A table that is empty or does not fit the tree, a model that fails without any fault, or a fault that was not reported.
pub(crate) fn run(project: &Project) -> Result<()> {
    let table = fs::read_to_string(project.root.join("xtask/mutations.toml"))?;
    let mutations = mutation::table(&table).context("xtask/mutations.toml")?;
    if mutations.is_empty() {
        bail!("xtask/mutations.toml has no mutations");
    }
    fits(project, &mutations)?;

    let copy = project.copy_at(project.build_folder("loom-bites"));
    synchronise(project, &copy)?;
    let targets = without_faults(&copy, &mutations)?;

    let mut missed = 0;
    for (mutation, target) in mutations.iter().zip(targets) {
        let start = Instant::now();
        let verdict = try_one(&copy, mutation, target)?;
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
pub(crate) fn synchronise(project: &Project, copy: &Project) -> Result<()> {
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

/// What makes `cargo test` build a model and no other program.
type Target = &'static [&'static str];

/// Checks that each mutation's model passes without a fault, since one that fails anyway would catch
/// everything, and finds out where it is.
fn without_faults(copy: &Project, mutations: &[Mutation]) -> Result<Vec<Target>> {
    let mut targets: Vec<Target> = Vec::new();
    for mutation in mutations {
        let known = mutations[..targets.len()].iter().position(|other| {
            (&other.library, &other.model, other.width)
                == (&mutation.library, &mutation.model, mutation.width)
        });
        targets.push(match known {
            Some(known) => targets[known],
            None => target_of(copy, mutation)?,
        });
    }
    Ok(targets)
}

fn target_of(copy: &Project, mutation: &Mutation) -> Result<Target> {
    let (library, model) = (&mutation.library, &mutation.model);
    let all = loom::targets(library).unwrap_or_default();
    let programs = match models::build(copy, library, mutation.width, all)? {
        Build::Done(programs) => programs,
        Build::DoesNotCompile(why) => bail!("the models of {library} do not compile:\n{why}"),
    };
    let mut found = Vec::new();
    for program in programs {
        let end = models::execute(copy, library, &program.path, model, mutation.limit)?;
        if end.success != Some(true) {
            bail!(
                "{library} `{model}` fails without any fault:\n{}",
                end.output
            );
        }
        if end.models() > 0 {
            found.push(program.target);
        }
    }
    match found[..] {
        [target] => Ok(target),
        [] => bail!("{library} has no model `{model}`"),
        _ => bail!("{library} has `{model}` in several programs; name one model"),
    }
}

/// What became of a seeded fault.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Caught(String),
    Missed(String),
}

fn try_one(copy: &Project, mutation: &Mutation, target: Target) -> Result<Verdict> {
    let file = copy.root.join(&mutation.file);
    let source = fs::read_to_string(&file)?;
    fs::write(&file, mutation.apply(&source)?)?;
    let verdict = with_fault(copy, mutation, target);
    fs::write(&file, source)?;
    verdict
}

fn with_fault(copy: &Project, mutation: &Mutation, target: Target) -> Result<Verdict> {
    let Mutation { library, model, .. } = mutation;
    match models::build(copy, library, mutation.width, target)? {
        Build::DoesNotCompile(why) => Ok(Verdict::Missed(format!("it does not compile:\n{why}"))),
        Build::Done(programs) => {
            let program = programs.first().context("nothing was built")?;
            let end = models::execute(copy, library, &program.path, model, mutation.limit)?;
            Ok(judge(&end, mutation))
        }
    }
}

/// Only a panic, which is how an assertion and loom itself report, catches a fault.
fn judge(end: &End, mutation: &Mutation) -> Verdict {
    let missed = |reason: String| Verdict::Missed(reason);
    match (end.success, end.report()) {
        (None, _) => missed(format!("no report in {} s", mutation.limit.as_secs())),
        (Some(true), _) => missed("the model passes".to_owned()),
        (Some(false), None) => missed(format!("it ended without a report:\n{}", end.output)),
        (Some(false), Some(report)) if !end.output.contains(&mutation.report) => missed(format!(
            "the report does not contain {:?}: {report}",
            mutation.report
        )),
        (Some(false), Some(report)) => Verdict::Caught(report),
    }
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
}
