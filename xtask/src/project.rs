//! Where the tree and its build folders are, and `cargo` as it is called there.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The tree that is tested and the folder that takes what is built.
#[derive(Debug)]
pub(crate) struct Project {
    /// The repository's root.
    pub(crate) root: PathBuf,
    target: PathBuf,
}

impl Project {
    /// The tree that this program was built from.
    pub(crate) fn here() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = root.parent().unwrap_or(root).to_path_buf();
        let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
        // A relative folder is meant from where the command was given.
        let target = match std::env::current_dir() {
            Ok(here) if std::env::var_os("CARGO_TARGET_DIR").is_some() => here.join(target),
            _ => root.join(target),
        };
        Project { root, target }
    }

    /// Another copy of the tree, built into folders of its own: cargo tells packages apart by their path
    /// from the root, and would take what was built from one copy for the other.
    pub(crate) fn copy_at(&self, root: PathBuf) -> Self {
        let target = root.with_extension("target");
        Project { root, target }
    }

    /// A folder for one kind of build: flags of the compiler that differ in one folder would
    /// rebuild it each time.
    pub(crate) fn build_folder(&self, kind: &str) -> PathBuf {
        self.target.join("xtask").join(kind)
    }

    /// The same, and empty, where what older builds left would be taken for the new one's.
    pub(crate) fn fresh_build_folder(&self, kind: &str) -> std::io::Result<PathBuf> {
        let folder = self.build_folder(kind);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        Ok(folder)
    }

    /// `cargo` at the root, with the caller's own build folder and flags.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command.current_dir(&self.root).args(args);
        command
    }

    /// `cargo` at the root with exactly these compiler flags, in a build folder of its own.
    pub(crate) fn cargo_with(&self, kind: &str, flags: &str, args: &[&str]) -> Command {
        let mut command = self.cargo(args);
        command
            .env("CARGO_TARGET_DIR", self.build_folder(kind))
            .env("RUSTFLAGS", flags)
            .env_remove("CARGO_ENCODED_RUSTFLAGS");
        command
    }
}
