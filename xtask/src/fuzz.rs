//! The fuzzer: corpora on any compiler, and the fuzzer itself where there is a nightly one with cargo-fuzz.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::command::{capture, probe, run as run_command};
use crate::project::Project;

/// How long each target is fuzzed, and from which seed on.
struct Plan {
    time: Duration,
    seed: u32,
    features: &'static [&'static str],
}

/// The same inputs each time: whether a change passes is not by chance.
const QUICK: Plan = Plan {
    time: Duration::from_secs(10),
    seed: 1,
    features: &[],
};

/// Others each time, for it is to find something.
const LONG: Plan = Plan {
    time: Duration::from_secs(180),
    seed: 0,
    features: &["--features", "lab"],
};

/// Replays the corpora, and fuzzes each target for ten seconds, from the same seed each time.
///
/// # Errors
///
/// A target finds something, or does not build.
pub(crate) fn run(project: &Project) -> Result<()> {
    fuzz(project, &QUICK)
}

/// As [`run`], for three minutes each, from another seed each time, the files of the lab too.
///
/// # Errors
///
/// As [`run`].
pub(crate) fn long(project: &Project) -> Result<()> {
    fuzz(project, &LONG)
}

fn fuzz(project: &Project, plan: &Plan) -> Result<()> {
    let Plan {
        time,
        seed,
        features,
    } = *plan;
    run_command(
        project
            .cargo(&["test", "-p", "fuzz-targets"])
            .args(features),
    )?;
    if let Some(missing) = missing() {
        println!("not fuzzed, only replayed: {missing}");
        return Ok(());
    }
    let cargo_fuzz = |verb: &str| {
        let mut command = Command::new("cargo");
        command
            .current_dir(project.root.join("fuzz"))
            // There is no unsafe code for a sanitizer to look at.
            .args(["+nightly", "fuzz", verb, "--sanitizer", "none"])
            .arg("--target-dir")
            .arg(project.build_folder("fuzz"))
            .args(features)
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("RUSTUP_TOOLCHAIN");
        command
    };
    run_command(&mut cargo_fuzz("build"))?;
    let one = &|target: &String| -> Result<Option<String>> {
        let found = project.build_folder("fuzz-corpus").join(target);
        fs::create_dir_all(&found)?;
        let mut command = cargo_fuzz("run");
        command.arg(target).arg(&found);
        command.arg(Path::new("corpus").join(target));
        command.args(["--", "-print_final_stats=1", "-timeout=10"]);
        command.arg(format!("-max_total_time={}", time.as_secs()));
        command.arg(format!("-seed={seed}"));
        let end = capture(&mut command)?;
        if !end.status.success() {
            println!("{}{}", end.stdout, end.stderr);
            return Ok(Some(target.clone()));
        }
        let runs = executions(&end.stderr).context("the fuzzer does not say how often it ran")?;
        println!("{target:<12} {runs:>12} executions, nothing found");
        Ok(None)
    };
    let mut targets = targets(&project.root)?;
    targets.retain(|target| target != "lab" || !features.is_empty());
    let mut found = Vec::new();
    // As many at once as there are cores.
    let cores = thread::available_parallelism().map_or(1, usize::from);
    for several in targets.chunks(cores) {
        let ends: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> = several
                .iter()
                .map(|target| scope.spawn(move || one(target)))
                .collect();
            running.into_iter().map(|one| one.join()).collect()
        });
        for end in ends {
            match end {
                Ok(end) => found.extend(end?),
                Err(_) => bail!("the thread of a fuzzer panicked"),
            }
        }
    }
    if !found.is_empty() {
        let found = found.join(", ");
        bail!("{found} found something: put the files into fuzz/corpus and write tests");
    }
    Ok(())
}

/// What keeps the fuzzer from running here.
fn missing() -> Option<&'static str> {
    if probe("cargo", &["+nightly", "--version"]).is_none() {
        Some("there is no nightly compiler")
    } else if probe("cargo", &["fuzz", "--version"]).is_none() {
        Some("there is no cargo-fuzz; `cargo install cargo-fuzz` brings it")
    } else {
        None
    }
}

fn targets(root: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join("fuzz/fuzz_targets"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".rs").map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// The number in libFuzzer's `stat::number_of_executed_units: 123`.
fn executions(said: &str) -> Option<u64> {
    let line = said
        .lines()
        .find(|line| line.contains("number_of_executed_units"))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_executions_is_read_from_the_final_statistics() {
        let said = "Done 12 runs\nstat::number_of_executed_units: 4242\nstat::peak_rss_mb: 31\n";
        assert_eq!(executions(said), Some(4_242));
        assert_eq!(executions("Done"), None);
    }

    #[test]
    fn every_target_is_found_by_its_program() {
        let all = targets(&Project::here().root).unwrap();
        assert!(all.contains(&"limiter".to_owned()), "{all:?}");
        assert!(all.is_sorted());
    }
}
