//! Comparing two limits and moving the middle.

use super::super::math::{isqrt, quotient, scale_per_mille, signed_quotient};
use super::state::{Mode, Phase, State, TRUST, approach, within};
use super::{Knee, Reason, Window};

/// log2 of 1.003 in Q16: two phases whose concurrency differed by less say nothing.
const DELTA_LEAST: i32 = 283;
/// log2 of 2.2 in Q16: what one pair of phases may claim at most.
const CLAIM_MOST: i32 = 75_600;
/// log2 of 1.5 in Q16: an RTT above the knee's by more, and by its square when the limit is small, means that
/// the dependency changed.
pub(super) const BLOAT: i32 = 38_336;
/// Below this middle (Q8) the two limits are far apart by themselves.
const SMALL: u32 = 6 * 256;
/// Below this middle (Q8), when less than nine tenths of the limit are in flight, only the throughput tells what a slot
/// more is worth: so few stand empty between two arrivals, and the RTT claims too little.
const FEW: u32 = 3 * 256;
const NEARLY_ALL_Q8: u32 = 230;
/// Successes that make a phase count fully.
const FULL_PHASE: u32 = 60;

/// How far the elasticities of pairs (Q8) are usually from their regression: 0.25.
const USUAL_NOISE: i32 = 64;

/// Elasticities (Q8) above which a pair shows room for much more, 0.6, and the regression agrees, 0.5.
const ROOM: i32 = 154;
const ROOM_AGREED: i32 = 128;
/// So many such pairs in a row outweigh what was learned before them.
const NEWS: u32 = 3;
/// So many start a search.
const ROOM_PAIRS: u32 = 5;
/// An elasticity (Q8) below which a pair shows nothing but queueing: 0.05.
const FLAT: i32 = 13;
/// So many flat pairs, less those that are not, start a search.
const FLAT_PAIRS: u32 = 8;

impl State {
    /// Compares the phase with the one before it.
    pub(super) fn compare(&mut self, law: &Knee, phase: Phase, window: &Window) -> Reason {
        let samples = window.successes;
        let (before, had) = (self.other, self.have);
        let weight_q8 = quotient(
            samples.min(self.other_samples).min(8 * FULL_PHASE) * 256,
            FULL_PHASE,
        );
        (self.other, self.other_samples, self.have) = (phase, samples, true);
        let (high, low) = if phase.inflight > before.inflight {
            (phase, before)
        } else {
            (before, phase)
        };
        let grown = high.inflight - low.inflight;
        if !had || grown < DELTA_LEAST {
            return Reason::Probing;
        }
        let gained = high.rate - low.rate;
        let unqueued = grown - (high.rtt - low.rtt);
        let empty = window.inflight_avg_q8 < window.limit.saturating_mul(NEARLY_ALL_Q8);
        let claim = if empty && self.middle < FEW {
            gained
        } else {
            gained / 2 + unqueued / 2
        };
        let claim = within(claim, -CLAIM_MOST, CLAIM_MOST);
        let search = self.mode == Mode::Search;
        let (forget, weight_q8) = if search {
            (0, weight_q8)
        } else {
            // Each phase is in two pairs.
            (signed_quotient(128, 5 + self.doubt()), weight_q8 / 2)
        };
        self.sxy = add(self.sxy, forget, grown, claim, weight_q8);
        self.sxx = add(self.sxx, forget, grown, grown, weight_q8);
        let elasticity = within(
            signed_quotient(self.sxy.saturating_mul(16), (self.sxx / 16).max(1)),
            -256,
            307,
        );
        if search {
            return self.search(law, elasticity, low);
        }
        let raw = within(signed_quotient(claim, (grown / 256).max(1)), -512, 512);
        self.noise += ((raw - elasticity).abs() - self.noise) / 16;
        self.bloated = count(self.bloated, self.bloat(low));
        // At the maximum there is nothing to find above.
        let below_max =
            self.middle.saturating_add(self.middle / 4) < window.max.saturating_mul(256);
        let room =
            below_max && raw > ROOM && (elasticity > ROOM_AGREED || raw > elasticity + self.noise);
        self.up = count(self.up, room);
        if self.up == NEWS {
            // What was learned before is out of date.
            self.sxy /= 4;
            self.sxx /= 4;
        }
        self.flat = if elasticity < FLAT && raw < 2 * FLAT {
            self.flat + 1
        } else {
            self.flat.saturating_sub(1)
        };
        let flat = self.flat >= FLAT_PAIRS && self.middle >= SMALL;
        if self.bloated as i32 > self.doubt() / 2 || self.up >= ROOM_PAIRS || flat {
            // The dependency changed, or the knee is elsewhere.
            self.start_search(!flat);
            return Reason::Probing;
        }
        self.step(law, elasticity, phase.rtt)
    }

    /// The RTT is far above the knee's. With few slots one more is a large part of a round trip, and says less.
    pub(super) fn bloat(&self, low: Phase) -> bool {
        let far = if self.middle < SMALL {
            2 * BLOAT
        } else {
            BLOAT
        };
        self.knee_rtt != 0 && low.rtt > self.knee_rtt + far
    }

    /// How many times the usual number of samples it takes here to be as sure, 1 to 12: the square of how far
    /// pairs disagree.
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(super) fn doubt(&self) -> i32 {
        let usual = self.noise / USUAL_NOISE;
        within(usual * usual, 1, 12)
    }

    /// Moves the middle by the elasticity (Q8).
    fn step(&mut self, law: &Knee, elasticity: i32, rtt: i32) -> Reason {
        let before = self.middle;
        if elasticity > 51 && elasticity < 205 {
            self.knee_rtt = approach(self.knee_rtt, rtt, 14);
        } else if elasticity < 26 && rtt < self.knee_rtt {
            self.knee_rtt = rtt;
        }
        let trust = (self.sxx / 64).min(TRUST / 64);
        let error = signed_quotient((elasticity - law.target_q8) * trust, TRUST / 64);
        let error = signed_quotient(error * 5, 4 + self.doubt());
        if self.up >= NEWS {
            self.middle = self
                .middle
                .saturating_add(scale_per_mille(self.middle, 150).max(128));
        } else if error > 0 {
            // 0.45 √L per unit of elasticity: by the root, so that small shares catch up.
            let root_q8 = isqrt(self.middle) * 16;
            let most = scale_per_mille(self.middle, 75).max(90);
            let step = quotient((root_q8 / 64).saturating_mul(error as u32) * 9, 80);
            self.middle = self.middle.saturating_add(step.min(most));
        } else {
            // 0.2 L per unit: by a factor.
            let off = scale_per_mille(self.middle, (-error) as u32 * 200 / 256);
            self.middle -= off.min(scale_per_mille(self.middle, 75));
        }
        match self.middle.cmp(&before) {
            core::cmp::Ordering::Greater => Reason::Grew,
            core::cmp::Ordering::Less => Reason::CutLatency,
            core::cmp::Ordering::Equal => Reason::HeldSteady,
        }
    }
}

/// One more in a row, or none.
fn count(row: u32, one_more: bool) -> u32 {
    if one_more { row + 1 } else { 0 }
}

/// `sum + a · b · weight` in Q16, after a part of the sum (Q8) was forgotten.
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
fn add(sum: i32, forget_q8: i32, a: i32, b: i32, weight_q8: u32) -> i32 {
    let product = (i64::from(a) * i64::from(b)) >> 16;
    let added = (product * i64::from(weight_q8)) >> 8;
    let kept = sum - sum / 256 * forget_q8;
    kept.saturating_add(added.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
}
