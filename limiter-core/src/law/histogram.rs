//! Buckets of a latency histogram: linear within powers of two, four to each.

use super::math::ilog2;

const STEPS: u32 = 2;

/// Buckets up to 2²⁴ units.
pub(crate) const BUCKETS: usize = 92;

/// The bucket of `value`; those from 2²⁴ on share the last one. A bucket from 4 on is at most a quarter of
/// its lower end wide.
pub(crate) const fn index(value: u32) -> usize {
    let index = if value < 1 << STEPS {
        value
    } else {
        let exponent = ilog2(value);
        let step = (value >> (exponent - STEPS)) & ((1 << STEPS) - 1);
        (exponent - STEPS + 1) << STEPS | step
    };
    if index >= BUCKETS as u32 {
        BUCKETS - 1
    } else {
        index as usize
    }
}

/// The largest value of a bucket.
pub(crate) const fn upper(index: usize) -> u32 {
    let index = index as u32;
    let exponent = index >> STEPS;
    if exponent == 0 {
        return index;
    }
    let lower = (index & ((1 << STEPS) - 1) | 1 << STEPS) << (exponent - 1);
    lower + (1 << (exponent - 1)) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_the_bucket_that_ends_at_or_above_it() {
        let mut below = None;
        for bucket in 0..BUCKETS {
            let end = upper(bucket);
            assert_eq!(index(end), bucket);
            let begin = below.map_or(0, |below: u32| below + 1);
            assert_eq!(index(begin), bucket);
            assert!(begin < 4 || end - begin < begin / 4, "{begin} to {end}");
            below = Some(end);
        }
        assert_eq!(below, Some((1 << 24) - 1));
        assert_eq!(index(u32::MAX), BUCKETS - 1);
    }
}
