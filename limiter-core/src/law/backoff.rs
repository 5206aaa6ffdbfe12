//! Delays between attempts, in whatever unit they are given in.

use super::math::leading_zeros;

/// The window of full jitter after so many failures: the base doubled for each after the first, up to the
/// cap.
pub(crate) const fn window(base: u32, cap: u32, failures: u32) -> u32 {
    let doublings = failures.saturating_sub(1);
    let window = if doublings >= leading_zeros(base) {
        cap
    } else {
        base << doublings
    };
    if window > cap { cap } else { window }
}

/// A part of `range`: `random / 2³²` of it.
pub(crate) const fn part(range: u32, random: u32) -> u32 {
    ((range as u64 * random as u64) >> 32) as u32
}

/// Full jitter: evenly between 1 and the window. (AWS Architecture Blog, "Exponential Backoff And Jitter".)
pub(crate) const fn full(base: u32, cap: u32, failures: u32, random: u32) -> u32 {
    let window = window(base, cap, failures);
    if window == 0 {
        0
    } else {
        1 + part(window, random)
    }
}

/// Decorrelated jitter: evenly between the base and three times the delay before, up to the cap. (The same
/// article: its lower bound stays the base, so that delays can shrink again.)
pub(crate) const fn decorrelated(base: u32, cap: u32, before: u32, random: u32) -> u32 {
    let before = if before < base { base } else { before };
    let range = before.saturating_mul(3) - base;
    let delay = base.saturating_add(part(range.saturating_add(1), random));
    if delay > cap { cap } else { delay }
}

/// Spreads every bit of `x` over all bits of the result, one to one: two multiplications and three shifts,
/// of Ettinger's search for 32-bit functions with low bias (hash-prospector).
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(crate) const fn mix(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x21f0_aaad);
    x ^= x >> 15;
    x = x.wrapping_mul(0xd35a_2d97);
    x ^ (x >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [u32; 6] = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, u32::MAX];

    #[test]
    fn windows_double_never_shrink_and_stop_at_the_cap() {
        for (base, cap) in [
            (1, 1),
            (1_000, 10_000),
            (1, u32::MAX),
            (u32::MAX, u32::MAX),
            (3, 1 << 30),
        ] {
            let mut before = 0;
            for failures in (0..=1_000).chain([u32::MAX - 1, u32::MAX]) {
                let now = window(base, cap, failures);
                assert!(now >= before && now <= cap && now > 0);
                before = now;
            }
            assert_eq!(before, cap);
        }
    }

    #[test]
    fn no_delay_is_zero_or_above_the_cap() {
        for (base, cap) in [(1, 1), (1_000, 10_000), (1, u32::MAX), (u32::MAX, u32::MAX)] {
            for random in WORDS {
                for number in [0, 1, 2, 31, 32, 33, 64, u32::MAX] {
                    assert!((1..=cap).contains(&full(base, cap, number, random)));
                    assert!((base..=cap).contains(&decorrelated(base, cap, number, random)));
                }
            }
        }
        assert_eq!(full(0, 0, 7, u32::MAX), 0);
    }

    #[test]
    fn jitter_reaches_both_ends_of_its_range() {
        assert_eq!(
            (full(100, 800, 3, 0), full(100, 800, 3, u32::MAX)),
            (1, 400)
        );
        assert_eq!(
            (
                decorrelated(100, 9_999, 200, 0),
                decorrelated(100, 9_999, 200, u32::MAX)
            ),
            (100, 600)
        );
    }
}
