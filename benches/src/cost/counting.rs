//! Instructions: this program runs itself under callgrind, which counts only while the operations are done,
//! the loop of two or three instructions around them included.
//!
//! callgrind has no vDSO: a clock read there is a system call, of whose work it counts nothing.

use super::case::Subject;
use super::catalogue;
use core::hint::black_box;
use core::ops::Range;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// What the program is called with to do nothing but operations, before `OP IMPL`.
pub const FLAG: &str = "--operate";

const COUNTED: u64 = 40_000;

/// Does operations: those that warm up, and those that are counted.
///
/// # Errors
///
/// There is no such case, or not every operation did what it is there for.
pub fn operate(op: &str, who: &str) -> Result<(), String> {
    let case = catalogue::find(op, who).ok_or_else(|| format!("no case {op} of {who}"))?;
    let subject = case.build();
    let first = 1 + case.warm_up;
    let done = subject.run(1..first) + counted_by_callgrind(&*subject, first..first + COUNTED);
    let all = case.warm_up + COUNTED;
    if done != all {
        return Err(format!("{op} of {who}: {done} of {all} operations"));
    }
    Ok(())
}

/// callgrind counts in here alone; it is told by this name.
#[inline(never)]
fn counted_by_callgrind(subject: &dyn Subject, operations: Range<u64>) -> u64 {
    black_box(subject.run(operations))
}

/// Whether there is a valgrind.
pub fn available() -> bool {
    Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Instructions for each operation of a case.
///
/// # Errors
///
/// valgrind cannot be started or fails.
pub fn instructions(program: &Path, op: &str, who: &str) -> io::Result<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg("--toggle-collect=*counted_by_callgrind*")
        .arg(program)
        .args([FLAG, op, who])
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let counted = collected(&said).filter(|count| output.status.success() && *count > 0);
    let count =
        counted.ok_or_else(|| io::Error::other(format!("callgrind of {op} of {who}: {said}")))?;
    Ok(count as f64 / COUNTED as f64)
}

/// The number in callgrind's last words, `==7== Collected : 123456`.
fn collected(said: &str) -> Option<u64> {
    let line = said.lines().find(|line| line.contains("Collected : "))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_instructions_is_read_from_callgrinds_last_words() {
        let said = "==7== \n==7== Events    : Ir\n==7== Collected : 123456\n==7== \n";
        assert_eq!(collected(said), Some(123_456));
        assert_eq!(collected("valgrind: cannot open"), None);
    }

    #[test]
    fn every_operation_of_every_case_does_what_it_is_there_for() {
        for case in catalogue::CASES {
            assert_eq!(operate(case.op, case.who), Ok(()));
        }
        assert!(operate("acquire-finish", "nobody").is_err());
    }
}
