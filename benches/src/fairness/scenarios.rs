//! The scenarios, as data.

use super::doors::{Alike, Fair, Parted, config};
use super::world::{Crowd, Tally, run};
use limiter_core::{Callers, Limiter, Priority, Request, TickRate};

/// The rule that protects the innocent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Callers,
    /// Partition 0 is guaranteed this, per mille.
    Parted(u16),
}

/// Crowds in front of a limit.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What happens.
    pub about: &'static str,
    /// The limit.
    pub limit: u32,
    /// How many seeds it is played with.
    pub seeds: u64,
    /// Virtual seconds.
    length: f64,
    rule: Rule,
    crowds: &'static [Crowd],
}

const fn crowd(callers: usize, load: f64) -> Crowd {
    Crowd {
        callers,
        load,
        innocent: true,
        renames: false,
        request: Request::new(),
    }
}

const fn too_much(crowd: Crowd) -> Crowd {
    Crowd {
        innocent: false,
        ..crowd
    }
}

const fn of(crowd: Crowd, request: Request) -> Crowd {
    Crowd { request, ..crowd }
}

const fn class(priority: Priority) -> Request {
    Request::new().priority(priority)
}

/// All scenarios.
pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "callers-10",
        about: "nine callers use their tenth of the capacity, the tenth asks for ten tenths",
        limit: 256,
        seeds: 3,
        length: 30.0,
        rule: Rule::Callers,
        crowds: &[crowd(9, 0.9), too_much(crowd(1, 1.0))],
    },
    Scenario {
        name: "callers-100000",
        about: "100,000 callers use nine tenths of the capacity, ten more ask for a tenth of it each",
        limit: 1_024,
        seeds: 1,
        length: 43.0,
        rule: Rule::Callers,
        crowds: &[crowd(100_000, 0.9), too_much(crowd(10, 1.0))],
    },
    Scenario {
        name: "callers-changing-names",
        about: "a hundred callers use nine tenths, one more asks for ten tenths, each time under a new name",
        limit: 256,
        seeds: 3,
        length: 30.0,
        rule: Rule::Callers,
        crowds: &[
            crowd(100, 0.9),
            Crowd {
                renames: true,
                ..too_much(crowd(1, 1.0))
            },
        ],
    },
    Scenario {
        name: "partitions",
        about: "writes ask for a quarter, three tenths being theirs; reads ask for three times all",
        limit: 256,
        seeds: 3,
        length: 30.0,
        rule: Rule::Parted(300),
        crowds: &[
            of(crowd(10, 0.25), Request::new().partition(0)),
            of(too_much(crowd(10, 3.0)), Request::new().partition(1)),
        ],
    },
    Scenario {
        name: "priorities",
        about: "critical and interactive requests ask for 0.6, batch and best effort for three times all",
        limit: 256,
        seeds: 3,
        length: 30.0,
        rule: Rule::Parted(0),
        crowds: &[
            of(crowd(1, 0.3), class(Priority::Critical)),
            of(crowd(1, 0.3), class(Priority::Interactive)),
            of(too_much(crowd(1, 1.0)), class(Priority::Batch)),
            of(too_much(crowd(1, 2.0)), class(Priority::BestEffort)),
        ],
    },
];

impl Scenario {
    /// Plays it once: with its rule, or with all let in alike.
    pub(super) fn run(&self, protected: bool, seed: u64, scale: f64) -> Tally {
        let (limit, crowds, length) = (self.limit, self.crowds, self.length * scale);
        match self.rule {
            _ if !protected => {
                let door = Alike(Limiter::new(config(limit)));
                run(&door, limit, crowds, seed, length)
            }
            Rule::Callers => {
                let door = Fair {
                    callers: Box::new(Callers::new(TickRate::MICROS, seed as u32)),
                    limiter: Limiter::new(config(limit)),
                };
                run(&door, limit, crowds, seed, length)
            }
            Rule::Parted(guarantee) => {
                run(&Parted::new(limit, guarantee), limit, crowds, seed, length)
            }
        }
    }
}
