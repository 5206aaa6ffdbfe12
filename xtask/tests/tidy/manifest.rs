//! The rules of manifests.

use toml::{Table, Value};

use crate::Fault;

/// Crates whose features pick how a core without compare-and-swap gets one, and the features that
/// a library may turn on all the same. Everything else is the final binary's choice.
const BACK_ENDS: [(&str, &[&str]); 2] = [
    ("portable-atomic", &["require-cas"]),
    ("critical-section", &[]),
];

/// Everything wrong with one manifest.
pub(crate) fn faults(path: &str, text: &str) -> Vec<Fault> {
    let fault = |what: String| Fault {
        path: path.to_owned(),
        line: 1,
        what,
    };
    let manifest: Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![fault(format!("not TOML: {error}"))],
    };
    let mut found = Vec::new();
    if let Some(Value::String(version)) = at(&manifest, &["package", "rust-version"]) {
        found.push(format!(
            "rust-version {version} is stated here; only the root's [workspace.package] states it"
        ));
    }
    // A package that is a workspace of its own is a final binary, or built like one.
    let is_binary = manifest.contains_key("package") && manifest.contains_key("workspace");
    if !is_binary {
        for (kind, table) in dependency_tables(&manifest) {
            found.extend(back_ends_in(kind, table));
        }
        found.extend(forwarded(&manifest));
    }
    found.into_iter().map(fault).collect()
}

fn at<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (last, folders) = path.split_last()?;
    let mut table = table;
    for name in folders {
        table = table.get(*name)?.as_table()?;
    }
    table.get(*last)
}

fn dependency_tables(manifest: &Table) -> Vec<(&'static str, &Table)> {
    let platforms = manifest.get("target").and_then(Value::as_table);
    let workspace = manifest.get("workspace").and_then(Value::as_table);
    let owners = platforms
        .into_iter()
        .flat_map(Table::values)
        .filter_map(Value::as_table)
        .chain(workspace)
        .chain([manifest]);
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    owners
        .flat_map(|owner| {
            let table = |kind| Some((kind, owner.get(kind)?.as_table()?));
            kinds.into_iter().filter_map(table)
        })
        .collect()
}

/// What tests on a host need of `critical-section`; nobody who uses the library gets it.
const TESTS_MAY: (&str, &str) = ("critical-section", "std");

/// Features of back ends that a table of dependencies turns on.
fn back_ends_in(kind: &str, dependencies: &Table) -> Vec<String> {
    let mut found = Vec::new();
    for (name, dependency) in dependencies {
        let package = dependency.get("package").and_then(Value::as_str);
        let Some(allowed) = allowed(package.unwrap_or(name)) else {
            continue;
        };
        let features = dependency.get("features").and_then(Value::as_array);
        for feature in features.into_iter().flatten().filter_map(Value::as_str) {
            let for_tests = kind == "dev-dependencies" && (name.as_str(), feature) == TESTS_MAY;
            if !allowed.contains(&feature) && !for_tests {
                found.push(format!("turns on {name}/{feature}"));
            }
        }
        let inherited = dependency.get("workspace").is_some();
        let defaults = dependency.get("default-features").and_then(Value::as_bool);
        if name == "portable-atomic" && !inherited && defaults != Some(false) {
            found.push(format!("turns on the default features of {name}"));
        }
    }
    found
}

/// Features of the package that hand on a back end's feature.
fn forwarded(manifest: &Table) -> Vec<String> {
    let features = manifest.get("features").and_then(Value::as_table);
    let parts = features
        .into_iter()
        .flat_map(Table::values)
        .filter_map(Value::as_array)
        .flatten();
    parts
        .filter_map(Value::as_str)
        .filter(|part| {
            part.split_once('/').is_some_and(|(name, feature)| {
                allowed(name.trim_end_matches('?'))
                    .is_some_and(|features| !features.contains(&feature))
            })
        })
        .map(|part| format!("forwards {part}"))
        .collect()
}

fn allowed(package: &str) -> Option<&'static [&'static str]> {
    let (_, features) = BACK_ENDS.iter().find(|(name, _)| *name == package)?;
    Some(features)
}
