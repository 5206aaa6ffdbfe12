//! What the terminal shows while the run lasts.

use crate::measure::p50_p99;
use crate::wire::{Measured, Slice};
use std::io::{IsTerminal, Write};

/// Progress on standard error: a line that is written over on a terminal.
#[derive(Debug)]
pub(crate) struct Tell {
    terminal: bool,
}

impl Tell {
    pub(crate) fn new() -> Tell {
        Tell {
            terminal: std::io::stderr().is_terminal(),
        }
    }

    pub(crate) fn line(&self, text: &str) {
        let clear = if self.terminal { "\r\x1b[K" } else { "" };
        let _ = writeln!(std::io::stderr(), "{clear}{text}");
    }

    /// What happens just now; only on a terminal.
    pub(crate) fn slice(&self, what: &str, rate: f64, slice: &Slice) {
        if self.terminal {
            let per_second = |count: u64| count as f64 / slice.seconds.max(1e-3);
            let _ = write!(
                std::io::stderr(),
                "\r\x1b[K{what}: {rate:6.0}/s offered, {:5.0} good, {:6.0} refused, \
                 {:6.0} timed out, p99 {:.0} ms ",
                per_second(slice.good),
                per_second(slice.refused),
                per_second(slice.timed_out),
                slice.p99_ms,
            );
        }
    }

    pub(crate) fn step(&self, what: &str, rate: f64, measured: &Measured) {
        let per_second = |count: u64| count as f64 / measured.seconds;
        self.line(&format!(
            "{what}: {rate:6.0}/s offered, {:5.1} good, {:6.0} refused, {:6.0} timed out, \
             p99 {:.0} ms",
            per_second(measured.good),
            per_second(measured.refused),
            per_second(measured.timed_out),
            p50_p99(&mut measured.attempts_ms.clone()).1,
        ));
    }
}
