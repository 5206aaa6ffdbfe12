//! The parts of `cargo xtask test`. A new part is a function and a line in [`PARTS`].

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::project::Project;
use crate::{
    bites, embassy, firmware, fuzz, gates, host, loom, no_std, shuttle, size, soak, supply,
};

/// Something that `cargo xtask test` can run by name.
#[derive(Debug)]
pub(crate) struct Part {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// What it proves, in one line.
    pub(crate) what: &'static str,
    /// Takes longer than a change can wait for: runs when it is named, and by `cargo xtask test full`.
    pub(crate) long: bool,
    run: fn(&Project) -> Result<()>,
}

/// Every part, in the order in which they run: the quickest to fail first, and those that take long at the end.
pub(crate) const PARTS: &[Part] = &[
    Part {
        name: "host",
        what: "format, lints, tests, doctests, examples and documentation; the core also with a 32-bit admission word",
        long: false,
        run: host::run,
    },
    Part {
        name: "no-std",
        what: "the core on bare-metal targets, with each back end for cores without compare-and-swap, and without any",
        long: false,
        run: no_std::run,
    },
    Part {
        name: "embassy",
        what: "the adapter for firmware at three tick rates, without features, and on bare-metal targets with defmt",
        long: false,
        run: embassy::run,
    },
    Part {
        name: "size",
        what: "flash and RAM on a Cortex-M0 and M3; no float, no division of 64 bits, no formatting, no panic in them",
        long: false,
        run: size::run,
    },
    Part {
        name: "firmware",
        what: "binaries on emulated Cortex-M0, M3 and M4 boards: nested interrupts at any instruction, clocks that wrap, instruction counts",
        long: false,
        run: firmware::run,
    },
    Part {
        name: "gates",
        what: "the machine code of the hot paths on x86-64, Cortex-M0 and M3: no panic, allocation, float, lock, system call or division",
        long: false,
        run: gates::run,
    },
    Part {
        name: "loom",
        what: "the models of tests/loom, every interleaving, with both widths of the admission word",
        long: false,
        run: loom::run,
    },
    Part {
        name: "loom-bites",
        what: "each fault in xtask/mutations.toml, put into a copy of the tree, is reported by its loom model",
        long: false,
        run: bites::run,
    },
    Part {
        name: "shuttle",
        what: "whole limiters under thousands of random schedules, which are too big for loom",
        long: false,
        run: shuttle::run,
    },
    Part {
        name: "supply",
        what: "packages that build from what is in them, every set of features, the oldest dependencies; licences by cargo-deny",
        long: false,
        run: supply::run,
    },
    Part {
        name: "fuzz",
        what: "the corpora of fuzz/ replayed; where there is a nightly compiler and cargo-fuzz, 10 s for each target",
        long: false,
        run: fuzz::run,
    },
    Part {
        name: "soak",
        what: "ten minutes of everything at once from ten threads: no slot and no memory is lost",
        long: true,
        run: soak::run,
    },
    Part {
        name: "fuzz-long",
        what: "three minutes for each target of fuzz/, the files of the lab too",
        long: true,
        run: fuzz::long,
    },
];

/// Runs parts until one fails, and sums up.
///
/// # Errors
///
/// The first failure, with the name of its part.
pub(crate) fn run(project: &Project, parts: &[&Part]) -> Result<()> {
    let mut done = Vec::new();
    let mut outcome = Ok(());
    for part in parts {
        println!("\n== {}: {}", part.name, part.what);
        let start = Instant::now();
        outcome = (part.run)(project).with_context(|| format!("part `{}` failed", part.name));
        println!("== {} took {}", part.name, seconds(start.elapsed()));
        done.push((part.name, outcome.is_ok(), start.elapsed()));
        if outcome.is_err() {
            break;
        }
    }
    print!("{}", summary(parts, &done));
    outcome
}

fn summary(parts: &[&Part], done: &[(&str, bool, Duration)]) -> String {
    let mut text = String::from("\n");
    for (index, part) in parts.iter().enumerate() {
        let line = match done.get(index) {
            Some((_, true, took)) => format!("{:<12} ok      {}", part.name, seconds(*took)),
            Some((_, false, took)) => format!("{:<12} FAILED  {}", part.name, seconds(*took)),
            None => format!("{:<12} not run", part.name),
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_stops_the_rest_and_is_named() {
        let part = |name, run| Part {
            name,
            what: "",
            long: false,
            run,
        };
        let good = part("good", |_| Ok(()));
        let bad = part("bad", |_| anyhow::bail!("broken pipe"));
        let unreached = part("unreached", |_| panic!("ran after a failure"));
        let error = run(&Project::here(), &[&good, &bad, &unreached]).unwrap_err();
        assert_eq!(format!("{error:#}"), "part `bad` failed: broken pipe");
    }

    #[test]
    fn the_summary_has_a_line_for_every_part_also_those_that_did_not_run() {
        let parts: Vec<_> = PARTS.iter().take(3).collect();
        let done = [
            (parts[0].name, true, Duration::from_secs(75)),
            (parts[1].name, false, Duration::from_millis(1234)),
        ];
        let text = summary(&parts, &done);
        let lines: Vec<_> = text.trim().lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].ends_with("ok      75.0 s"), "{text}");
        assert!(lines[1].ends_with("FAILED  1.2 s"), "{text}");
        assert!(lines[2].ends_with("not run"), "{text}");
    }

    #[test]
    fn names_of_parts_are_unique() {
        for (index, part) in PARTS.iter().enumerate() {
            assert!(PARTS[..index].iter().all(|other| other.name != part.name));
        }
    }
}
