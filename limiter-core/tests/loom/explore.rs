//! Running a model and counting what was explored.

// The library, which includes this file for its own models, has no std.
extern crate std;

use std::println;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Explores every interleaving of `model` and fails when there was nothing to explore.
pub(crate) fn explore(name: &str, model: impl Fn() + Sync + Send + 'static) {
    check(name, None, model);
}

/// Explores the interleavings with at most `preemptions` switches away from a thread that could go on: for
/// a whole `finish`, whose forty accesses to a dozen words are beyond an unbounded search. The cells it is
/// made of are explored without a bound.
pub(crate) fn explore_bounded(
    name: &str,
    preemptions: usize,
    model: impl Fn() + Sync + Send + 'static,
) {
    check(name, Some(preemptions), model);
}

fn check(name: &str, preemptions: Option<usize>, model: impl Fn() + Sync + Send + 'static) {
    let executions = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&executions);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let executions = executions.load(Ordering::Relaxed);
    println!("{name}: {executions} executions");
    assert!(executions > 1, "{name} explored a single execution");
}
