//! Finding the neighbourhood of the knee by factors, from below and from above.

use super::super::math::{scale_exp2, scale_per_mille};
use super::state::{Mode, Phase, State};
use super::{Reason, Window};

/// log2 of 1.07 in Q16: the least difference in concurrency that two steps of a search are taken to have.
const STEP_LEAST: i32 = 6_400;

impl State {
    pub(super) fn begin(&mut self, window: &Window) {
        self.middle = window.limit.saturating_mul(256);
        self.mode = Mode::Ramp;
        self.exponent = super::phase::FIRST;
        self.forget();
    }

    /// Multiplies until throughput stops following.
    pub(super) fn ramp(&mut self, phase: Phase) -> Reason {
        if !self.have && self.cold() && self.above_knee(phase) {
            return self.start_descent(phase);
        }
        if self.have {
            let grown = phase.inflight.saturating_sub(self.other.inflight);
            if grown < STEP_LEAST {
                // The step was not taken: the limit is at its maximum.
                self.mode = Mode::Track;
                self.forget();
                return Reason::HeldSteady;
            }
            let gained = phase.rate.saturating_sub(self.other.rate);
            if gained < grown / 2 {
                if self.up == 0 && self.flat == 0 {
                    // The very first step bought nothing: the start was above the knee already.
                    self.other.inflight = self.other.inflight.min(phase.inflight);
                    return self.start_descent(self.other);
                }
                // The queue began with this step: Little's law at the RTT before it.
                return self.settle_between(self.other, phase);
            }
            self.up += 1;
        }
        self.other = phase;
        self.have = true;
        self.middle = scale_per_mille(self.middle, 1_600).max(self.middle.saturating_add(256));
        Reason::Grew
    }

    /// Ramping from a start, not after a descent.
    pub(super) fn cold(&self) -> bool {
        self.mode == Mode::Ramp && self.flat == 0
    }

    /// Starts dividing from `phase`.
    pub(super) fn start_descent(&mut self, phase: Phase) -> Reason {
        self.forget();
        self.mode = Mode::Descend;
        self.other = phase;
        self.have = true;
        self.step_down(phase)
    }

    /// Divides until throughput suffers.
    pub(super) fn descend(&mut self, phase: Phase) -> Reason {
        if !self.have {
            self.other = phase;
            self.have = true;
            return self.step_down(phase);
        }
        let shrunk = self
            .other
            .inflight
            .saturating_sub(phase.inflight)
            .max(STEP_LEAST);
        let lost = self.other.rate.saturating_sub(phase.rate);
        if lost > shrunk * 2 / 5 {
            if self.flat == 0 {
                // The very first step down cost throughput: there may be room above.
                self.mode = Mode::Ramp;
                self.middle = scale_exp2(1, self.other.inflight);
                (self.flat, self.have) = (1, false);
                return Reason::Probing;
            }
            return self.settle_between(phase, self.other);
        }
        self.flat += 1;
        self.other = phase;
        self.step_down(phase)
    }

    fn step_down(&mut self, phase: Phase) -> Reason {
        let middle = scale_exp2(1, phase.inflight);
        if middle <= 256 + 128 {
            // Nothing below to try.
            self.mode = Mode::Track;
            self.knee_rtt = phase.rtt;
            self.forget();
            self.middle = 256;
            return Reason::CutLatency;
        }
        // By a factor of 1.6, and by one slot at least.
        self.middle = scale_per_mille(middle, 625)
            .min(middle.saturating_sub(256))
            .max(256);
        Reason::CutLatency
    }

    /// The knee lies between two steps: what the higher one's throughput needs at the lower one's RTT, by
    /// Little's law, and a tenth more.
    fn settle_between(&mut self, low: Phase, high: Phase) -> Reason {
        let (least, most) = (scale_exp2(1, low.inflight), scale_exp2(1, high.inflight));
        let needed = scale_exp2(
            1,
            high.inflight
                .saturating_add(low.rtt.saturating_sub(high.rtt)),
        );
        self.middle = scale_per_mille(needed, 1_100)
            .max(scale_per_mille(least, 700))
            .min(most.max(least));
        self.mode = Mode::Track;
        self.knee_rtt = low.rtt;
        self.forget();
        Reason::CutLatency
    }
}
