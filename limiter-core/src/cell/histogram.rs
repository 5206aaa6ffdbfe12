//! A latency histogram: two counters to a word, and its age.
//!
//! ```text
//! words    odd bucket 31..16 | even bucket 15..0, each saturating; buckets: law/histogram.rs
//! fresh    samples since the last halving and half of those before
//! aged     stamp of the last halving by time
//! ```
//!
//! Transitions: a sample is one exchange of one word. When enough samples came in, or enough time passed,
//! every counter is halved, so that old samples fade; whoever exchanges `fresh` or `aged` does it. A sample
//! that comes in meanwhile is halved or not.
//!
//! ```text
//! op             | success | failure | pairs with | why
//! add, halve     | Relaxed | Relaxed | -          | counts: atomicity is all they need
//! fresh, aged    | Relaxed | Relaxed | -          | a failure means that another halves
//! quantile       | Relaxed | -       | -          | a picture
//! ```

use super::sync::{AtomicU32, Ordering, const_unless_loom};
use super::word::{exchange, update};
use crate::law::histogram::{BUCKETS, index, upper};
use crate::law::math::per_mille;
use crate::time::Stamp;

const WORDS: usize = BUCKETS / 2;
const HALF: u32 = 0x7fff_7fff;

/// Samples after which the counters are halved: the 99th percentile still rests on ten of them.
const SAMPLES: u32 = 1_024;

/// Time after which they are halved, as a shift of coarse units: 16 to 33 s.
const AGE_SHIFT: u32 = 15;

#[derive(Debug)]
pub(crate) struct Histogram {
    words: [AtomicU32; WORDS],
    fresh: AtomicU32,
    aged: AtomicU32,
}

impl Histogram {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                #[cfg(not(limiter_loom))]
                words: [const { AtomicU32::new(0) }; WORDS],
                #[cfg(limiter_loom)]
                words: core::array::from_fn(|_| AtomicU32::new(0)),
                fresh: AtomicU32::new(0),
                aged: AtomicU32::new(0),
            }
        }
    }

    /// Adds a sample; one `at_least` so long counts in the next bucket.
    pub(crate) fn record(&self, value: u32, at_least: bool, now: Stamp) {
        self.age(now);
        let bucket = (index(value) + usize::from(at_least)).min(BUCKETS - 1);
        let shift = (bucket as u32 & 1) * 16;
        if let Some(word) = self.words.get(bucket / 2) {
            update(word, |counts| {
                let full = counts >> shift & 0xffff == 0xffff;
                counts + if full { 0 } else { 1 << shift }
            });
        }
        let fresh = self.fresh.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        // A failure means that another added or halves; then the next one does.
        if fresh >= SAMPLES && exchange(&self.fresh, fresh, fresh / 2) {
            self.halve(1);
        }
    }

    fn age(&self, now: Stamp) {
        let aged = self.aged.load(Ordering::Relaxed);
        // A clock that was set back starts a new age.
        let ages = now
            .since(Stamp(aged))
            .map_or(1, |elapsed| elapsed >> AGE_SHIFT);
        if ages > 0 && exchange(&self.aged, aged, now.0) {
            let times = ages.min(16);
            update(&self.fresh, |fresh| fresh >> times);
            self.halve(times);
        }
    }

    #[cold]
    fn halve(&self, times: u32) {
        for word in &self.words {
            for _ in 0..times {
                update(word, |counts| counts >> 1 & HALF);
            }
        }
    }

    /// The upper end of the bucket that the quantile lies in; `None` with fewer than `need` samples.
    pub(crate) fn quantile(&self, share: u32, need: u32) -> Option<u32> {
        let counts = || {
            self.words.iter().flat_map(|word| {
                let counts = word.load(Ordering::Relaxed);
                [counts & 0xffff, counts >> 16]
            })
        };
        let total: u32 = counts().sum();
        if total < need.max(1) {
            return None;
        }
        // Rounded up: with 100 samples the 99th percentile is the 99th of them.
        let rank = total - per_mille(total, 1_000u32.saturating_sub(share));
        let mut below = 0;
        let bucket = counts().position(|count| {
            below += count;
            below >= rank
        });
        Some(upper(bucket.unwrap_or(BUCKETS - 1)))
    }
}
