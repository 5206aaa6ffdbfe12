//! Allocations and bytes. They are counted by a program of their own, `cost-heap`, because a counting
//! allocator costs time and instructions in whatever allocates.

use super::catalogue::CASES;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a case has to do with the heap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heap {
    /// The operation.
    pub op: String,
    /// Whose.
    pub who: String,
    /// Allocations for each operation.
    pub allocations: f64,
    /// Bytes of the object, on the heap and itself.
    pub bytes: u64,
}

/// Something that runs a function and says how often it allocated, and how many bytes it kept.
pub type Counter = fn(&mut dyn FnMut()) -> (u64, i64);

/// Counts every case.
pub fn count(counter: Counter) -> Vec<Heap> {
    const WARM_UP: u64 = 2_000;
    const COUNTED: u64 = 10_000;
    let count = |case: &super::case::Case| {
        let mut subject = None;
        let (_, kept) = counter(&mut || subject = Some(case.build()));
        let subject = subject?;
        subject.run(1..1 + WARM_UP);
        let counted = 1 + WARM_UP..1 + WARM_UP + COUNTED;
        let (allocations, _) = counter(&mut || {
            subject.run(counted.clone());
        });
        let bytes = u64::try_from(kept).unwrap_or(0);
        Some(Heap {
            op: case.op.to_owned(),
            who: case.who.to_owned(),
            allocations: allocations as f64 / COUNTED as f64,
            bytes: bytes.saturating_sub(subject.packing() as u64),
        })
    };
    CASES.iter().filter_map(count).collect()
}

/// Builds `cost-heap` beside this program, if cargo runs it, and asks it.
///
/// # Errors
///
/// It could not be built or started, or says something else.
pub fn ask(program: &Path) -> io::Result<Vec<Heap>> {
    if let Some(cargo) = std::env::var_os("CARGO") {
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--release", "-p", "benches"])
            .args(["--bin", "cost-heap"])
            .status()?;
        if !built.success() {
            return Err(io::Error::other("cost-heap does not build"));
        }
    }
    let output = Command::new(program.with_file_name("cost-heap"))
        .stdin(Stdio::null())
        .output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}
