//! The tree keeps the rules that no compiler checks. Each is shown to bite on a bad snippet beside it.

mod bites;
mod code;
mod manifest;
mod models;
mod source;
mod table;

use std::fmt;
use std::fs;
use std::path::Path;

/// A place that breaks a rule.
struct Fault {
    path: String,
    line: usize,
    what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Everything wrong with one file, given its path from the root with `/` between folders.
fn faults(path: &str, text: &str) -> Vec<Fault> {
    if path.ends_with(".rs") {
        code::faults(path, text)
    } else if path == "Cargo.toml" || path.ends_with("/Cargo.toml") {
        manifest::faults(path, text)
    } else {
        Vec::new()
    }
}

/// Every file below a folder that is neither hidden nor built, as path from the root and text.
fn tree() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders = vec![root.to_path_buf()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with('.') || name == "target" {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") || name == "Cargo.toml" {
                let below = path.strip_prefix(root).unwrap();
                let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
                files.push((parts.join("/"), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn the_tree_keeps_every_rule() {
    let found: Vec<_> = tree()
        .iter()
        .flat_map(|(path, text)| faults(path, text))
        .map(|fault| fault.to_string())
        .collect();
    assert!(
        found.is_empty(),
        "{} faults:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn the_walk_sees_the_files_that_the_rules_are_about() {
    let files = tree();
    for path in [
        "Cargo.toml",
        "limiter-core/Cargo.toml",
        "limiter-core/src/law/mod.rs",
        "limiter-core/src/cell/sync.rs",
        "limiter-core/src/cell/admission.rs",
        "xtask/tests/tidy/main.rs",
    ] {
        assert!(files.iter().any(|(seen, _)| seen == path), "{path}");
    }
}
