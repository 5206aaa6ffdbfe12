//! What reaches users by way of a registry: packages, their features and what they depend on.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use toml::{Table, Value};

use crate::bites::synchronise;
use crate::command::{probe, run as run_command};
use crate::project::Project;

/// What is published, in the order in which it has to be.
const LIBRARIES: [&str; 3] = ["limiter-core", "limiter-std", "limiter-embassy"];
/// Features that are not for users.
const PRIVATE: [&str; 2] = ["default", "loom"];

/// Checks packages, features, the oldest dependencies, and licences and duplicates where cargo-deny is.
///
/// # Errors
///
/// The first that does not work.
pub(crate) fn run(project: &Project) -> Result<()> {
    packages(project)?;
    powerset(project)?;
    oldest(project)?;
    deny(project)
}

/// Makes the packages and builds each from what is in it.
///
/// In a folder of its own each time: a package of the same version that was made before in the same place is taken
/// for the one that was just made, out of Cargo's cache.
fn packages(project: &Project) -> Result<()> {
    let kind = format!("package-{}", std::process::id());
    let mut command = project.cargo_with(&kind, "-D warnings", &["package", "--allow-dirty"]);
    run_command(command.args(LIBRARIES.iter().flat_map(|name| ["-p", name])))?;
    Ok(fs::remove_dir_all(project.build_folder(&kind))?)
}

/// Builds each library with every set of its features that is small, and with all of them.
fn powerset(project: &Project) -> Result<()> {
    for library in LIBRARIES {
        let manifest = fs::read_to_string(project.root.join(library).join("Cargo.toml"))?;
        for set in sets(&features(&manifest)?) {
            let mut args = vec!["check", "--quiet", "-p", library, "--no-default-features"];
            args.extend(["--features", &set]);
            run_command(&mut project.cargo_with("powerset", "-D warnings", &args))?;
        }
    }
    Ok(())
}

fn features(manifest: &str) -> Result<Vec<String>> {
    let manifest: Table = manifest.parse()?;
    let features = manifest.get("features").and_then(Value::as_table);
    let names = features.context("no features")?.keys();
    Ok(names
        .filter(|name| !PRIVATE.contains(&name.as_str()))
        .cloned()
        .collect())
}

/// Sets of up to so many features show what one forgets to bring along, and what two do to one another; all
/// sets of nine would take half an hour.
const DEPTH: u32 = 2;

/// Every set of at most [`DEPTH`] names, the empty one too, and that of all, as cargo takes it.
fn sets(names: &[String]) -> Vec<String> {
    let among = |bits: u32| {
        let chosen = (0..).zip(names).filter(|(bit, _)| bits >> bit & 1 == 1);
        chosen.map(|(_, name)| name.as_str()).collect::<Vec<_>>()
    };
    let all: u32 = (1 << names.len()) - 1;
    (0..=all)
        .filter(|bits| bits.count_ones() <= DEPTH || *bits == all)
        .map(|bits| among(bits).join(","))
        .collect()
}

/// Builds the libraries with the oldest versions that they say they work with, in a copy without what only
/// tests need.
fn oldest(project: &Project) -> Result<()> {
    let copy = project.copy_at(project.build_folder("oldest"));
    fs::create_dir_all(&copy.root)?;
    synchronise(project, &copy)?;
    for path in ["", "limiter-core", "limiter-std", "limiter-embassy"] {
        let path = copy.root.join(path).join("Cargo.toml");
        let text = fs::read_to_string(&path)?;
        fs::write(&path, without_tests(&text)?)?;
    }
    // `-Z` is for nightly compilers, or for those that are told so.
    let stable = |args: &[&str]| {
        let mut command = copy.cargo_with("oldest", "-D warnings", args);
        command.env("RUSTC_BOOTSTRAP", "1");
        command
    };
    run_command(&mut stable(&[
        "update",
        "--quiet",
        "-Zdirect-minimal-versions",
    ]))?;
    let mut check = copy.cargo_with("oldest", "", &["check", "--all-features"]);
    run_command(check.args(LIBRARIES.iter().flat_map(|name| ["-p", name])))
}

/// A manifest whose workspace has the libraries alone, and nothing that only tests need.
fn without_tests(manifest: &str) -> Result<String> {
    let mut manifest: Table = manifest.parse()?;
    if let Some(Value::Table(workspace)) = manifest.get_mut("workspace") {
        workspace.insert("members".to_owned(), LIBRARIES.to_vec().into());
    }
    for key in ["dev-dependencies", "test", "example"] {
        manifest.remove(key);
    }
    if let Some(Value::Table(targets)) = manifest.get_mut("target") {
        for (_, target) in targets.iter_mut() {
            if let Value::Table(target) = target {
                target.remove("dev-dependencies");
            }
        }
    }
    Ok(toml::to_string(&manifest)?)
}

/// Licences, sources and duplicates by cargo-deny. Advisories need a data base from the network: they are checked
/// where that was fetched, and are a warning elsewhere.
fn deny(project: &Project) -> Result<()> {
    if probe("cargo", &["deny", "--version"]).is_none() {
        println!("licences, sources and duplicates are not checked: there is no cargo-deny;");
        println!("`cargo install --locked cargo-deny` brings it");
        return Ok(());
    }
    if !Path::new(&project.root).join("deny.toml").is_file() {
        bail!("deny.toml is missing");
    }
    run_command(&mut project.cargo(&["deny", "check", "bans", "licenses", "sources"]))?;
    let advisories = ["deny", "check", "advisories"];
    if run_command(&mut project.cargo(&advisories)).is_err() {
        if advisories_are_here() {
            bail!("an advisory concerns a dependency");
        }
        println!("advisories are not checked: their data base cannot be had here");
    }
    Ok(())
}

/// Whether cargo-deny has ever fetched the data base of advisories.
fn advisories_are_here() -> bool {
    let home = std::env::var_os("CARGO_HOME").map(Into::into);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    home.is_some_and(|home| {
        fs::read_dir(home.join("advisory-dbs")).is_ok_and(|mut all| {
            all.any(|entry| entry.is_ok_and(|entry| entry.path().join("crates").is_dir()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_small_set_of_features_is_there_once_and_private_ones_are_not() {
        let names = features("[features]\ndefault = []\nloom = []\na = []\nb = []\n").unwrap();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(sets(&names), ["", "a", "b", "a,b"]);
        let four = ["a", "b", "c", "d"].map(str::to_owned);
        assert_eq!(sets(&four).len(), 1 + 4 + 6 + 1);
    }

    #[test]
    fn what_only_tests_need_is_gone_from_a_manifest_and_the_rest_is_not() {
        let text = "[package]\nname = 'x'\n[dependencies]\na = '1'\n[dev-dependencies]\nb = '1'\n\
                    [target.'cfg(x)'.dev-dependencies]\nc = '1'\n[[test]]\nname = 't'\n";
        let left: Table = without_tests(text).unwrap().parse().unwrap();
        assert!(left.contains_key("dependencies") && left.contains_key("package"));
        assert!(!left.contains_key("test") && !left.contains_key("dev-dependencies"));
        assert!(left["target"]["cfg(x)"].as_table().unwrap().is_empty());
        let root = without_tests("[workspace]\nmembers = ['x', 'y']\n").unwrap();
        assert!(
            root.contains("limiter-std") && !root.contains("'y'"),
            "{root}"
        );
    }
}
