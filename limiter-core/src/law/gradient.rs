//! The ratio of the RTT without load to the RTT of now.

use super::aimd::cut_by_loss;
use super::baseline::{Baseline, pinned};
use super::math::{isqrt, log2_q16, narrow, scale_exp2};
use super::{Decision, Law, Reason, Window};
use crate::error::ConfigError;
use core::time::Duration;

/// Grows by a square root while the RTT is near its value without load, shrinks in proportion to how much
/// it is above.
///
/// Once per window, from its mean: `g = tolerance · baseline / rtt`, within ½ and 1. `g = 1` adds the
/// square root of the limit; less takes off `limit · (1 - g) / 4`, and ends the doubling of the start at
/// `limit · g`. The gradient and the tolerance of 1.25 are those of Envoy's adaptive concurrency. The
/// square root is the headroom of Netflix's Gradient, given only while there is no congestion: added
/// always, it is a queue that feeds itself.
///
/// Growth ends, and congestion brings back to, three times what the throughput needs without a queue
/// (Little's law), a bound that holds when the baseline is wrong. Loose on purpose: at one time the need,
/// noise in the RTT alone makes limits collapse. [`max_rtt`](Gradient::max_rtt) is the absolute bound that
/// a relative signal lacks. At the smallest limit for five windows, the baseline is taken for stale.
///
/// The baseline is the mean RTT of drains, as in [`Vegas`](super::Vegas); with a wall clock in step with
/// all others.
///
/// The state is 6 words; the first two are the baseline in ticks, low word first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gradient {
    tolerance: u32,
    keep: u32,
    /// In microseconds.
    max_rtt: Option<u64>,
    ramp: bool,
}

/// 1 in the scale of `g`, Q14.
const ONE: u32 = 1 << 14;
/// How much of the greatest throughput is forgotten per window, in log2 Q16: half of it in 64 windows, the
/// time from one drain to the next.
const FORGET: i32 = 1 << 10;

impl Gradient {
    /// Tolerates an RTT of 1.25 times the baseline, keeps 0.9 of the limit after overload, doubles at the
    /// start, has no absolute bound.
    pub const fn new() -> Self {
        Self {
            tolerance: 1_250,
            keep: 900,
            max_rtt: None,
            ramp: true,
        }
    }

    /// The RTT that is no congestion yet, in thousandths of the baseline, 1,000 to 3,000: more where the
    /// RTT is noisy, for more queue.
    ///
    /// # Errors
    ///
    /// Outside that range.
    pub const fn tolerance(mut self, per_mille: u32) -> Result<Self, ConfigError> {
        self.tolerance = per_mille;
        self.checked()
    }

    /// The largest mean RTT that is healthy, up to an hour, in whole microseconds: above it the limit
    /// shrinks and the baseline learns nothing, so a long incident cannot become the new normal.
    ///
    /// # Errors
    ///
    /// Below a microsecond or above an hour.
    pub const fn max_rtt(mut self, rtt: Duration) -> Result<Self, ConfigError> {
        let micros = rtt.as_micros();
        self.max_rtt = Some(if micros > u64::MAX as u128 {
            u64::MAX
        } else {
            micros as u64
        });
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
        const HOUR: u64 = 3_600_000_000;
        let max_rtt = match self.max_rtt {
            Some(micros) => micros,
            None => HOUR,
        };
        let checks = [
            ("gradient.tolerance", self.tolerance as u64, 1_000, 3_000),
            ("gradient.keep", self.keep as u64, 1, 999),
            ("gradient.max_rtt in us", max_rtt, 1, HOUR),
        ];
        let mut i = 0;
        while i < checks.len() {
            let (field, value, least, most) = checks[i];
            if let Err(error) = ConfigError::check(field, value, least, most) {
                return Err(error);
            }
            i += 1;
        }
        Ok(self)
    }

    /// The RTT is within the absolute bound.
    fn healthy(&self, window: &Window) -> bool {
        // A product that saturates is larger than any bound.
        let rtt = window.rtt_mean.get().saturating_mul(1_000_000);
        self.max_rtt
            .is_none_or(|most| rtt <= most * u64::from(window.rate.get()))
    }

    /// `g` in Q14.
    fn gradient(&self, baseline: u64, window: &Window) -> u32 {
        if !self.healthy(window) {
            return ONE / 2;
        }
        // Means are rounded down to a tick: what may be less than a tick apart is not apart.
        let rtt = window.rtt_mean.get().saturating_sub(1);
        if rtt <= baseline {
            return ONE;
        }
        let (baseline, rtt) = narrow(baseline, rtt, 16);
        let tolerance_q12 = self.tolerance * 4_096 / 1_000;
        let g = (baseline * tolerance_q12 * 4).checked_div(rtt);
        g.unwrap_or(ONE).clamp(ONE / 2, ONE)
    }
}

impl Default for Gradient {
    fn default() -> Self {
        Self::new()
    }
}

