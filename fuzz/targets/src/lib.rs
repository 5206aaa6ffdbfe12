//! What the fuzzer runs: bytes become operations, times and settings, and what the library makes of them is
//! held against the models of its own tests.
//!
//! A target panics when something is wrong. [`ALL`] names them; each has a corpus of its name in
//! `fuzz/corpus`, which is replayed as a test, and a program of its name in `fuzz/fuzz_targets`.

mod admission;
mod breaker;
mod budget;
mod call;
mod callers;
mod config;
mod headers;
mod input;
#[cfg(feature = "lab")]
mod lab;
mod laws;
mod limiter;
mod line;
mod partitions;
mod priorities;
mod record;

/// A function that panics when the library does not do what it should with these bytes.
pub type Target = fn(&[u8]);

/// Every target by its name.
pub const ALL: &[(&str, Target)] = &[
    ("admission", admission::run),
    ("breaker", breaker::run),
    ("budget", budget::run),
    ("call", call::run),
    ("callers", callers::run),
    ("config", config::run),
    ("headers", headers::run),
    #[cfg(feature = "lab")]
    ("lab", lab::run),
    ("laws", laws::run),
    ("limiter", limiter::run),
    ("line", line::run),
    ("partitions", partitions::run),
    ("priorities", priorities::run),
    ("record", record::run),
];

/// Runs the target of this name.
///
/// # Panics
///
/// If there is none, or when it finds something.
pub fn run(name: &str, data: &[u8]) {
    match ALL.iter().find(|(other, _)| *other == name) {
        Some((_, target)) => target(data),
        None => panic!("no target {name}"),
    }
}
