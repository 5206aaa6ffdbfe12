//! Integer arithmetic of the laws: no division of 64 bits on 32-bit targets, no float anywhere.

/// `n / d` and `n % d`; `(u64::MAX, 0)` for `d` 0.
pub(crate) const fn div_rem(n: u64, d: u32) -> (u64, u32) {
    if d == 0 {
        (u64::MAX, 0)
    } else if usize::BITS >= 64 {
        (n / d as u64, (n % d as u64) as u32)
    } else {
        div_rem_by_shifting(n, d)
    }
}

/// The same by shifting and subtracting: on 32-bit targets the compiler's routine costs a kilobyte of flash.
/// What is left of `n` moves up, and the quotient in behind it.
#[inline(never)]
const fn div_rem_by_shifting(n: u64, d: u32) -> (u64, u32) {
    let (mut low, mut high, mut rest, mut bits) = (n as u32, (n >> 32) as u32, 0_u32, 64);
    if high == 0 {
        (low, high, bits) = (0, low, 32);
    }
    while bits > 0 {
        bits -= 1;
        let carried = rest >> 31 != 0;
        rest = rest << 1 | high >> 31;
        high = high << 1 | low >> 31;
        low <<= 1;
        if carried || rest >= d {
            rest = rest.wrapping_sub(d);
            low |= 1;
        }
    }
    ((high as u64) << 32 | low as u64, rest)
}

/// ARM cores without compare-and-swap (ARMv6-M) divide and count leading zeros in software too, by routines of the
/// compiler that are unrolled: 400 and 100 bytes. There the loops below stand for them. RISC-V may divide without
/// having atomics.
const BARE: bool = cfg!(all(target_arch = "arm", not(target_has_atomic = "32")));

/// `n / d`; 0 for `d` 0.
#[cfg_attr(target_pointer_width = "64", inline)]
pub(crate) const fn quotient(n: u32, d: u32) -> u32 {
    if BARE {
        return quotient_by_shifting(n, d);
    }
    match n.checked_div(d) {
        Some(quotient) => quotient,
        None => 0,
    }
}

#[inline(never)]
const fn quotient_by_shifting(n: u32, d: u32) -> u32 {
    if d == 0 {
        return 0;
    }
    let (mut rest, mut part, mut bit, mut quotient) = (n, d, 1_u32, 0);
    while part <= rest >> 1 {
        part <<= 1;
        bit <<= 1;
    }
    while bit != 0 {
        if part <= rest {
            rest -= part;
            quotient |= bit;
        }
        part >>= 1;
        bit >>= 1;
    }
    quotient
}

/// `n / d`, rounded up; 0 for `d` 0.
pub(crate) const fn quotient_up(n: u32, d: u32) -> u32 {
    let down = quotient(n, d);
    down + (down.wrapping_mul(d) < n && d != 0) as u32
}

/// `n / d`, towards 0; 0 for `d` below 1.
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(crate) const fn signed_quotient(n: i32, d: i32) -> i32 {
    let magnitude = quotient(n.unsigned_abs(), if d > 0 { d as u32 } else { 0 }) as i32;
    if n < 0 {
        magnitude.wrapping_neg()
    } else {
        magnitude
    }
}

/// Leading zeros of `x`, 32 for 0.
pub(crate) const fn leading_zeros(x: u32) -> u32 {
    if BARE {
        leading_zeros_by_halving(x)
    } else {
        x.leading_zeros()
    }
}

#[inline(never)]
const fn leading_zeros_by_halving(x: u32) -> u32 {
    let (mut rest, mut zeros, mut step) = (x, 0, 16);
    while step > 0 {
        if rest >> (32 - step) == 0 {
            rest <<= step;
            zeros += step;
        }
        step >>= 1;
    }
    zeros + (rest >> 31 == 0) as u32
}

/// log2 of `x`, rounded down; 0 for 0.
pub(crate) const fn ilog2(x: u32) -> u32 {
    31_u32.saturating_sub(leading_zeros(x))
}

/// `x / 1_000` for a limit times a share, plus less than a thousand: in 32 bits for limits of 15.
#[inline]
pub(crate) const fn thousandth(x: usize) -> usize {
    if usize::BITS >= 64 {
        x / 1_000
    } else {
        thousandth_by_multiplying(x as u32) as usize
    }
}

/// The same without a division: a Cortex-M0 has none, nor a multiplication to 64 bits to replace it by.
const fn thousandth_by_multiplying(x: u32) -> u32 {
    // A little too small, by 20 at most; what is left then is exact, times 2²⁶ / 1,000.
    let most = ((x >> 10) * 1_048) >> 10;
    most + (((x - most * 1_000) * 67_109) >> 26)
}

