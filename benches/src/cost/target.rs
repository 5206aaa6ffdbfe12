//! What is asked for.

use core::fmt;

/// What an operation of the library may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Most {
    /// Times the raw pair, on one thread.
    Ratio(f64),
    /// Times the contended raw pair, on two threads.
    Contended(f64),
    /// Instructions.
    Instructions(f64),
    /// Times the instructions of `acquire-finish`, counted in the same run.
    Plain(f64),
    /// Nanoseconds.
    Nanos(f64),
}

impl fmt::Display for Most {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ratio(most) | Self::Contended(most) => write!(f, "{most} x"),
            Self::Instructions(most) => write!(f, "{most} instr"),
            Self::Plain(most) => write!(f, "{most} x the instr of acquire-finish"),
            Self::Nanos(most) => write!(f, "{most} ns"),
        }
    }
}

/// The targets of an operation.
pub fn of(op: &str) -> &'static [Most] {
    use Most::{Contended, Instructions, Nanos, Plain, Ratio};
    match op {
        "acquire-finish" => &[Ratio(1.3), Contended(1.6), Instructions(45.0)],
        "admit-class" | "admit-partition" => &[Plain(1.5)],
        "refuse" => &[Ratio(0.2), Instructions(12.0)],
        "breaker" => &[Ratio(0.6), Instructions(16.0)],
        "breaker-ratio" => &[Ratio(1.2), Instructions(32.0)],
        "deposit-withdraw" => &[Ratio(1.3), Instructions(24.0)],
        "deposit-full" => &[Ratio(0.1)],
        "dependency" => &[Ratio(4.0), Instructions(140.0)],
        "std-clock" => &[Ratio(2.5), Instructions(55.0)],
        "tower" => &[Ratio(4.0), Instructions(160.0)],
        "window-close" => &[Nanos(1_000.0)],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::catalogue;

    #[test]
    fn every_operation_of_the_library_but_one_has_a_target() {
        let without: Vec<_> = catalogue::operations()
            .into_iter()
            .filter(|op| of(op).is_empty())
            .collect();
        assert_eq!(without, ["raw", "std-refuse"]);
    }
}
