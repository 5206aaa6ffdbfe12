//! The arithmetic of a retry budget: milli-tokens, and a floor that loses and gains nothing by rounding.

use super::math::div_rem;
use crate::time::{Pace, Ticks, Timestamp};

/// Milli-tokens in a token.
pub(crate) const TOKEN: u32 = 1_000;

/// Capacity and ratio in milli-tokens, and the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) capacity: u32,
    pub(crate) ratio: u32,
    pub(crate) floor: Floor,
}

impl Terms {
    /// What a budget may lack that a token is taken from.
    pub(crate) const fn spare(self) -> u32 {
        self.capacity.saturating_sub(TOKEN)
    }
}

/// What is done to a balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Posting {
    /// A retry takes its cost.
    Withdraw(u32),
    /// A hedge takes its cost, from a budget that is more than half full.
    WithdrawHedge(u32),
}

impl Posting {
    /// What is left of a balance; `None` when it does not allow it.
    #[inline]
    pub(crate) const fn apply(self, balance: u32, capacity: u32) -> Option<u32> {
        let cost = match self {
            Self::WithdrawHedge(_) if balance <= capacity / 2 => return None,
            Self::Withdraw(cost) | Self::WithdrawHedge(cost) => cost,
        };
        balance.checked_sub(cost)
    }
}

/// What time adds: milli-tokens per 2³² units of time.
///
/// ```text
/// 31..12 mantissa, which is even | 11..6 what the exponent lacks of 32 | 5..0 ticks of a unit, as a shift
/// ```
///
/// Everything that ever came in until unit `s` is `floor(s · k / 2³²)`, so what came in between two stamps
/// is the difference of two such numbers: whatever is rounded away is in the next one, and the sum over any
/// number of steps is that of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Floor(pub(crate) u32);

const SHIFT_MASK: u32 = (1 << 6) - 1;
const LACK_AT: u32 = 6;
const MANTISSA_AT: u32 = 12;
const MANTISSA_BITS: u32 = 32 - MANTISSA_AT;

impl Floor {
    /// A bit that is clear in every floor.
    pub(crate) const SPARE: u32 = 1 << MANTISSA_AT;

    pub(crate) const fn none(pace: Pace) -> Self {
        Self::of(0, 0, pace)
    }

    /// `mantissa << exponent`, which is at most 32.
    const fn of(mantissa: u32, exponent: u32, pace: Pace) -> Self {
        let word = mantissa << MANTISSA_AT | (32 - exponent) << LACK_AT | pace.shift();
        Self(word & !Self::SPARE)
    }

    /// `milli` in each `ticks` ticks; rounded down by less than six millionths.
    pub(crate) const fn new(milli: u32, ticks: u64, pace: Pace) -> Self {
        // A divisor of 20 bits, rounded up, leaves 22 bits or more of quotient.
        let spare = (64 - ticks.leading_zeros()).saturating_sub(20);
        let lost = ticks & ((1 << spare) - 1) != 0;
        let divisor = (ticks >> spare) as u32 + lost as u32;
        let (quotient, _) = div_rem((milli as u64) << 32, divisor);
        let used = 64 - quotient.leading_zeros();
        let over = used.saturating_sub(MANTISSA_BITS);
        let mantissa = (quotient >> over) as u32;
        let exponent = (over + pace.shift()) as i32 - spare as i32;
        if exponent < 0 {
            // Slower than one milli-token in a day; the mantissa gives way.
            let down = exponent.unsigned_abs();
            let mantissa = if down < 32 { mantissa >> down } else { 0 };
            Self::of(mantissa, 0, pace)
        } else if exponent > 32 {
            Self::of(u32::MAX, 32, pace)
        } else {
            Self::of(mantissa, exponent as u32, pace)
        }
    }

    const fn mantissa(self) -> u64 {
        (self.0 >> MANTISSA_AT) as u64
    }

    const fn lack(self) -> u32 {
        self.0 >> LACK_AT & SHIFT_MASK
    }

    /// All units until `now`, of which a stamp is the low half.
    #[inline]
    pub(crate) const fn units(self, now: Timestamp) -> u64 {
        now.ticks() >> (self.0 & SHIFT_MASK)
    }

    pub(crate) const fn ticks(self, units: u32) -> Ticks {
        Ticks::new((units as u64) << (self.0 & SHIFT_MASK))
    }

    /// Milli-tokens that ever came in until `units`, modulo 2³².
    #[inline]
    pub(crate) const fn given(self, units: u64) -> u32 {
        // At most 32: the bits that are kept are those of a product of 64.
        (units.wrapping_mul(self.mantissa()) >> self.lack()) as u32
    }

    /// Milli-tokens that come in during `elapsed` units from stamp `from`; saturates.
    #[cfg_attr(target_pointer_width = "64", inline)]
    pub(crate) const fn gain(self, from: u32, elapsed: u32) -> u32 {
        // At most 20 bits shifted by 32: both halves below fit.
        let k = self.mantissa() << ((32 - self.lack()) & SHIFT_MASK);
        let (high, low) = ((k >> 32) as u32, k as u32);
        // What `floor(from · k / 2³²)` left over; the high half of `k` leaves nothing.
        let rest = from.wrapping_mul(low) as u64;
        let gain = elapsed as u64 * high as u64 + ((elapsed as u64 * low as u64 + rest) >> 32);
        if gain > u32::MAX as u64 {
            u32::MAX
        } else {
            gain as u32
        }
    }

