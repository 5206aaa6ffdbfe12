//! How a scenario is run: which mode, who uses the library, with which random numbers.

use crate::lab::queue::{MILLI, SECOND};
use crate::lab::random::{Random, uniform};
use limiter_core::Ticks;
use limiter_core::law::WALL_SECONDS;

/// What stands between the tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// What there was: queues, time-outs, retries.
    AsItWas,
    /// Fixed limits, three retries with jittered exponential back-off, a breaker, a budget.
    ByHand,
    /// This library at its defaults.
    Library,
}

impl Mode {
    /// All, in the order of tables.
    pub const ALL: [Self; 3] = [Self::AsItWas, Self::ByHand, Self::Library];

    /// The name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsItWas => "as-it-was",
            Self::ByHand => "by-hand",
            Self::Library => "library",
        }
    }
}

/// One run of a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// The mode.
    pub mode: Mode,
    /// Which share of the callers uses the library, in its mode: the watched station and those behind it
    /// always do.
    pub adoption: f64,
    /// The seed of everything random.
    pub seed: u64,
}

impl Setting {
    /// Whether the caller number `index` of `count` uses the library: evenly spread.
    pub fn adopts(&self, index: u32, count: u32) -> bool {
        // The golden ratio spreads those who do over any part of the fleet.
        let place = (f64::from(index) + 0.5) * 0.618_033_988_749_895;
        let share = if count <= 16 {
            (f64::from(index) + 0.5) / f64::from(count)
        } else {
            place.fract()
        };
        self.mode == Mode::Library && share < self.adoption
    }
}

/// A wall clock that is up to 50 ms wrong.
pub(super) fn wall_offset(random: &mut Random) -> Ticks {
    let wrong = (uniform(random) * 50.0 * MILLI as f64) as u64;
    Ticks::new(u64::from(WALL_SECONDS) * SECOND + wrong)
}
