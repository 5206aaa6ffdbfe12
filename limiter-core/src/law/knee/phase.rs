//! When a phase begins and ends, and its limit.

use super::super::Next;
use super::super::math::{div_rem, isqrt, quotient, scale_per_mille};
use super::state::{Mode, State};
use super::{Knee, Window};
use crate::time::Ticks;

/// A period is 8 s >> exponent. From half a second, which clocks 100 ms apart still share, to 4 s; alone,
/// without a wall clock, down to an eighth of a second.
const LONGEST: u32 = 1;
pub(super) const FIRST: u32 = 4;
const SHORTEST_ALONE: u32 = 6;

/// A step of a ramp at the service's own pace is judged by at least so many successes: with service times
/// that vary by their mean, the difference of two throughputs is then known to a fifth.
pub(super) const STEP_SAMPLES: u32 = 48;

/// A ramp that demand does not push has this part of a second for a step: a service of microseconds would
/// have its law run every few dozen requests.
const UNHURRIED: u32 = 32;

impl State {
    /// A period of 3 to 10 round trips, by powers of two.
    pub(super) fn choose_period(&mut self, window: &Window) {
        // No period is a thousandth of this: products with it fit.
        let rtt = window.rtt_mean.get().min(1 << 45);
        let shortest = if window.wall.is_some() {
            FIRST
        } else {
            SHORTEST_ALONE
        };
        while period(window, self.exponent) < rtt * 3 && self.exponent > LONGEST {
            self.exponent -= 1;
        }
        while period(window, self.exponent) > rtt * 10 && self.exponent < shortest {
            self.exponent += 1;
        }
    }

    /// The limit and the length of the next phase.
    pub(super) fn next_phase(&mut self, law: &Knee, window: &Window) -> (u32, Next) {
        if self.mode == Mode::Ramp && window.wall.is_none() {
            // Alone, at the service's own pace.
            let limit = self.middle >> 8;
            let rtt = window.rtt_mean.get();
            let least = if window.limited() {
                0
            } else {
                quotient(window.rate.get(), UNHURRIED)
            };
            let next = Next {
                settle: Ticks::new(rtt),
                length: Ticks::new(rtt.saturating_mul(2).max(least.into())),
                samples: limit.max(STEP_SAMPLES),
            };
            return (limit, next);
        }
        let period = period(window, self.exponent);
        let clock = window.wall.unwrap_or(window.now).ticks();
        let (index, left) = wall_phase(clock, window.rate.get(), self.exponent);
        let (settle, length) = if window.wall.is_none() || window.elapsed.get() > period {
            // Alone, or so slow that no phase keeps to the clock.
            self.high = !self.high;
            (skipped(period), period - skipped(period))
        } else if left > period / 2 {
            self.high = index & 1 == 0;
            let settle = skipped((left * 2).saturating_sub(period));
            (settle, left - settle)
        } else {
            // Too late for this phase: wait for the next.
            self.high = index & 1 == 1;
            (left + skipped(period), period - skipped(period))
        };
        let dither = (index.wrapping_add(u32::from(!self.high)) >> 1).reverse_bits() >> 24;
        let next = Next {
            settle: Ticks::new(settle),
            length: Ticks::new(length),
            // Longer where it takes longer to have a phase at all: a small limit in front of a slow service.
            samples: super::LEAST_PHASE,
        };
        (self.limit(law, dither), next)
    }

    /// The limit of the phase. `dither` (Q8) is the same in both phases of a pair and goes through the
    /// eighths from pair to pair: so the two limits are on average as far apart as they should be, relative
    /// to their middle, although they are whole. Otherwise limiters whose middle rounds to a wider step
    /// than their neighbours' would see more room than there is, and take it from them.
    fn limit(&self, law: &Knee, dither: u32) -> u32 {
        if self.mode == Mode::Ramp {
            return self.middle >> 8;
        }
        let spread = self.spread_at(self.middle, law);
        let limit = if self.high {
            self.middle.saturating_add(spread)
        } else {
            self.middle.saturating_sub(spread)
        };
        (limit.saturating_add(dither) >> 8).max(u32::from(self.high) + 1)
    }

    /// How far the two limits are from a middle (Q8): a quarter or a half of it in a search; otherwise 4 √L times
    /// what it is at a limit of 16.
    ///
    /// By the root, because the throughput of a service with more slots is known better, and because of
    /// two limiters in front of one server the one with the smaller share then moves by the larger part
    /// of its own, sees more room than the other, and gains on it.
    pub(super) fn spread_at(&self, middle: u32, law: &Knee) -> u32 {
        let spread = match self.mode {
            Mode::Search if self.bloated != 0 => middle / 2,
            Mode::Search => middle / 4,
            _ => scale_per_mille(isqrt(middle) * 64, law.spread_per_mille),
        };
        spread.max(128)
    }
}

/// The first part of a phase, in which permits of the last one end: three tenths.
fn skipped(period: u64) -> u64 {
    // Below 2³⁵.
    (period * 77) >> 8
}

/// The length of a phase in ticks.
fn period(window: &Window, exponent: u32) -> u64 {
    (u64::from(window.rate.get()) * 8) >> exponent
}

/// The index of the phase that `wall` is in, and the ticks left of it.
fn wall_phase(wall: u64, hz: u32, exponent: u32) -> (u32, u64) {
    let (_, eighth) = div_rem(wall >> 3, hz);
    let (index, rest) = div_rem(u64::from(eighth) << exponent, hz);
    (index as u32, (u64::from(hz - rest) << 3) >> exponent)
}
