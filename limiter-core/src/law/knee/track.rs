//! Comparing two nearby limits and moving the middle.

use super::super::math::{isqrt, scale_per_mille};
use super::state::{Phase, State, TRUST};
use super::{Knee, Reason, Window};

/// log2 of 1.02 in Q16: two phases whose concurrency differed by less say nothing.
const DELTA_LEAST: i32 = 1_872;
/// log2 of 2.2 in Q16: what one pair of phases may claim at most.
const CLAIM_MOST: i32 = 75_600;
/// log2 of 1.5 in Q16.
const BLOAT: i32 = 38_336;
/// Successes that make a phase count fully.
const FULL_PHASE: u32 = 60;

/// An elasticity (Q8) above which a pair shows room for much more: 0.7.
const ROOM: i32 = 180;
/// An elasticity (Q8) below which a pair shows nothing but queueing: 0.05.
const FLAT: i32 = 13;
/// So many flat pairs in a row start a descent.
const FLAT_PAIRS: u32 = 4;

impl State {
    /// The RTT is half as long again as at the knee.
    pub(super) fn above_knee(&self, phase: Phase) -> bool {
        self.knee_rtt != 0 && phase.rtt > self.knee_rtt + BLOAT
    }

    /// The RTT has been far above the knee's for two phases: the dependency changed. Whether it got fuller or
    /// only slower a search will tell, and it begins downwards, where being wrong hurts least.
    pub(super) fn changed(&mut self, phase: Phase) -> bool {
        self.bloated = if self.above_knee(phase) {
            self.bloated + 1
        } else {
            0
        };
        self.bloated >= 2
    }

    /// Compares the phase with the one before it.
    pub(super) fn compare(&mut self, law: &Knee, phase: Phase, window: &Window) -> Reason {
        if !self.have {
            self.other = phase;
            self.other_samples = window.successes;
            self.have = true;
            return Reason::Probing;
        }
        self.have = false;
        let (high, low) = if self.high {
            (phase, self.other)
        } else {
            (self.other, phase)
        };
        let grown = high.inflight.saturating_sub(low.inflight);
        if grown < DELTA_LEAST {
            return Reason::Probing;
        }
        let gained = high.rate.saturating_sub(low.rate);
        let unqueued = grown.saturating_sub(high.rtt.saturating_sub(low.rtt));
        let claim = (gained / 2 + unqueued / 2).clamp(-CLAIM_MOST, CLAIM_MOST);
        let weight_q8 =
            window.successes.min(self.other_samples).min(4 * FULL_PHASE) * 256 / FULL_PHASE;
        let raw = (claim / (grown / 256).max(1)).clamp(-256, 512);
        // A pair of full phases that shows room twice running outweighs what was learned before.
        let room = raw > ROOM && weight_q8 >= 256;
        self.up = if room { self.up + 1 } else { 0 };
        if self.up == 2 {
            self.sxy /= 4;
            self.sxx /= 4;
        }
        self.sxy = forget_and_add(self.sxy, grown, claim, weight_q8);
        self.sxx = forget_and_add(self.sxx, grown, grown, weight_q8);
        let elasticity = (self.sxy.saturating_mul(16) / (self.sxx / 16).max(1)).clamp(-256, 307);
        let flat = elasticity < FLAT && raw < 2 * FLAT;
        self.flat = if flat {
            self.flat + 1
        } else {
            self.flat.saturating_sub(1)
        };
        if self.flat >= FLAT_PAIRS {
            return self.start_descent(low);
        }
        self.step(law, elasticity, phase.rtt)
    }

    /// Moves the middle by the elasticity (Q8).
    fn step(&mut self, law: &Knee, elasticity: i32, rtt: i32) -> Reason {
        let before = self.middle;
        if elasticity > 51 && elasticity < 205 {
            self.knee_rtt = if self.knee_rtt == 0 {
                rtt
            } else {
                self.knee_rtt + (rtt - self.knee_rtt) / 7
            };
        } else if elasticity < 26 && rtt < self.knee_rtt {
            self.knee_rtt = rtt;
        }
        let trust = (self.sxx / 64).min(TRUST / 64);
        let error = (elasticity - law.target_q8) * trust / (TRUST / 64);
        if self.up >= 2 {
            self.middle = self
                .middle
                .saturating_add(scale_per_mille(self.middle, 300).max(256));
        } else if error > 0 {
            // 0.9 √L per unit of elasticity: by the root, so that small shares catch up.
            let root_q8 = isqrt(self.middle) * 16;
            let most = scale_per_mille(self.middle, 150).max(179);
            let step = (root_q8 / 64).saturating_mul(error as u32) * 9 / 40;
            self.middle = self.middle.saturating_add(step.min(most));
        } else {
            // 0.4 L per unit: by a factor.
            let off = scale_per_mille(self.middle, (-error) as u32 * 400 / 256);
            self.middle -= off.min(scale_per_mille(self.middle, 150));
        }
        match self.middle.cmp(&before) {
            core::cmp::Ordering::Greater => Reason::Grew,
            core::cmp::Ordering::Less => Reason::CutLatency,
            core::cmp::Ordering::Equal => Reason::HeldSteady,
        }
    }
}
/// `sum · 0.8 + a · b · weight`, in Q16.
fn forget_and_add(sum: i32, a: i32, b: i32, weight_q8: u32) -> i32 {
    let product = (i64::from(a) * i64::from(b)) >> 16;
    let added = (product * i64::from(weight_q8)) >> 8;
    let kept = sum - sum / 5;
    kept.saturating_add(added.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
}
