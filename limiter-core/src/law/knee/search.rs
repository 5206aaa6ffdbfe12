//! Finding the neighbourhood of the knee: by factors from below, and with two limits far apart.

use super::super::math::{scale_exp2, scale_per_mille};
use super::phase::STEP_SAMPLES;
use super::state::{Mode, Phase, State, THIRD};
use super::track::BLOAT;
use super::{Knee, Reason};

/// log2 of 1.07 in Q16: the least difference in concurrency that two steps of a ramp are taken to have.
const STEP_LEAST: i32 = 6_400;
/// The weight at which a search decides: one pair of 48 successes each, at limits a quarter above and below.
const DECIDED: i32 = 26_000;
/// Elasticities (Q8) above which the knee is far above, 0.7, and below which it is below, 0.25.
const FAR_ABOVE: i32 = 180;
const BELOW: i32 = 64;
/// The same of limits a half above and below, one of which is far below a knee in the middle: 0.3.
const BELOW_WIDE: i32 = 77;
/// An elasticity (Q8) below which the RTT tells how far below: 0.1.
const FLAT: i32 = 26;
/// Steps as log2 in Q16: 1.15, 1.25, 1.6 and 4.
const LEAST: i32 = 13_215;
const SMALL: i32 = 21_098;
const USUAL: i32 = 44_437;
const MOST: i32 = 131_072;
/// log2 of 2 in Q16.
const DOUBLE: i32 = 65_536;

impl State {
    /// Compares two limits far apart; upwards too when there may be room.
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(super) fn start_search(&mut self, may_grow: bool) {
        self.start(Mode::Search);
        self.flat = u32::from(!may_grow);
    }

    /// The limit has just become full, at more than twice the RTT of the phases before. With more done than usually
    /// it is a load that the limit was too high for, and they tell how much is needed, by Little's law. With no
    /// more done it is slower work, for which the limit may be too low: to search, from as many times the
    /// limit as less is done when that is less than half.
    pub(super) fn onset(&mut self, law: &Knee, phase: Phase) -> Option<Reason> {
        let excess = phase.rtt - self.knee_rtt;
        let new = self.onset > 0;
        self.onset = self.onset.saturating_sub(1);
        if !new || self.knee_rtt == 0 || excess < DOUBLE {
            return None;
        }
        let less = self.usual_rate - phase.rate;
        if self.usual_rate != 0 && less > -LEAST {
            self.onset = 0;
            if less > DOUBLE {
                self.middle = scale_exp2(self.middle, less.min(MOST));
            }
            self.start_search(true);
            return None;
        }
        let needed = scale_exp2(1, phase.inflight - excess);
        // Two such phases are looked at, and one may have stalled: by half at most.
        self.middle = scale_per_mille(needed, 1_250)
            .max(self.middle / 2)
            .max(256)
            .min(self.middle);
        self.track(law.target_q8);
        Some(Reason::CutLatency)
    }

    /// Less than a quarter is done of what usually is, and the RTT is near the knee's: the limit was cut, and what
    /// it was cut for is over.
    pub(super) fn is_way_back(&self, phase: Phase) -> bool {
        self.usual_rate != 0
            && self.knee_rtt != 0
            && phase.rate < self.usual_rate - 2 * DOUBLE
            && phase.rtt < self.knee_rtt + BLOAT
    }

    /// Multiplies until throughput stops following. On the way back to what was usual nothing is judged: a step of
    /// a small limit ends a dozen permits, and a ramp that chance stops is made up for by the minute.
    pub(super) fn ramp(&mut self, step: Phase, samples: u32) -> Reason {
        let back = self.is_way_back(step);
        if !back && !self.have && self.queues(step, samples) {
            // Nothing to compare with, and multiplied each time that a queue fills the limit it would follow it.
            self.start_search(true);
            return Reason::Probing;
        }
        if !back && self.have {
            let grown = step.inflight - self.other.inflight;
            if grown < STEP_LEAST {
                // The step was not taken: the limit is at its maximum.
                self.track(THIRD);
                return Reason::HeldSteady;
            }
            let gained = step.rate - self.other.rate;
            if gained < grown / 2 {
                if self.up == 0 {
                    // The very first step bought nothing: the start was above the knee already.
                    self.middle = scale_exp2(1, self.other.inflight.min(step.inflight));
                    self.start_search(false);
                    return Reason::CutLatency;
                }
                return self.settle_between(self.other, step);
            }
            self.up += 1;
        }
        self.other = step;
        self.have = true;
        self.multiply()
    }

