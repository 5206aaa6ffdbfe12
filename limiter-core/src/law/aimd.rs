//! Additive increase, multiplicative decrease: steered by overloads alone.

use super::math::mul_shift;
use super::{Decision, Law, Reason, Window};
use crate::error::ConfigError;

/// Grows by a little each round trip while the limit is reached, shrinks by a factor when too large a
/// share of requests is overloaded. The law for dependencies that refuse, and for too few samples to
/// measure a latency by.
///
/// The shape is TCP's (RFC 5681): one increase per round trip, spread over its successes, one decrease
/// per round trip, doubling from the start until the first decrease. The factor 0.9 is that of Netflix's
/// concurrency-limits: overloads here are counted shares, not single lost packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aimd {
    increase: u32,
    keep: u32,
    ramp: bool,
}

/// The state word: the fraction of the limit in Q8, and whether the ramp is over.
const FRACTION: u32 = 0xff;
const RAMPED: u32 = 1 << 8;

impl Aimd {
    /// One more per round trip, 0.9 of the limit after overload, doubling at the start.
    pub const fn new() -> Self {
        Self {
            increase: 1,
            keep: 900,
            ramp: true,
        }
    }

    /// Slots added per round trip, 1 to 1,000.
    ///
    /// # Errors
    ///
    /// Outside that range.
    pub const fn increase(mut self, slots: u32) -> Result<Self, ConfigError> {
        self.increase = slots;
        match self.checked() {
            Ok(()) => Ok(self),
            Err(error) => Err(error),
        }
    }

    /// What is kept of the limit after overload, per mille, 1 to 999.
    ///
    /// # Errors
    ///
    /// Outside that range.
    pub const fn keep(mut self, per_mille: u32) -> Result<Self, ConfigError> {
        self.keep = per_mille;
        match self.checked() {
            Ok(()) => Ok(self),
            Err(error) => Err(error),
        }
    }

    /// Starts without the doubling, for dependencies that must not be overrun once.
    #[must_use]
    pub const fn without_ramp(mut self) -> Self {
        self.ramp = false;
        self
    }

    const fn checked(&self) -> Result<(), ConfigError> {
        if let Err(error) = ConfigError::check("aimd increase", self.increase as u64, 1, 1_000) {
            return Err(error);
        }
        ConfigError::check("aimd keep", self.keep as u64, 1, 999)
    }
}

impl Default for Aimd {
    fn default() -> Self {
        Self::new()
    }
}

impl Law for Aimd {
    type State = [u32; 1];

    fn on_window(&self, [word]: &mut [u32; 1], window: &Window) -> Decision {
        let limit = window.limit;
        let ramping = self.ramp && *word & RAMPED == 0;
        if window.overloaded() {
            *word = RAMPED;
            // The last doubling of the ramp was the one too many.
            let keep = if ramping {
                self.keep.min(500)
            } else {
                self.keep
            };
            let kept = (u64::from(limit) * u64::from(keep * 1024 / 1000)) >> 10;
            let cut = limit.saturating_sub(1).min(kept as u32).max(window.min);
            return Decision::new(cut, Reason::CutOverload);
        }
        if window.few() {
            return Decision::new(limit, Reason::HeldTooFewSamples);
        }
        if !window.limited() {
            return Decision::new(limit, Reason::HeldNotLimited);
        }
        if ramping {
            return Decision::new(limit.saturating_mul(2), Reason::Grew);
        }
        // Each success adds increase / limit, so that a round trip of `limit` successes adds `increase`.
        let rounds_q8 = mul_shift(window.successes, 256, 0) / limit.max(1);
        let grown = (*word & FRACTION).saturating_add(mul_shift(rounds_q8, self.increase, 0));
        *word = RAMPED | (grown & FRACTION);
        let grown = limit.saturating_add(grown >> 8);
        let reason = if grown > limit {
            Reason::Grew
        } else {
            Reason::HeldSteady
        };
        Decision::new(grown, reason)
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.checked()
    }
}