    /// The fewest units from stamp `from` after which `milli` have come in; `None` when that is beyond
    /// `most`.
    pub(crate) const fn time_for(self, from: u32, milli: u32, most: u32) -> Option<u32> {
        if self.gain(from, most) < milli {
            return None;
        }
        let (mut short, mut enough) = (0, most);
        while short < enough {
            let middle = short + (enough - short) / 2;
            if self.gain(from, middle) < milli {
                short = middle + 1;
            } else {
                enough = middle;
            }
        }
        Some(enough)
    }
}

/// `balance` of a budget of `from` in one of `to`: equally full, rounded down.
pub(crate) const fn rescale(balance: u32, from: u32, to: u32) -> u32 {
    let (scaled, _) = div_rem(balance as u64 * to as u64, from);
    if scaled > to as u64 {
        to
    } else {
        scaled as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::TickRate;

    /// Units of 512 ticks of a microsecond.
    const PACE: Pace = TickRate::MICROS.pace();

    #[test]
    fn what_comes_in_between_two_stamps_does_not_depend_on_the_steps_between() {
        // 1 token in 10 s.
        let floor = Floor::new(TOKEN, 10_000_000, PACE);
        for step in [1, 7, 19, 20, 4_096, 100_003] {
            let (mut stamp, mut sum) = (u32::MAX - 5_000_000, 0u64);
            for _ in 0..1_000 {
                sum += u64::from(floor.gain(stamp, step));
                stamp = stamp.wrapping_add(step);
            }
            let at_once = floor.gain(u32::MAX - 5_000_000, step * 1_000);
            assert_eq!(sum, u64::from(at_once), "steps of {step}");
        }
    }

    #[test]
    fn what_was_given_until_then_is_what_came_in_between() {
        for floor in [
            Floor::new(TOKEN, 10_000_000, PACE),
            Floor::new(1_000 * TOKEN, 1, TickRate::MILLIS.pace()),
            Floor::new(1, 500_000_000_000, PACE),
        ] {
            for from in [0, 12_345, (1 << 32) - 1_000, 1 << 32, 1 << 40] {
                for elapsed in [0, 1, 1_001, 1_000_000] {
                    let between = floor.given(from + elapsed).wrapping_sub(floor.given(from));
                    let came_in = floor.gain(from as u32, elapsed as u32);
                    // A floor that is faster than the word saturates there, and wraps here.
                    if came_in != u32::MAX {
                        assert_eq!(between, came_in, "{elapsed} units from {from}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_floor_is_within_a_hundredth_of_a_percent_and_never_above() {
        for (milli, ticks, rate) in [
            (TOKEN, 10_000_000, TickRate::MICROS),
            (TOKEN, 86_400_000_000, TickRate::MICROS),
            (TOKEN, 7 * 86_400_000_000, TickRate::MICROS),
            (700 * TOKEN, 60_000_000, TickRate::MICROS),
            (TOKEN, 100_000, TickRate::MICROS),
            (1_000 * TOKEN, 1_000_000_000, TickRate::NANOS),
            (TOKEN, 100, TickRate::MILLIS),
            (1_000 * TOKEN, 1, TickRate::MILLIS),
            (1, 1, TickRate::MILLIS),
        ] {
            let floor = Floor::new(milli, ticks, rate.pace());
            let units = u32::MAX / 4;
            let passed = u128::from(floor.ticks(units).get());
            let exact = u128::from(milli) * passed / u128::from(ticks);
            let exact = exact.min(u32::MAX.into()) as u64;
            let got = u64::from(floor.gain(0, units));
            assert!(got <= exact, "{got} of {exact}");
            assert!(exact - got <= exact / 10_000 + 1, "{got} of {exact}");
        }
    }

    #[test]
    fn no_floor_is_out_of_range_of_its_words() {
        for milli in [0, 1, TOKEN, 1_000 * TOKEN, u32::MAX] {
            for ticks in [0, 1, 1 << 20, u64::MAX] {
                for rate in [TickRate::MILLIS, TickRate::MICROS, TickRate::NANOS] {
                    let floor = Floor::new(milli, ticks, rate.pace());
                    let _ = floor.gain(u32::MAX, u32::MAX);
                    assert_eq!(floor.0 & Floor::SPARE, 0);
                }
            }
        }
        assert_eq!(Floor::none(PACE).gain(7, u32::MAX), 0);
    }

    #[test]
    fn the_time_for_a_token_is_the_first_at_which_it_is_there() {
        let floor = Floor::new(TOKEN, 10_000_000, PACE);
        for (from, milli) in [(0, 1), (123, 1), (u32::MAX, 1_000), (77, 999)] {
            let time = floor.time_for(from, milli, u32::MAX / 4).unwrap();
            assert!(time >= 1);
            assert!(floor.gain(from, time) >= milli && floor.gain(from, time - 1) < milli);
        }
        assert_eq!(Floor::none(PACE).time_for(0, 1, u32::MAX / 4), None);
        assert_eq!(floor.time_for(0, 0, 9), Some(0));
    }
}