    pub(super) fn multiply(&mut self) -> Reason {
        self.middle = scale_per_mille(self.middle, 1_600).max(self.middle.saturating_add(256));
        Reason::Grew
    }

    /// The RTT is above that of the phases that were not full.
    fn queues(&self, step: Phase, samples: u32) -> bool {
        let seen = samples >= STEP_SAMPLES && self.knee_rtt != 0;
        seen && step.rtt > self.knee_rtt + SMALL || self.bloat(step)
    }

    /// The queue began with the last step. The knee lies between two steps: what the higher one's throughput
    /// needs at the lower one's RTT, by Little's law, and a tenth more.
    fn settle_between(&mut self, low: Phase, high: Phase) -> Reason {
        let (least, most) = (scale_exp2(1, low.inflight), scale_exp2(1, high.inflight));
        let needed = scale_exp2(1, high.inflight + low.rtt - high.rtt);
        self.middle = scale_per_mille(needed, 1_100)
            .max(scale_per_mille(least, 700))
            .min(most.max(least));
        self.knee_rtt = low.rtt;
        self.track(THIRD);
        Reason::CutLatency
    }

    /// Judges a pair of limits far apart by the elasticity (Q8) of all pairs of this search: steps towards
    /// the knee, by half of the last step when that went too far.
    pub(super) fn search(&mut self, law: &Knee, elasticity: i32, low: Phase) -> Reason {
        if self.sxx < DECIDED * self.doubt().min(4) {
            return Reason::Probing;
        }
        let wide = self.bloated != 0;
        let below = if wide { BELOW_WIDE } else { BELOW };
        if !wide && elasticity > below && elasticity < FAR_ABOVE && self.bloat(low) {
            // An RTT far above the knee's that does not seem to be a queue. A pair of a few dozen successes at
            // limits so near is off by 0.3; half of the limit tells slower work, which then suffers, from more
            // of it, which does not.
            let (flat, step) = (self.flat, self.step);
            self.start(Mode::Search);
            (self.flat, self.step, self.bloated) = (flat, step, 1);
            return Reason::Probing;
        }
        let before = self.middle;
        let step = if elasticity > FAR_ABOVE && self.flat == 0 {
            // Whatever the RTT is, there is no queue in it.
            self.knee_rtt = low.rtt;
            match self.step {
                0 => USUAL,
                up @ 1.. => up,
                down => down / -2,
            }
        } else if elasticity > below {
            // Near.
            self.knee_rtt = low.rtt;
            0
        } else if self.step > 0 {
            self.step / -2
        } else {
            -self.too_much(elasticity, low)
        };
        self.start(Mode::Search);
        self.step = step;
        self.middle = scale_exp2(before, step).max(256);
        if step.abs() < SMALL || self.middle == before {
            self.track(law.target_q8);
        }
        match step {
            1.. => Reason::Grew,
            0 => Reason::HeldSteady,
            _ => Reason::CutLatency,
        }
    }

    /// How far below the knee is, as a factor.
    fn too_much(&mut self, elasticity: i32, low: Phase) -> i32 {
        if elasticity > FLAT {
            return SMALL;
        }
        let excess = low.rtt - self.knee_rtt;
        if self.knee_rtt != 0 && excess > LEAST {
            return excess.min(MOST);
        }
        // The RTT of the knee that we believed in is not it.
        self.knee_rtt = 0;
        USUAL
    }
}
