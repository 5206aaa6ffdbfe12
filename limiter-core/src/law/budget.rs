//! The arithmetic of a retry budget: milli-tokens, and a floor that loses and gains nothing by rounding.

use super::math::div_rem;

/// Milli-tokens in a token.
pub(crate) const TOKEN: u32 = 1_000;

/// Capacity and ratio in milli-tokens, and the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) capacity: u32,
    pub(crate) ratio: u32,
    pub(crate) floor: Floor,
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
    /// What is missing to a full budget afterwards, where `lack` is now; `None` when that does not allow it.
    #[inline]
    pub(crate) const fn apply(self, lack: u32, capacity: u32) -> Option<u32> {
        let cost = match self {
            Self::WithdrawHedge(_) if lack >= capacity - capacity / 2 => return None,
            Self::Withdraw(cost) | Self::WithdrawHedge(cost) => cost,
        };
        // No cost that could be paid is larger, so the sum is one.
        let cost = if cost > MOST { MOST } else { cost };
        let after = lack + cost;
        if after <= capacity { Some(after) } else { None }
    }
}

/// Half of what a word holds: more than any capacity.
const MOST: u32 = u32::MAX / 2;

/// What time adds: milli-tokens per 2³² units of time, as 26 bits of mantissa and 6 of exponent; of this is kept
/// what is missing to 32.
///
/// Everything that ever came in until unit `s` is `floor(s · k / 2³²)`, so what came in between two stamps
/// is the difference of two such numbers: whatever is rounded away is in the next one, and the sum over any
/// number of steps is that of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Floor(pub(crate) u32);

const EXPONENT_BITS: u32 = 6;
const EXPONENT_MASK: u32 = (1 << EXPONENT_BITS) - 1;
const MANTISSA_BITS: u32 = 32 - EXPONENT_BITS;

impl Floor {
    pub(crate) const NONE: Self = Self::of(0, 0);

    /// `mantissa << exponent`, which is at most 26.
    const fn of(mantissa: u32, exponent: u32) -> Self {
        Self(mantissa << EXPONENT_BITS | (32 - exponent))
    }

    /// `milli` in each `ticks` ticks, whose unit is `1 << shift` ticks; rounded down by less than two
    /// millionths.
    pub(crate) const fn new(milli: u32, ticks: u64, shift: u32) -> Self {
        // A divisor of 20 bits, rounded up, leaves 22 bits or more of quotient.
        let spare = (64 - ticks.leading_zeros()).saturating_sub(20);
        let lost = ticks & ((1 << spare) - 1) != 0;
        let divisor = (ticks >> spare) as u32 + lost as u32;
        let (quotient, _) = div_rem((milli as u64) << 32, divisor);
        let used = 64 - quotient.leading_zeros();
        let over = used.saturating_sub(MANTISSA_BITS);
        let mantissa = (quotient >> over) as u32;
        let exponent = (over + shift) as i32 - spare as i32;
        if exponent < 0 {
            // Slower than one milli-token in a day; the mantissa gives way.
            let down = exponent.unsigned_abs();
            let mantissa = if down < 32 { mantissa >> down } else { 0 };
            Self::of(mantissa, 0)
        } else if exponent > 26 {
            Self::of(u32::MAX >> EXPONENT_BITS, 26)
        } else {
            Self::of(mantissa, exponent as u32)
        }
    }

    /// Milli-tokens that ever came in until `units`, modulo 2³².
    #[inline]
    pub(crate) const fn given(self, units: u64) -> u32 {
        let product = units.wrapping_mul((self.0 >> EXPONENT_BITS) as u64);
        // At most 32: the bits that are kept are those of a product of 64.
        (product >> (self.0 & EXPONENT_MASK)) as u32
    }

    /// Milli-tokens that come in during `elapsed` units from stamp `from`; saturates.
    #[cfg_attr(target_pointer_width = "64", inline)]
    pub(crate) const fn gain(self, from: u32, elapsed: u32) -> u32 {
        // At most 26 bits shifted by 26: both halves below fit.
        let k = ((self.0 >> EXPONENT_BITS) as u64) << ((32 - (self.0 & EXPONENT_MASK)) & 31);
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

    #[test]
    fn what_comes_in_between_two_stamps_does_not_depend_on_the_steps_between() {
        // 1 token in 10 s in units of 512 µs.
        let floor = Floor::new(TOKEN, 10_000_000, 9);
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
            Floor::new(TOKEN, 10_000_000, 9),
            Floor::new(1_000 * TOKEN, 1_000, 0),
            Floor::new(1, 500_000_000_000, 9),
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
        for (milli, ticks, shift) in [
            (TOKEN, 10_000_000, 9),
            (TOKEN, 86_400_000_000, 9),
            (TOKEN, 7 * 86_400_000_000, 9),
            (700 * TOKEN, 60_000_000, 9),
            (TOKEN, 100_000, 9),
            (1_000 * TOKEN, 1_000_000_000, 19),
            (TOKEN, 100, 0),
            (1, 1, 0),
        ] {
            let floor = Floor::new(milli, ticks, shift);
            let units = u32::MAX / 4;
            let exact = u128::from(milli) * (u128::from(units) << shift) / u128::from(ticks);
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
                for shift in [0, 9, 22] {
                    let floor = Floor::new(milli, ticks, shift);
                    let _ = floor.gain(u32::MAX, u32::MAX);
                }
            }
        }
        assert_eq!(Floor::NONE.gain(7, u32::MAX), 0);
    }

    #[test]
    fn the_time_for_a_token_is_the_first_at_which_it_is_there() {
        let floor = Floor::new(TOKEN, 10_000_000, 9);
        for (from, milli) in [(0, 1), (123, 1), (u32::MAX, 1_000), (77, 999)] {
            let time = floor.time_for(from, milli, u32::MAX / 4).unwrap();
            assert!(time >= 1);
            assert!(floor.gain(from, time) >= milli && floor.gain(from, time - 1) < milli);
        }
        assert_eq!(Floor::NONE.time_for(0, 1, u32::MAX / 4), None);
        assert_eq!(floor.time_for(0, 0, 9), Some(0));
    }
}
