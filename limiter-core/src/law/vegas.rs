//! A queue estimate held between two bounds.

use super::aimd::cut_by_loss;
use super::baseline::{Baseline, pinned};
use super::math::{div_rem, ilog10, narrow};
use super::{Decision, Law, Reason, Window};
use crate::error::ConfigError;

/// Estimates from the RTT how many requests wait, and holds their number between two bounds.
///
/// `queue = limit · (1 - baseline / rtt)`, once per window from its mean (Brakmo and Peterson, "TCP
/// Vegas", 1995). With `lg` the decimal logarithm of the limit, at least 1: `queue < 3 · lg` adds `lg`,
/// `queue > 6 · lg` takes `lg` off, between them nothing changes; the constants are those of Netflix's
/// concurrency-limits. It starts by doubling until `queue > lg`, then goes back to `limit - queue`.
/// Overloads come first: a share above the tolerated one keeps 0.9, whatever the RTT.
///
/// The baseline is the mean RTT of drains: from time to time the limit is halved for four round trips, or
/// for half a second of every eight where the limiter knows the wall clock
/// ([`Limiter::set_wall_offset`](crate::Limiter::set_wall_offset)), in step with all others.
///
/// Good for one caller of a dependency whose RTT without load is steady. Several of them share unequally.
///
/// The state is 4 words; the first two are the baseline in ticks, low word first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vegas {
    alpha: u32,
    beta: u32,
    keep: u32,
    ramp: bool,
}

impl Vegas {
    /// A queue between 3 and 6 (times `lg`), 0.9 of the limit after overload, doubling at the start.
    pub const fn new() -> Self {
        Self {
            alpha: 3,
            beta: 6,
            keep: 900,
            ramp: true,
        }
    }

    /// Grows below `alpha` and shrinks above `beta` waiting requests, both times `lg`, 1 to 1,000.
    ///
    /// # Errors
    ///
    /// `alpha` 0, `beta` below `alpha` or above 1,000.
    pub const fn queue(mut self, alpha: u32, beta: u32) -> Result<Self, ConfigError> {
        self.alpha = alpha;
        self.beta = beta;
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
        let checks = [
            ("vegas.queue.beta", self.beta, 1, 1_000),
            ("vegas.queue.alpha", self.alpha, 1, self.beta),
            ("vegas.keep", self.keep, 1, 999),
        ];
        let mut i = 0;
        while i < checks.len() {
            let (field, value, least, most) = checks[i];
            if let Err(error) = ConfigError::check(field, value as u64, least, most as u64) {
                return Err(error);
            }
            i += 1;
        }
        Ok(self)
    }

    fn decide(&self, baseline: &mut Baseline, window: &Window) -> Decision {
        if window.overloaded() {
            let limit = baseline.abandon(window.limit);
            let ramping = !core::mem::replace(&mut baseline.ramped, true);
            let cut = cut_by_loss(limit, self.keep, ramping);
            // Not less than the RTT alone would take.
            let cut = cut.min(limit.saturating_sub(step(limit)));
            return Decision::new(cut.max(window.min), Reason::CutOverload);
        }
        if let Some(decision) = baseline.end_drain(window, true) {
            return decision;
        }
        let decision = if window.few() {
            Decision::new(window.limit, Reason::HeldTooFewSamples)
        } else if !window.limited() {
            Decision::new(window.limit, Reason::HeldNotLimited)
        } else {
            self.follow(baseline, window)
        };
        baseline.plan(decision, window, true)
    }

    /// A step by the queue of a window that was limited.
    fn follow(&self, baseline: &mut Baseline, window: &Window) -> Decision {
        let limit = window.limit;
        let rtt = window.rtt_mean.get();
        baseline.lower(rtt);
        let waiting = queue(limit, baseline.rtt, rtt);
        let step = step(limit);
        let limit = u64::from(limit);
        if !baseline.ramped {
            if waiting <= step {
                return pinned(limit * 2, Reason::Grew, window);
            }
            baseline.ramped = true;
            let needed = limit.saturating_sub(waiting.into()).max(limit / 2);
            return pinned(needed, Reason::CutLatency, window);
        }
        let below = waiting < self.alpha.saturating_mul(step);
        let above = waiting > self.beta.saturating_mul(step);
        baseline.count_floor(above && window.limit <= window.min);
        if below {
            pinned(limit + u64::from(step), Reason::Grew, window)
        } else if above {
            let less = limit.saturating_sub(step.into());
            pinned(less, Reason::CutLatency, window)
        } else {
            Decision::new(window.limit, Reason::HeldSteady)
        }
    }
}

impl Default for Vegas {
    fn default() -> Self {
        Self::new()
    }
}

impl Law for Vegas {
    type State = [u32; Baseline::WORDS];

    fn on_window(&self, words: &mut Self::State, window: &Window) -> Decision {
        let mut baseline = Baseline::read(words);
        baseline.ramped |= !self.ramp;
        let decision = self.decide(&mut baseline, window);
        *words = baseline.words();
        decision
    }

    fn on_set(&self, words: &mut Self::State, limit: u32) {
        let mut baseline = Baseline::read(words);
        baseline.set(limit);
        *words = baseline.words();
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.checked().map(drop)
    }
}

/// `lg`: the unit of the bounds and the step.
fn step(limit: u32) -> u32 {
    ilog10(limit).max(1)
}

/// `limit · (rtt - baseline) / rtt`, rounded up. Means are rounded down to a tick: what may be less than a
/// tick apart is not apart.
fn queue(limit: u32, baseline: u64, rtt: u64) -> u32 {
    let excess = rtt.saturating_sub(baseline).saturating_sub(1);
    let (excess, rtt) = narrow(excess, rtt, 32);
    if rtt == 0 {
        return 0;
    }
    let (whole, rest) = div_rem(u64::from(limit) * u64::from(excess), rtt);
    (whole as u32).saturating_add(u32::from(rest != 0))
}
