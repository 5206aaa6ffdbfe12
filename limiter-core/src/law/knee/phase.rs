//! When a phase begins and ends, and its limit.

use super::super::math::{div_rem, scale_per_mille};
use super::super::{Decision, Next};
use super::state::{Mode, State};
use super::{Knee, Reason, Window};
use crate::time::Ticks;

/// A period is 8 s >> exponent. From half a second, which clocks 100 ms apart still share, to 4 s; alone,
/// without a wall clock, down to an eighth of a second.
const LONGEST: u32 = 1;
pub(super) const FIRST: u32 = 4;
const SHORTEST_ALONE: u32 = 6;

impl State {
    /// A period of 5 to 14 round trips, by powers of two.
    pub(super) fn choose_period(&mut self, window: &Window) {
        let rtt = window.rtt_mean.get();
        let period = (u64::from(window.rate.get()) * 8) >> self.exponent;
        let shortest = if window.wall.is_some() {
            FIRST
        } else {
            SHORTEST_ALONE
        };
        if period < rtt.saturating_mul(5) && self.exponent > LONGEST {
            self.exponent -= 1;
            self.have &= self.mode != Mode::Track;
        } else if period > rtt.saturating_mul(14) && self.exponent < shortest {
            self.exponent += 1;
            self.have &= self.mode != Mode::Track;
        }
    }

    /// The limit and the length of the next phase.
    pub(super) fn next_phase(&mut self, law: &Knee, window: &Window, reason: Reason) -> Decision {
        let rtt = window.rtt_mean.get();
        if self.mode == Mode::Ramp && self.knee_rtt == 0 {
            let limit = self.middle >> 8;
            return Decision::new(limit, reason).then(Next {
                settle: Ticks::new(rtt),
                length: Ticks::new(rtt.saturating_mul(2)),
                samples: limit.max(window.min_samples * 3),
            });
        }
        let hz = window.rate.get();
        let period = (u64::from(hz) * 8) >> self.exponent;
        let (settle, length) = match window.wall {
            None => {
                self.high = !self.high;
                (period * 3 / 10, period - period * 3 / 10)
            }
            Some(wall) => {
                let (index, left) = wall_phase(wall.ticks(), hz, self.exponent);
                if left > period / 2 {
                    self.high = index & 1 == 0;
                    let settle = (left * 2).saturating_sub(period) * 3 / 10;
                    (settle, left - settle)
                } else {
                    // Too late for this phase: wait for the next.
                    self.high = index & 1 == 1;
                    (left + period * 3 / 10, period - period * 3 / 10)
                }
            }
        };
        let least = if self.middle < 5 * 256 { 128 } else { 256 };
        let spread = scale_per_mille(self.middle, law.spread_per_mille).max(least);
        let limit = if self.mode != Mode::Track {
            self.middle >> 8
        } else if self.high {
            (self.middle.saturating_add(spread) >> 8).max((self.middle >> 8) + 1)
        } else {
            (self.middle.saturating_sub(spread) >> 8).max(1)
        };
        Decision::new(limit, reason).then(Next {
            settle: Ticks::new(settle),
            length: Ticks::new(length),
            samples: 0,
        })
    }
}

/// The index of the phase that `wall` is in, and the ticks left of it.
fn wall_phase(wall: u64, hz: u32, exponent: u32) -> (u32, u64) {
    let (_, eighth) = div_rem(wall >> 3, hz);
    let (index, rest) = div_rem(u64::from(eighth) << exponent, hz);
    (index as u32, (u64::from(hz - rest) << 3) >> exponent)
}
