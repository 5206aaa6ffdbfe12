//! The loom models: `tests/loom.rs` of each library and what its unit tests include, with both widths of the
//! admission word.

use std::fs;
use std::process::Command;

use anyhow::{Result, bail};

use crate::command::capture;
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
/// A model fails, a `tests/loom.rs` contains none, or ARCHITECTURE.md says something else of how many executions
/// a model has.
pub(crate) fn run(project: &Project) -> Result<()> {
    let table = fs::read_to_string(project.root.join("ARCHITECTURE.md"))?;
    for (library, targets) in MODELS {
        for width in Width::ALL {
            let mut models = test(project, library, width, targets);
            let end = capture(models.args(["--", "--nocapture"]))?;
            if !end.status.success() {
                println!("{}{}", end.stdout, end.stderr);
                bail!("a model of {library} failed, {width:?}");
            }
            let explored = explored(&end.stdout);
            for (name, executions) in &explored {
                println!("{name}: {executions} executions");
            }
            let wrong = differing(&table, &explored);
            if !wrong.is_empty() {
                bail!("ARCHITECTURE.md: {}", wrong.join(", "));
            }
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

/// Models and their executions, as they print them.
fn explored(output: &str) -> Vec<(String, u64)> {
    let line = |line: &str| {
        let (before, number) = line.strip_suffix(" executions")?.rsplit_once(": ")?;
        // The harness begins a line with the test's name, and the model ends it.
        let name = before.rsplit(" ... ").next().unwrap_or(before);
        Some((name.to_owned(), number.parse().ok()?))
    };
    output.lines().filter_map(line).collect()
}

/// Models of which the table says a number that is not nearly right: ten times as many, or a tenth.
fn differing(table: &str, explored: &[(String, u64)]) -> Vec<String> {
    let stated = |name: &str| -> Option<u64> {
        let rest = table.split(&format!("`{name}` ")).nth(1)?;
        let digits = rest
            .split(|c: char| !c.is_ascii_digit() && c != ',')
            .next()?;
        digits.replace(',', "").parse().ok()
    };
    let wrong = |(name, executions): &(String, u64)| {
        let said = stated(name)?;
        let nearly = said / 10 <= *executions && *executions / 10 <= said;
        (!nearly).then(|| format!("{name} has {executions} executions, not {said}"))
    };
    explored.iter().filter_map(wrong).collect()
}

fn count(list: &str) -> usize {
    list.lines().filter(|line| line.ends_with(": test")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_are_read_whether_or_not_the_harness_began_the_line() {
        let output = "running 2 tests\ntest a::b ... cell-x: 12 executions\nok\nraise by two: 345 executions\n";
        let expected = [("cell-x".to_owned(), 12), ("raise by two".to_owned(), 345)];
        assert_eq!(explored(output), expected);
    }

    #[test]
    fn a_table_that_is_wrong_by_more_than_ten_times_is_told() {
        let table = "| `cell-x` 1,200 (≤ 2), `cell-y` 30 |";
        let of = |name: &str, number| differing(table, &[(name.to_owned(), number)]).len();
        assert_eq!(
            (of("cell-x", 1_200), of("cell-x", 130), of("cell-y", 299)),
            (0, 0, 0)
        );
        assert_eq!(
            (of("cell-x", 100), of("cell-y", 3_000), of("cell-z", 1)),
            (1, 1, 0)
        );
    }
}
