//! Additive increase, multiplicative decrease: steered by overloads alone.

use super::math::{per_mille, quotient};
use super::{Decision, Law, Next, Reason, Window};
use crate::error::ConfigError;
use crate::time::Ticks;

/// Grows by a little each round trip while the limit is reached, shrinks by a factor when too large a
/// share of requests is overloaded. The law for dependencies that refuse, and for too few samples to
/// measure a latency by.
///
/// The shape is TCP's (RFC 5681): one increase per round trip, spread over its successes, one decrease
/// per round trip, doubling from the start, once per round trip, until the first decrease. The factor 0.9 is that of Netflix's
/// concurrency-limits: overloads here are counted shares, not single lost packets.
///
/// The state is 1 word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aimd {
    increase: u32,
    keep: u32,
    ramp: bool,
}

/// The state word: the fraction of the limit in Q16, and whether the ramp is over.
const FRACTION: u32 = 0xffff;
const RAMPED: u32 = 1 << 16;

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
        self.checked()
    }

    /// What is kept of the limit after overload, per mille, 1 to 999.
    ///
    /// # Errors
    ///
    /// Outside that range.
    pub const fn keep(mut self, per_mille: u32) -> Result<Self, ConfigError> {
        self.keep = per_mille;
        self.checked()
    }

    /// Starts without the doubling, for dependencies that must not be overrun once.
    #[must_use]
    pub const fn without_ramp(mut self) -> Self {
        self.ramp = false;
        self
    }

    const fn checked(self) -> Result<Self, ConfigError> {
        if let Err(error) = ConfigError::check("aimd.increase", self.increase as u64, 1, 1_000) {
            return Err(error);
        }
        match ConfigError::check("aimd.keep", self.keep as u64, 1, 999) {
            Ok(()) => Ok(self),
            Err(error) => Err(error),
        }
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
            let cut = cut_by_loss(limit, self.keep, ramping).max(window.min);
            return Decision::new(cut, Reason::CutOverload);
        }
        if window.few() {
            return Decision::new(limit, Reason::HeldTooFewSamples);
        }
        if !window.limited() {
            return Decision::new(limit, Reason::HeldNotLimited);
        }
        if ramping {
            return Decision::new(limit.saturating_mul(2), Reason::Grew).then(Next {
                settle: Ticks::new(0),
                length: window.rtt_mean,
                samples: window.min_samples,
            });
        }
        // Each success adds increase / limit, so that a round trip of `limit` successes adds `increase`.
        let whole = quotient(window.successes, limit);
        let (mut rest, mut of) = (window.successes - whole * limit, limit);
        while of > FRACTION {
            rest >>= 1;
            of >>= 1;
        }
        let part = quotient(rest << 16, of).min(FRACTION);
        let fraction = (*word & FRACTION) + part * self.increase;
        *word = RAMPED | (fraction & FRACTION);
        let grown = limit
            .saturating_add(whole.saturating_mul(self.increase))
            .saturating_add(fraction >> 16);
        let reason = if grown > limit {
            Reason::Grew
        } else {
            Reason::HeldSteady
        };
        Decision::new(grown, reason)
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.checked().map(drop)
    }
}

/// What overload leaves of `limit`: `keep` per mille of it, rounded down, so at least one slot less. While
/// it doubled, at most half, for the last doubling was the one too many.
pub(super) const fn cut_by_loss(limit: u32, keep: u32, ramping: bool) -> u32 {
    let keep = if ramping && keep > 500 { 500 } else { keep };
    per_mille(limit, keep)
}
