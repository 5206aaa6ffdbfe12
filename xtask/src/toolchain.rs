//! What a fresh machine lacks: rustup's components and targets, or Debian's own compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{probe, run};
use crate::project::Project;

/// Debian's packages with a compiler for bare-metal targets: rustc, cargo, the sources of `core`
/// (there is no built one for these targets) and a linker.
const DEBIAN: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld"];
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";

/// Makes sure that `cargo`'s subcommands of these rustup components exist, each given as
/// `(component, subcommand)`.
///
/// # Errors
///
/// One is missing and rustup cannot add it.
pub(crate) fn components(wanted: &[(&str, &str)]) -> Result<()> {
    let missing: Vec<_> = wanted
        .iter()
        .filter(|(_, subcommand)| probe("cargo", &[subcommand, "--version"]).is_none())
        .map(|(component, _)| *component)
        .collect();
    if missing.is_empty() || rustup("component", &missing) {
        return Ok(());
    }
    let missing = missing.join(" ");
    bail!("missing: {missing}; `rustup component add {missing}` installs it");
}

fn rustup(kind: &str, names: &[&str]) -> bool {
    probe("rustup", &["--version"]).is_some()
        && run(Command::new("rustup").args([kind, "add"]).args(names)).is_ok()
}

/// A compiler for bare-metal targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BareMetal {
    /// The default one, which has `core` for these targets.
    Default,
    /// Debian's, which builds `core` from its sources.
    Debian,
}

impl BareMetal {
    /// Finds a compiler for all these targets, or installs one: what is there already comes first,
    /// then rustup, then Debian's packages.
    ///
    /// # Errors
    ///
    /// There is none and neither way could bring one; says what is missing.
    pub(crate) fn find(targets: &[&str]) -> Result<Self> {
        let after = |brought: bool| brought.then(|| Self::installed(targets)).flatten();
        let found = Self::installed(targets)
            .or_else(|| after(rustup("target", targets)))
            .or_else(|| after(install_debian()))
            .with_context(|| {
                format!(
                    "no compiler for bare metal; missing are either rustup's targets, which `rustup target add {}` \
                     brings, or Debian's packages, which `apt-get install --no-install-recommends {}` brings as root",
                    targets.join(" "),
                    DEBIAN.join(" ")
                )
            })?;
        match found {
            Self::Default => println!("compiler: the default one has every target"),
            Self::Debian => println!("compiler: {DEBIAN_RUSTC}, `core` from its sources"),
        }
        Ok(found)
    }

    fn installed(targets: &[&str]) -> Option<Self> {
        if targets.iter().all(|target| has_core(target)) {
            Some(Self::Default)
        } else if debian_is_complete() {
            Some(Self::Debian)
        } else {
            None
        }
    }

    /// A release build for these targets at the root, with exactly these compiler flags, in a build
    /// folder of its own.
    pub(crate) fn build(
        self,
        project: &Project,
        kind: &str,
        flags: &str,
        targets: &[&str],
        args: &[&str],
    ) -> Command {
        let mut all = vec!["build", "--release"];
        all.extend(targets.iter().flat_map(|target| ["--target", target]));
        all.extend(args);
        match self {
            Self::Default => project.cargo_with(kind, flags, &all),
            Self::Debian => {
                all.push("-Zbuild-std=core");
                let mut command = Command::new(DEBIAN_CARGO);
                command
                    .current_dir(&project.root)
                    .args(all)
                    .env("CARGO_TARGET_DIR", project.build_folder(kind))
                    .env("RUSTFLAGS", flags)
                    .env("RUSTC", DEBIAN_RUSTC)
                    // `-Zbuild-std` on a stable compiler.
                    .env("RUSTC_BOOTSTRAP", "1")
                    .envs(
                        targets
                            .iter()
                            .map(|target| (linker_variable(target), "ld.lld")),
                    )
                    .env_remove("CARGO_ENCODED_RUSTFLAGS")
                    // Set by `cargo run` for the default compiler's libraries.
                    .env_remove("LD_LIBRARY_PATH");
                command
            }
        }
    }
}

/// Whether the default compiler has a built `core` for this target.
fn has_core(target: &str) -> bool {
    probe("rustc", &["--print", "target-libdir", "--target", target])
        .is_some_and(|folder| Path::new(&folder).is_dir())
}

fn linker_variable(target: &str) -> String {
    let target = target.to_uppercase().replace('-', "_");
    format!("CARGO_TARGET_{target}_LINKER")
}

fn debian_is_complete() -> bool {
    Path::new(DEBIAN_CARGO).is_file()
        && debian_sources().is_some_and(|folder| folder.join("core/Cargo.toml").is_file())
        && probe("ld.lld", &["--version"]).is_some()
}

fn debian_sources() -> Option<PathBuf> {
    let root = probe(DEBIAN_RUSTC, &["--print", "sysroot"])?;
    Some(Path::new(&root).join("lib/rustlib/src/rust/library"))
}

fn install_debian() -> bool {
    install(&DEBIAN)
}

/// Installs Debian's packages where this is Debian and we may.
pub(crate) fn install(packages: &[&str]) -> bool {
    if probe("apt-get", &["--version"]).is_none() {
        return false;
    }
    if probe("id", &["-u"]).as_deref() != Some("0") {
        println!("not root: Debian's packages are not installed");
        return false;
    }
    let apt = || {
        let mut command = Command::new("apt-get");
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            // Somebody else's installation is waited for.
            .args(["-q", "-o", "DPkg::Lock::Timeout=300"]);
        command
    };
    let mut install = apt();
    install
        .args(["install", "-y", "--no-install-recommends"])
        .args(packages);
    run(apt().arg("update")).is_ok() && run(&mut install).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_that_sets_a_linker_is_the_one_cargo_reads() {
        assert_eq!(
            linker_variable("thumbv6m-none-eabi"),
            "CARGO_TARGET_THUMBV6M_NONE_EABI_LINKER"
        );
    }

    #[test]
    fn a_target_that_does_not_exist_has_no_core() {
        assert!(!has_core("no-such-target"));
    }

    #[test]
    fn debian_builds_core_from_source_with_its_own_compiler_and_linker() {
        let command = BareMetal::Debian.build(
            &Project::here(),
            "kind",
            "--cfg x",
            &["thumbv7m-none-eabi"],
            &["-p", "limiter-core"],
        );
        let line = crate::command::show(&command);
        for word in [
            "RUSTC=/usr/bin/rustc",
            "RUSTC_BOOTSTRAP=1",
            "CARGO_TARGET_THUMBV7M_NONE_EABI_LINKER=ld.lld",
            "RUSTFLAGS='--cfg x'",
            "/usr/bin/cargo build --release --target thumbv7m-none-eabi",
            "-Zbuild-std=core",
        ] {
            assert!(line.contains(word), "{word} is not in {line}");
        }
    }
}
