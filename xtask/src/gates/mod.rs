//! The machine code of the hot paths: what must not be in it, on any path that a release build can take.

mod asm;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::command::run as run_command;
use crate::firmware::build::{M0, M3, SINGLE_CORE};
use crate::project::Project;
use crate::toolchain::BareMetal;
use asm::{Family, Functions, Kind};

const MANIFEST: &str = "xtask/gates/Cargo.toml";

/// The functions of `xtask/gates` whose code is read.
const ROOTS: [&str; 10] = [
    "acquire",
    "refuse",
    "release",
    "finish",
    "admit_class",
    "admit_partition",
    "settle_partition",
    "pass",
    "withdraw",
    "deposit",
];

/// What the end of a window leads to. It divides (once in thousands of operations); everything else is forbidden
/// there, too.
const COLD: [&str; 2] = ["12close_window", "14is_long_enough"];

/// Faults in `xtask/gates/src/seeded.rs`, where they are, and which gate has to find each.
const SEEDED: [(&str, bool, Kind); 7] = [
    ("6seeded6panics", true, Kind::Panic),
    ("6seeded9allocates", true, Kind::Allocation),
    ("6seeded6floats", true, Kind::Float),
    ("6seeded7divides", true, Kind::Division),
    ("6seeded14divides_inside", true, Kind::Division),
    ("6seeded6hosted5locks", false, Kind::Lock),
    ("6seeded6hosted16calls_the_system", false, Kind::System),
];

/// Reads the code for this machine and for a Cortex-M0 and M3.
///
/// # Errors
///
/// A hot path with something in it that must not be there, or a gate that does not find a fault put in on purpose.
pub(crate) fn run(project: &Project) -> Result<()> {
    run_command(&mut project.cargo(&["fmt", "--check", "--manifest-path", MANIFEST]))?;
    if cfg!(target_arch = "x86_64") {
        let folder = project.fresh_build_folder("gates")?;
        let args = ["build", "--release", "--manifest-path", MANIFEST];
        // Static, or a function that is called twice is called by a register.
        let flags = "--emit=asm -Crelocation-model=static";
        run_command(&mut project.cargo_with("gates", flags, &args))?;
        check("x86-64", &folder.join("release/deps"), Family::X86, true)?;
    } else {
        println!("not an x86-64 machine: its own code is not read");
    }
    let compiler = BareMetal::find(&[M0, M3])?;
    let folder = project.fresh_build_folder("gates-bare-metal")?;
    let flags = format!("{SINGLE_CORE} --emit=asm");
    for target in [M0, M3] {
        let args = ["--manifest-path", MANIFEST];
        let build = &mut compiler.build(project, "gates-bare-metal", &flags, &[target], &args);
        run_command(build)?;
        let deps = folder.join(target).join("release/deps");
        check(target, &deps, Family::Thumb, false)?;
    }
    Ok(())
}

fn check(target: &str, deps: &Path, family: Family, hosted: bool) -> Result<()> {
    let mut functions = Functions::new();
    for entry in fs::read_dir(deps).with_context(|| deps.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "s") {
            asm::read(&fs::read_to_string(&path)?, family, &mut functions);
        }
    }
    for (name, everywhere, kind) in SEEDED {
        if !everywhere && !hosted {
            continue;
        }
        let found = faults(&functions, &format!("5gates{name}"))?;
        if !found.iter().any(|(seen, _)| *seen == kind) {
            bail!("on {target} the gate does not find {kind:?} in {name}: {found:?}");
        }
    }
    for root in ROOTS {
        let found = faults(&functions, &format!("5gates{}{root}", root.len()))?;
        if !found.is_empty() {
            let found: Vec<_> = found
                .iter()
                .map(|(kind, at)| format!("{kind:?}: {at}"))
                .collect();
            bail!("{root} on {target}\n{}", found.join("\n"));
        }
        println!("{target:<22} {root:<16} nothing that must not be there");
    }
    Ok(())
}

/// What must not be there and is, in a function and all that it leads to.
fn faults(functions: &Functions, part: &str) -> Result<Vec<(Kind, String)>> {
    let mut names = functions.keys().filter(|name| name.contains(part));
    let (Some(root), None) = (names.next(), names.next()) else {
        bail!("there is not one function {part}");
    };
    let mut found = walk(functions, root, false);
    found.retain(|(kind, _)| *kind != Kind::Division);
    found.extend(
        walk(functions, root, true)
            .into_iter()
            .filter(|(kind, _)| *kind == Kind::Division),
    );
    Ok(found)
}

/// Everything in a function and in what it calls; `hot` stops where it gets cold.
fn walk(functions: &Functions, root: &str, hot: bool) -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::from([root]);
    let mut next = vec![root];
    while let Some(name) = next.pop() {
        let Some(function) = functions.get(name) else {
            continue;
        };
        let at = |what: &str| format!("{what} in {name}");
        found.extend(function.found.iter().map(|(kind, line)| (*kind, at(line))));
        for call in &function.calls {
            if hot && COLD.iter().any(|cold| call.contains(cold)) || asm::is_harmless(call) {
                continue;
            }
            if let Some(kind) = asm::symbol(call) {
                found.push((kind, at(call)));
            } else if !functions.contains_key(call) {
                found.push((Kind::System, at(call)));
            } else if seen.insert(call) {
                next.push(call);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions() -> Functions {
        let text = "\t.type\t_ZN5gates1aE,@function
_ZN5gates1aE:
\tcallq\tb
\tcallq\tmemcpy@PLT
\t.type\tb,@function
b:
\tjmp\t_ZN12close_windowE
\t.type\t_ZN12close_windowE,@function
_ZN12close_windowE:
\tdivq\t%rcx
\tcallq\t_ZN4core9panicking5panicE
\tcallq\tsched_yield@PLT
";
        let mut functions = Functions::new();
        asm::read(text, Family::X86, &mut functions);
        functions
    }

    #[test]
    fn what_is_called_is_read_too_and_only_divisions_may_be_where_it_is_cold() {
        let kinds: Vec<_> = faults(&functions(), "5gates1a")
            .unwrap()
            .into_iter()
            .map(|(kind, _)| kind)
            .collect();
        assert_eq!(kinds, [Kind::Panic, Kind::System]);
    }

    #[test]
    fn a_root_that_is_missing_is_an_error() {
        assert!(faults(&functions(), "5gates7missing").is_err());
    }
}
