//! Who gets in when not everybody can: crowds in front of one limiter, in virtual time.
//!
//! A request holds its slots for an exponential time; one that is refused does not come back. So the limit is the
//! capacity, and what an innocent caller keeps is what the rule of admission leaves it.

mod doors;
mod scenarios;
mod world;

pub use scenarios::{SCENARIOS, Scenario};
pub use world::{Crowd, Tally};

use serde::Serialize;

/// One scenario, over its seeds: the worst of each figure.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub scenario: &'static str,
    /// Seeds it was played with.
    pub seeds: u64,
    /// The limit, in slots.
    pub limit: u32,
    /// How many are innocent.
    pub innocents: usize,
    /// The smallest share of its requests that an innocent kept.
    pub share_kept_min: f64,
    /// Of all requests of the innocent.
    pub share_kept: f64,
    /// The share of the innocent that kept less than 0.9.
    pub innocent_below: f64,
    /// What the others kept of theirs.
    pub others_kept: f64,
    /// The share of slots in use.
    pub utilisation: f64,
    /// As `share_kept`, where all are let in alike.
    pub unprotected_share_kept: f64,
    /// As `innocent_below`, where all are let in alike.
    pub unprotected_innocent_below: f64,
}

/// Plays a scenario, `scale` of its whole length.
pub fn measure(scenario: &Scenario, scale: f64) -> Row {
    let mut row = Row {
        scenario: scenario.name,
        seeds: scenario.seeds,
        limit: scenario.limit,
        innocents: 0,
        share_kept_min: 1.0,
        share_kept: 1.0,
        innocent_below: 0.0,
        others_kept: 1.0,
        utilisation: 1.0,
        unprotected_share_kept: 1.0,
        unprotected_innocent_below: 0.0,
    };
    for seed in 1..=scenario.seeds {
        let fair = scenario.run(true, seed, scale);
        let alike = scenario.run(false, seed, scale);
        row.innocents = fair.kept.len();
        let least = fair.kept.iter().copied().fold(1.0, f64::min);
        row.share_kept_min = row.share_kept_min.min(least);
        row.share_kept = row.share_kept.min(fair.innocent_kept);
        row.innocent_below = row.innocent_below.max(fair.below());
        row.others_kept = row.others_kept.min(fair.others_kept);
        row.utilisation = row.utilisation.min(fair.utilisation);
        row.unprotected_share_kept = row.unprotected_share_kept.min(alike.innocent_kept);
        row.unprotected_innocent_below = row.unprotected_innocent_below.max(alike.below());
    }
    row
}