/// The learned state.
struct State {
    baseline: Baseline,
    /// log2 of the greatest throughput, in slots per tick, Q16; `i32::MIN` while unknown.
    throughput: i32,
    /// The fraction of the limit, Q8.
    fraction: u32,
}

impl State {
    fn read(&[low, high, resume, flags, throughput, fraction]: &[u32; 6]) -> Self {
        Self {
            baseline: Baseline::read(&[low, high, resume, flags]),
            // Zero is unknown.
            throughput: (throughput ^ 1 << 31) as i32,
            fraction: fraction & 0xff,
        }
    }

    fn words(&self) -> [u32; 6] {
        let [low, high, resume, flags] = self.baseline.words();
        let throughput = self.throughput as u32 ^ 1 << 31;
        [low, high, resume, flags, throughput, self.fraction]
    }

    fn decide(&mut self, law: &Gradient, window: &Window) -> Decision {
        let healthy = law.healthy(window);
        if window.overloaded() {
            let ramping = !self.baseline.ramped;
            let cut = match self.baseline.abandon(0) {
                // Not less than the RTT alone would take.
                0 => {
                    self.judge(law, window)
                        .limit
                        .min(cut_by_loss(window.limit, law.keep, ramping))
                }
                resume => cut_by_loss(resume, law.keep, ramping),
            };
            self.baseline.ramped = true;
            self.fraction = 0;
            return Decision::new(cut.max(window.min), Reason::CutOverload);
        }
        if let Some(decision) = self.baseline.end_drain(window, healthy) {
            return decision;
        }
        let decision = self.judge(law, window);
        if window.limited() && !window.few() {
            self.baseline.lower(window.rtt_mean.get());
            self.baseline
                .count_floor(decision.reason == Reason::PinnedAtMin);
        }
        self.baseline.plan(decision, window, healthy)
    }

    /// A step by the RTT, where there is something to judge.
    fn judge(&mut self, law: &Gradient, window: &Window) -> Decision {
        if window.few() {
            return Decision::new(window.limit, Reason::HeldTooFewSamples);
        }
        if !window.limited() {
            return Decision::new(window.limit, Reason::HeldNotLimited);
        }
        let baseline = match self.baseline.rtt {
            0 => window.rtt_mean.get(),
            known => known,
        };
        let most = u64::from(self.three_times_needed(baseline, window)) << 8;
        let limit = u64::from(window.limit) << 8 | u64::from(self.fraction);
        let g = law.gradient(baseline, window);
        let less = u64::from(ONE - g);
        let next = if g == ONE {
            let grown = if self.baseline.ramped {
                limit + root_q8(window.limit)
            } else {
                limit * 2
            };
            grown.min(most.max(limit))
        } else if self.baseline.ramped {
            (limit - ((limit * less) >> 16)).min(most)
        } else {
            self.baseline.ramped = true;
            (limit - ((limit * less) >> 14)).min(most)
        };
        let reason = if next >> 8 > window.limit.into() {
            Reason::Grew
        } else if g < ONE {
            Reason::CutLatency
        } else {
            Reason::HeldSteady
        };
        let decision = pinned(next >> 8, reason, window);
        self.fraction = if u64::from(decision.limit) == next >> 8 {
            next as u32 & 0xff
        } else {
            0
        };
        decision
    }

    /// Three times what the greatest throughput needs without a queue, and one.
    fn three_times_needed(&mut self, baseline: u64, window: &Window) -> u32 {
        let rtt = window.rtt_mean.get();
        if window.inflight_avg_q8 != 0 && rtt != 0 {
            // Little's law: what is in flight over how long it takes. Counts failed work too.
            let now = log2_q16(window.inflight_avg_q8.into()) - (8 << 16) - log2_q16(rtt);
            self.throughput = self.throughput.saturating_sub(FORGET).max(now);
        }
        // A number in flight beyond what its field can tell says nothing about the need.
        let beyond = window.inflight_avg_q8 == u32::MAX;
        if beyond || self.throughput == i32::MIN || baseline == 0 {
            return u32::MAX;
        }
        let needed = self.throughput.saturating_add(log2_q16(baseline));
        scale_exp2(3, needed).saturating_add(1)
    }
}

/// The square root of `limit` in Q8.
fn root_q8(limit: u32) -> u64 {
    match limit.checked_mul(256) {
        Some(limit_q8) => u64::from(isqrt(limit_q8)) << 4,
        None => u64::from(isqrt(limit)) << 8,
    }
}

impl Law for Gradient {
    type State = [u32; 6];

    fn on_window(&self, words: &mut [u32; 6], window: &Window) -> Decision {
        let mut state = State::read(words);
        state.baseline.ramped |= !self.ramp;
        let decision = state.decide(self, window);
        *words = state.words();
        decision
    }

    fn on_set(&self, words: &mut [u32; 6], limit: u32) {
        let mut state = State::read(words);
        state.baseline.set(limit);
        state.fraction = 0;
        *words = state.words();
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.checked().map(drop)
    }
}