/// log2 of `x` in Q16, 0 for `x` 0 (as for 1). The error is below 2 in 65,536.
///
/// By repeated squaring of the mantissa (Knuth, TAOCP 1, 1.2.2, exercise 25): one multiplication a bit.
pub(crate) const fn log2_q16(x: u64) -> i32 {
    let (high, low) = ((x >> 32) as u32, x as u32);
    if x == 0 {
        return 0;
    }
    // The mantissa in [1, 2) as Q31.
    let (exponent, mut mantissa) = if high == 0 {
        let zeros = leading_zeros(low);
        (31 - zeros, low << zeros)
    } else {
        let zeros = leading_zeros(high);
        (63 - zeros, high << zeros | (low >> 1) >> (31 - zeros))
    };
    let mut fraction = 0;
    let mut bit = 1 << 15;
    while bit > 0 {
        let square = (mantissa as u64 * mantissa as u64) >> 31;
        if square >> 32 != 0 {
            fraction |= bit;
            mantissa = (square >> 1) as u32;
        } else {
            mantissa = square as u32;
        }
        bit >>= 1;
    }
    ((exponent << 16) | fraction) as i32
}

/// `value · 2^(exponent / 65,536)`, saturating; within 0.3 %.
pub(crate) const fn scale_exp2(value: u32, exponent_q16: i32) -> u32 {
    let whole = exponent_q16 >> 16;
    let fraction = (exponent_q16 & 0xffff) as u64;
    // 2^f = 1 + f (0.6565 + 0.3435 f) on [0, 1): exact at both ends.
    let power = 65_536 + ((fraction * (43_024 + ((22_512 * fraction) >> 16))) >> 16);
    let scaled = value as u64 * power;
    let scaled = if whole >= 16 {
        let left = whole - 16;
        if value == 0 {
            0
        } else if left < 32 && scaled <= (u32::MAX as u64) >> left {
            scaled << left
        } else {
            u64::MAX
        }
    } else if whole <= -48 {
        0
    } else {
        scaled >> (16 - whole)
    };
    if scaled > u32::MAX as u64 {
        u32::MAX
    } else {
        scaled as u32
    }
}

/// `value · per_mille / 1000`, within 0.04 %, saturating.
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(crate) const fn scale_per_mille(value: u32, per_mille: u32) -> u32 {
    // 1,049 / 2²⁰ is 1 / 1,000.
    let scaled = (value as u64 * per_mille as u64 * 1_049) >> 20;
    if scaled > u32::MAX as u64 {
        u32::MAX
    } else {
        scaled as u32
    }
}

/// The square root of `x`, rounded down.
pub(crate) const fn isqrt(x: u32) -> u32 {
    if BARE { isqrt_by_digits(x) } else { x.isqrt() }
}

/// The same digit by digit, as on paper.
#[inline(never)]
const fn isqrt_by_digits(x: u32) -> u32 {
    let (mut rest, mut root, mut bit) = (x, 0, 1 << 30);
    while bit > x {
        bit >>= 2;
    }
    while bit != 0 {
        let next = root + bit;
        root >>= 1;
        if rest >= next {
            rest -= next;
            root += bit;
        }
        bit >>= 2;
    }
    root
}

/// The decimal logarithm of `x`, rounded down; 0 for 0.
pub(crate) const fn ilog10(x: u32) -> u32 {
    match x.checked_ilog10() {
        Some(log) => log,
        None => 0,
    }
}

/// `value · share / 1,000`, rounded down; for shares up to 1,000.
pub(crate) const fn per_mille(value: u32, share: u32) -> u32 {
    // Thousands and the rest apart: no product of more than 32 bits.
    let whole = quotient(value, 1_000);
    let rest = value - whole * 1_000;
    whole * share + quotient(rest * share, 1_000)
}

