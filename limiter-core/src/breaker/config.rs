//! What a breaker is built from.

use crate::cell::breaker::{BUCKETS, Circuitry};
use crate::cell::ring::bucket_shift;
use crate::error::ConfigError;
use crate::law::breaker::{Judges, MAX_CONSECUTIVE, MAX_PROBES, Rule};
use crate::time::{TickRate, Ticks};
use core::time::Duration;

/// What a [`Breaker`](crate::Breaker) is built from.
///
/// Defaults: it opens on 30 failures in a row, or when two in three of at least 20 calls of the last 10 s fail;
/// slow calls do not count. It stays open for 2.5 to 5 s, twice as long each time it opens again, up to 20 s,
/// and closes when 3 probes have succeeded; a probe that is not heard of for 10 s is lost.
///
/// Both are high because the throttle answers partial stress by degrees and the budget bounds retries; the breaker is
/// for a dependency that is as good as down. Twenty failures in a row happen once in 70,000 calls to one that fails
/// six in ten, and a busy server makes these in a minute; thirty once in eleven million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerConfig {
    consecutive: Option<u32>,
    failure_share: Option<u32>,
    slow: Option<(u32, Duration)>,
    volume: u32,
    window: Duration,
    open: Duration,
    open_most: Duration,
    probes: u32,
    probe_time: Duration,
}

impl BreakerConfig {
    /// The defaults.
    pub const fn new() -> Self {
        Self {
            consecutive: Some(30),
            failure_share: Some(667),
            slow: None,
            volume: 20,
            window: Duration::from_secs(10),
            open: Duration::from_secs(5),
            open_most: Duration::from_secs(20),
            probes: 3,
            probe_time: Duration::from_secs(10),
        }
    }

    /// Opens on so many failures in a row, from 1 to 4,095; `None` leaves that to the shares.
    #[must_use]
    pub const fn consecutive(mut self, failures: Option<u32>) -> Self {
        self.consecutive = failures;
        self
    }

    /// Opens when this share of the calls fails, per mille, from 1 to 1,000; `None` counts rows only.
    #[must_use]
    pub const fn failure_share(mut self, per_mille: Option<u32>) -> Self {
        self.failure_share = per_mille;
        self
    }

    /// Opens also when this share of the calls, per mille from 1 to 1,000, takes longer than `longest`,
    /// whatever came of them. A probe that is as slow fails.
    #[must_use]
    pub const fn slow_share(mut self, per_mille: u32, longest: Duration) -> Self {
        self.slow = Some((per_mille, longest));
        self
    }

    /// Judges no share by fewer calls, from 1 to 1,000.
    #[must_use]
    pub const fn volume(mut self, calls: u32) -> Self {
        self.volume = calls;
        self
    }

    /// Which calls the shares are taken of, from 10 ms to an hour: eight buckets, each rounded to a power of
    /// two of about half a millisecond.
    #[must_use]
    pub const fn window(mut self, window: Duration) -> Self {
        self.window = window;
        self
    }

    /// How long it stays open the first time, and at most, up to a day. Half to all of it, by a random word.
    #[must_use]
    pub const fn open(mut self, first: Duration, most: Duration) -> Self {
        self.open = first;
        self.open_most = most;
        self
    }

    /// How many calls are let through while half open, from 1 to 63, and how many have to succeed.
    #[must_use]
    pub const fn probes(mut self, calls: u32) -> Self {
        self.probes = calls;
        self
    }

    /// After this time without an answer the probes that are out are lost, up to a day: make it longer than
    /// the longest attempt.
    #[must_use]
    pub const fn probe_time(mut self, longest: Duration) -> Self {
        self.probe_time = longest;
        self
    }

    /// Checks every value.
    ///
    /// # Errors
    ///
    /// The first field that does not work.
    pub const fn check(&self) -> Result<(), ConfigError> {
        const DAY: u64 = 86_400_000;
        let (slow_share, slow_time) = match self.slow {
            Some((share, longest)) => (share, longest),
            None => (1, Duration::from_millis(1)),
        };
        ConfigError::check_all(&[
            (
                "breaker.consecutive",
                some(self.consecutive),
                1,
                MAX_CONSECUTIVE as u64,
            ),
            ("breaker.failure_share", some(self.failure_share), 1, 1_000),
            ("breaker.slow_share", slow_share as u64, 1, 1_000),
            (
                "breaker.slow_share.longest in ms",
                millis(slow_time),
                0,
                DAY,
            ),
            ("breaker.volume", self.volume as u64, 1, 1_000),
            ("breaker.window in ms", millis(self.window), 10, 3_600_000),
            ("breaker.open.most in ms", millis(self.open_most), 1, DAY),
            (
                "breaker.open in ms",
                millis(self.open),
                1,
                millis(self.open_most),
            ),
            ("breaker.probes", self.probes as u64, 1, MAX_PROBES as u64),
            ("breaker.probe_time in ms", millis(self.probe_time), 1, DAY),
        ])
    }

    pub(crate) const fn settings(&self, rate: TickRate) -> BreakerSettings {
        let pace = rate.pace();
        let (slow_share, slow_time) = match self.slow {
            Some((share, longest)) => (share as u16, rate.ticks(longest)),
            None => (Rule::NO_SHARE, Ticks::new(u64::MAX)),
        };
        BreakerSettings {
            circuitry: Circuitry {
                rule: Rule {
                    consecutive: match self.consecutive {
                        Some(failures) => failures as u16,
                        None => Rule::NEVER,
                    },
                    failure_share: match self.failure_share {
                        Some(share) => share as u16,
                        None => Rule::NO_SHARE,
                    },
                    slow_share,
                    volume: self.volume as u16,
                    judges: match (self.slow, self.failure_share) {
                        (Some(_), _) => Judges::Times,
                        (None, Some(_)) => Judges::Failures,
                        (None, None) => Judges::Nothing,
                    },
                    probes: self.probes as u8,
                },
                shift: bucket_shift::<BUCKETS>(pace.units(rate.ticks(self.window))) as u8,
                open: pace.units(rate.ticks(self.open)),
                open_most: pace.units(rate.ticks(self.open_most)),
                lease: pace.units(rate.ticks(self.probe_time)),
                slow_time,
            },
        }
    }
}

impl Default for BreakerConfig {
    fn default() -> Self {
        Self::new()
    }
}

const fn some(value: Option<u32>) -> u64 {
    match value {
        Some(value) => value as u64,
        None => 1,
    }
}

const fn millis(duration: Duration) -> u64 {
    duration
        .as_secs()
        .saturating_mul(1_000)
        .saturating_add(duration.subsec_millis() as u64)
}

/// A checked configuration in the units of the cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BreakerSettings {
    pub(crate) circuitry: Circuitry,
}
