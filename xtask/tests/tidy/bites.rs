//! Each rule on a bad snippet, and on the good one beside it.

use crate::faults;

#[track_caller]
fn bad(path: &str, text: &str, what: &str) {
    let found: Vec<_> = faults(path, text).iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    assert!(found[0].contains(what), "{text}: {found:?}");
}

#[track_caller]
fn good(path: &str, text: &str) {
    let found: Vec<_> = faults(path, text).iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{text}: {found:?}");
}

const LAW: &str = "limiter-core/src/law/aimd.rs";
const CORE: &str = "limiter-core/src/limiter.rs";
const CELL: &str = "limiter-core/src/cell/budget.rs";
const TABLE: &str = "//! op | success | failure | pairs with | why\n";

#[test]
fn a_law_names_no_atomic_ordering_clock_float_or_allocation() {
    bad(LAW, "use crate::cell::sync::AtomicU32;", "`AtomicU32`");
    bad(LAW, "fn f(o: Ordering) {}", "`Ordering`");
    bad(LAW, "fn f() { x(sync::Ordering::Relaxed) }", "`Ordering`");
    good(LAW, "fn f() { a.cmp(&b) == core::cmp::Ordering::Less }");
    good(LAW, "use core::cmp::{self, Ordering}; fn f(o: Ordering) {}");
    bad(LAW, "fn f(c: &ManualClock) {}", "`ManualClock`");
    bad(LAW, "fn f(x: f64) {}", "`f64`");
    bad(LAW, "fn f(x: f32) {}", "`f32`");
    bad(LAW, "extern crate alloc;", "`alloc`");
    bad(LAW, "const GAIN: u32 = (4 as X * 1.5) as u32;", "1.5");
    good(
        LAW,
        "/// No f64, no Clock.\nfn f(now: Ticks) -> u32 { pair.0.1 + 0x1e }",
    );
}

#[test]
fn the_core_has_no_standard_library_allocation_or_float() {
    bad(CORE, "use std::time::Instant;", "`std`");
    bad(CORE, "extern crate alloc;", "`alloc`");
    bad(CORE, "fn f() -> f32 { x() }", "`f32`");
    bad(CORE, "const X: T = 1e3;", "1e3");
    bad(CORE, "#[cfg(any(test, x))] use std::vec::Vec;", "`std`");
    bad(CORE, "#[cfg(not(test))] use std::vec::Vec;", "`std`");
    bad(CORE, "#[cfg(test)] fn a() {} fn b() { std::f() }", "`std`");
    good(
        CORE,
        "#[cfg(test)] mod tests { use std::vec; const X: f64 = 0.5; }",
    );
    good(CORE, "#[cfg(all(test, x))] extern crate std;");
    good(
        CORE,
        "//! Unlike `std::sync`.\nconst X: usize = 1usize << 0xe_u8; const Y: &str = \"f64\";",
    );
    good("limiter-core/src/law/tests.rs", "use std::vec::Vec;");
    good("limiter-std/src/lib.rs", "use std::time::Instant;");
}

#[test]
fn only_sync_names_atomic_types_and_the_others_import_them_from_it() {
    bad(CORE, "use portable_atomic as p;", "`portable_atomic`");
    bad(CORE, "use core::sync::atomic::{self as a};", "`atomic`");
    bad(CORE, "use loom::sync::atomic as a;", "`atomic`");
    bad(CORE, "struct X(AtomicU32);", "`AtomicU32`");
    bad(CORE, "use crate::other::AtomicU32;", "`AtomicU32`");
    good(
        CORE,
        "use crate::cell::sync::{AtomicU32, Ordering}; struct X(AtomicU32);",
    );
    good(CORE, "struct X(crate::cell::sync::AtomicU32);");
    good(CORE, "use core::cmp::Ordering;");
    good(
        "limiter-core/src/cell/sync.rs",
        "pub(crate) use portable_atomic::AtomicU32;",
    );
    good(
        CELL,
        &format!("{TABLE}use super::sync::AtomicWord;\nstruct X(AtomicWord);"),
    );
}

