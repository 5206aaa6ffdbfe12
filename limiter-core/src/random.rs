//! Random words for jitter, from a seed that nobody else has.

use crate::cell::sync::{AtomicU32, Ordering, const_unless_loom};
use crate::law::backoff::mix;

/// A small generator of random words for jitter; fit for a `static`, and not for secrets.
///
/// There is no default seed: devices that share one back off in step, which is what jitter is to prevent.
/// Take it from the serial number of the device, a hardware generator, or the operating system; consecutive
/// seeds give unrelated words.
///
/// One counter steps by the golden ratio and is mixed (the construction of SplitMix, Steele, Lea and Flood,
/// in 32 bits).
///
/// ```
/// use limiter_core::Random;
///
/// static RANDOM: Random = Random::new(0x5eed);
/// assert_ne!(RANDOM.word(), RANDOM.word());
/// ```
#[derive(Debug)]
pub struct Random(AtomicU32);

impl Random {
    const_unless_loom! {
        /// A generator that starts from `seed`.
        pub fn new(seed: u32) -> Self {
            Self(AtomicU32::new(mix(seed ^ 0x6c69_6d69)))
        }
    }

    /// The next word.
    pub fn word(&self) -> u32 {
        // Relaxed: each gets a step of its own, in whatever order.
        mix(self.0.fetch_add(0x9e37_79b9, Ordering::Relaxed))
    }

    /// Adds entropy that came in later, such as the time of an interrupt.
    pub fn stir(&self, entropy: u32) {
        self.0.fetch_add(mix(entropy), Ordering::Relaxed);
    }
}