/// Both numbers shifted right until the larger has at most `bits` bits: for quotients in 32 bits.
pub(crate) const fn narrow(a: u64, b: u64, bits: u32) -> (u32, u32) {
    let (mut a, mut b) = (a, b);
    while (a | b) >> bits != 0 {
        a >>= 1;
        b >>= 1;
    }
    (a as u32, b as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousandth_is_exact_for_every_limit_and_share() {
        for quotient in 0..=u32::from(u16::MAX / 2) {
            for rest in [0, 1, 500, 998, 999] {
                assert_eq!(thousandth_by_multiplying(quotient * 1_000 + rest), quotient);
            }
        }
    }

    #[test]
    fn log2_is_exact_at_powers_of_two_and_close_between() {
        for exponent in 0..64 {
            assert_eq!(log2_q16(1 << exponent), exponent << 16);
        }
        // round(log2(x) * 65536)
        for (x, exact) in [
            (3, 103872),
            (5, 152170),
            (10, 217706),
            (1000, 653118),
            (65537, 1048577),
            (4294967295, 2097152),
            (18446744073709551615, 4194304),
        ] {
            let error = log2_q16(x) - exact;
            assert!((-2..=2).contains(&error), "log2 of {x} is off by {error}");
        }
        assert_eq!(log2_q16(0), 0);
    }

    #[test]
    fn scaling_by_a_power_of_two_is_exact_at_whole_exponents_and_saturates() {
        assert_eq!(scale_exp2(1_000, 0), 1_000);
        assert_eq!(scale_exp2(1_000, 3 << 16), 8_000);
        assert_eq!(scale_exp2(1_000, -(3 << 16)), 125);
        // 2^0.5 = 1.41421
        assert!((1_410..=1_418).contains(&scale_exp2(1_000, 1 << 15)));
        assert_eq!(scale_exp2(2, 40 << 16), u32::MAX);
        assert_eq!(scale_exp2(1, 17 << 16), 1 << 17);
        assert_eq!(scale_exp2(3, 29 << 16), 3 << 29);
        assert_eq!(scale_exp2(1, 31 << 16), 1 << 31);
        assert_eq!(scale_exp2(1, 32 << 16), u32::MAX);
        assert_eq!(scale_exp2(0, i32::MAX), 0);
        assert_eq!(scale_exp2(u32::MAX, i32::MIN), 0);
    }

    const SAMPLE: [u32; 12] = [
        0,
        1,
        2,
        3,
        7,
        10,
        1_000,
        65_535,
        65_536,
        0x7fff_ffff,
        0x8000_0000,
        u32::MAX,
    ];

    #[test]
    fn quotients_agree_with_the_machine_and_are_0_by_0() {
        for n in SAMPLE {
            for d in SAMPLE {
                let exact = n.checked_div(d).unwrap_or(0);
                assert_eq!(quotient_by_shifting(n, d), exact, "{n} / {d}");
                assert_eq!(quotient(n, d), exact, "{n} / {d}");
                let up = if d == 0 { 0 } else { n.div_ceil(d) };
                assert_eq!(quotient_up(n, d), up, "{n} / {d} up");
                let (signed, by) = (n as i32, d as i32);
                let towards_0 = if by > 0 { signed / by } else { 0 };
                assert_eq!(signed_quotient(signed, by), towards_0, "{signed} / {by}");
            }
        }
    }

    #[test]
    fn leading_zeros_and_logarithms_agree_with_the_machine() {
        for x in SAMPLE {
            assert_eq!(leading_zeros_by_halving(x), x.leading_zeros(), "{x}");
            assert_eq!(leading_zeros(x), x.leading_zeros(), "{x}");
            assert_eq!(ilog2(x), x.checked_ilog2().unwrap_or(0), "{x}");
        }
    }

    #[test]
    fn roots_agree_with_the_machine() {
        for x in SAMPLE.into_iter().chain(0..70_000) {
            assert_eq!(isqrt_by_digits(x), x.isqrt(), "{x}");
            assert_eq!(isqrt(x), x.isqrt(), "{x}");
        }
    }

    #[test]
    fn shares_are_exact_at_every_size() {
        for value in [0, 1, 3, 999, 1_000, 32_767, 4_772_185, u32::MAX] {
            for share in [0, 1, 500, 900, 999, 1_000] {
                let exact = u64::from(value) * u64::from(share) / 1_000;
                assert_eq!(u64::from(per_mille(value, share)), exact);
            }
        }
    }

    #[test]
    fn narrowing_keeps_the_ratio_and_the_leading_bits() {
        assert_eq!(narrow(3, 7, 16), (3, 7));
        assert_eq!(narrow(0, 0, 16), (0, 0));
        assert_eq!(narrow(65_535, 1, 16), (65_535, 1));
        assert_eq!(narrow(65_536, 2, 16), (32_768, 1));
        assert_eq!(narrow(u64::MAX, 1 << 48, 16), (65_535, 1));
        assert_eq!(narrow(u64::MAX, u64::MAX, 32), (u32::MAX, u32::MAX));
    }

    #[test]
    fn division_by_shifting_agrees_with_the_machine() {
        for n in [0, 1, 9, 1 << 33, 999_999_999_999, u64::MAX - 1, u64::MAX] {
            for d in [1, 2, 10, 1_000_000_000, u32::MAX] {
                let exact = (n / u64::from(d), (n % u64::from(d)) as u32);
                assert_eq!(div_rem_by_shifting(n, d), exact, "{n} / {d}");
                assert_eq!(div_rem(n, d), exact, "{n} / {d}");
            }
        }
        assert_eq!(div_rem(7, 0), (u64::MAX, 0));
    }
}