#[test]
fn nothing_is_left_undone_or_ignored_anywhere() {
    let anywhere = "benches/src/lib.rs";
    bad(anywhere, "fn f() { todo!() }", "`todo!`");
    bad(
        anywhere,
        "fn f() { unimplemented!(\"x\") }",
        "`unimplemented!`",
    );
    bad(anywhere, "#[test]\n#[ignore]\nfn f() {}", "ignored");
    bad(
        anywhere,
        "#[test]\n#[ignore = \"slow\"]\nfn f() {}",
        "ignored",
    );
    bad(anywhere, "#[cfg_attr(miri, ignore)]\nfn f() {}", "ignored");
    bad(
        anywhere,
        "/// ```ignore\n/// f()\n/// ```\nfn f() {}",
        "ignored",
    );
    good(
        anywhere,
        "// todo!() and #[ignore]\nfn f() { ignore(todo) }",
    );
}

#[test]
fn a_cell_opens_with_its_ordering_table() {
    bad(
        CELL,
        "//! The budget's word.\n\nstruct X;",
        "ordering table",
    );
    bad(
        CELL,
        &format!("struct X;\nmod x {{\n{TABLE}}}"),
        "ordering table",
    );
    good(
        CELL,
        &format!("//! The budget's word.\n//!\n{TABLE}struct X;"),
    );
    good("limiter-core/src/cell/mod.rs", "mod budget;");
}

#[test]
fn a_file_has_at_most_four_hundred_lines() {
    bad("benches/src/lib.rs", &"\n".repeat(401), "401 lines");
    good("benches/src/lib.rs", &"\n".repeat(400));
}

#[test]
fn a_source_that_cannot_be_read_is_not_taken_for_tidy() {
    bad(CORE, "fn f( {", "not Rust");
    bad("limiter-core/Cargo.toml", "[package", "not TOML");
}

#[test]
fn a_library_picks_no_back_end_for_atomics() {
    let manifest = "limiter-core/Cargo.toml";
    for section in [
        "dependencies",
        "dev-dependencies",
        "target.'cfg(x)'.dependencies",
    ] {
        let pick = |what| format!("[package]\nname = 'x'\n[{section}]\nportable-atomic = {what}");
        bad(
            manifest,
            &pick("{ version = '1', default-features = false, features = ['critical-section'] }"),
            "critical-section",
        );
        bad(
            manifest,
            &pick("{ workspace = true, features = ['fallback'] }"),
            "fallback",
        );
        bad(manifest, &pick("'1'"), "default features");
        good(manifest, &pick("{ workspace = true }"));
        good(
            manifest,
            &pick("{ version = '1', default-features = false, features = ['require-cas'] }"),
        );
    }
    bad(
        "Cargo.toml",
        "[workspace.dependencies]\nportable-atomic = '1'",
        "default features",
    );
    bad(
        manifest,
        "[features]\nx = ['portable-atomic?/critical-section']",
        "forwards",
    );
    bad(
        manifest,
        "[features]\nx = ['critical-section/std']",
        "forwards",
    );
    bad(
        manifest,
        "[dependencies]\ncs = { package = 'critical-section', version = '1', features = ['std'] }",
        "cs/std",
    );
    good(manifest, "[dependencies]\ncritical-section = '1'");
    good(
        manifest,
        "[dev-dependencies]\ncritical-section = { version = '1', features = ['std'] }",
    );
    good(
        manifest,
        "[features]\nx = ['portable-atomic/require-cas', 'dep:loom', 'limiter-core/loom']",
    );
    good(
        "xtask/no-std-user/Cargo.toml",
        "[workspace]\n[package]\nname = 'x'\n[dependencies]\nportable-atomic = { version = '1', features = ['critical-section'] }",
    );
}

#[test]
fn the_oldest_compiler_is_stated_once() {
    bad(
        "benches/Cargo.toml",
        "[package]\nrust-version = '1.90'",
        "1.90",
    );
    good(
        "benches/Cargo.toml",
        "[package]\nrust-version.workspace = true",
    );
    good("Cargo.toml", "[workspace.package]\nrust-version = '1.85'");
}
