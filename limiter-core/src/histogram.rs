//! Latencies of a dependency, for timeouts and hedges that follow it.

use crate::cell::histogram::Histogram;
use crate::cell::sync::const_unless_loom;
use crate::time::{TickRate, Ticks, Timestamp, units};

/// A histogram of latencies: 92 small counters over five decades and more, 192 bytes.
///
/// A quantile is at most a quarter too large, and never too small by more than the unit of 30 to 61 µs (one
/// tick where that is longer); what is longer than 2²⁴ units, eight minutes or more, counts as that. Old samples fade: every counter is halved after some thousand samples and
/// after 16 to 33 s.
///
/// An attempt that was cut off at a timeout is recorded as [`at_least`](LatencyHistogram::at_least) so long:
/// counted as just so long, a timeout taken from the histogram could never grow again, and left out
/// altogether it would shrink. The tick rate is an argument, so that it takes no memory; give the same one
/// always.
///
/// ```
/// use limiter_core::{LatencyHistogram, TickRate, Ticks, Timestamp};
///
/// static LATENCIES: LatencyHistogram = LatencyHistogram::new();
/// const RATE: TickRate = TickRate::MICROS;
/// let now = Timestamp::from_ticks(0);
///
/// for millis in 1..=100 {
///     LATENCIES.record(Ticks::new(millis * 1_000), now, RATE);
/// }
/// let p90 = LATENCIES.quantile(900, 50, RATE).expect("a hundred samples");
/// assert!(p90.get() >= 90_000 && p90.get() <= 112_500);
/// assert_eq!(LATENCIES.quantile(900, 101, RATE), None, "too few to judge by");
/// ```
#[derive(Debug)]
pub struct LatencyHistogram(Histogram);

impl LatencyHistogram {
    const_unless_loom! {
        /// An empty histogram.
        pub fn new() -> Self {
            Self(Histogram::new())
        }
    }

    /// Adds the latency of a success.
    pub fn record(&self, took: Ticks, now: Timestamp, rate: TickRate) {
        let value = units(took, rate.fine_shift());
        self.0.record(value, false, rate.pace().stamp(now));
    }

    /// Adds an attempt that was given up after `took`, and would have taken longer.
    pub fn at_least(&self, took: Ticks, now: Timestamp, rate: TickRate) {
        let value = units(took, rate.fine_shift());
        self.0.record(value, true, rate.pace().stamp(now));
    }

    /// The latency that `per_mille` of the samples do not exceed; `None` with fewer than `need` samples.
    pub fn quantile(&self, per_mille: u32, need: u32, rate: TickRate) -> Option<Ticks> {
        let value = self.0.quantile(per_mille, need)?;
        Some(Ticks::new(u64::from(value) << rate.fine_shift()))
    }
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether a [`Dependency`](crate::Dependency) measures latencies: [`LatencyHistogram`], or `()` where
/// timeouts are as configured and 192 bytes are dear. Sealed.
pub trait Latencies: sealed::Sealed + core::fmt::Debug {
    /// Nothing measured yet.
    #[cfg(not(limiter_loom))]
    #[doc(hidden)]
    const EMPTY: Self;
    /// Nothing measured yet.
    #[cfg(limiter_loom)]
    #[doc(hidden)]
    fn empty() -> Self;
    #[doc(hidden)]
    fn add(&self, took: Ticks, cut_off: bool, now: Timestamp, rate: TickRate);
    #[doc(hidden)]
    fn at(&self, per_mille: u32, need: u32, rate: TickRate) -> Option<Ticks>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for super::LatencyHistogram {}
}

impl Latencies for () {
    #[cfg(not(limiter_loom))]
    const EMPTY: Self = ();
    #[cfg(limiter_loom)]
    fn empty() -> Self {}
    fn add(&self, _: Ticks, _: bool, _: Timestamp, _: TickRate) {}
    fn at(&self, _: u32, _: u32, _: TickRate) -> Option<Ticks> {
        None
    }
}

impl Latencies for LatencyHistogram {
    #[cfg(not(limiter_loom))]
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "copied into each new dependency"
    )]
    const EMPTY: Self = Self::new();
    #[cfg(limiter_loom)]
    fn empty() -> Self {
        Self::new()
    }
    fn add(&self, took: Ticks, cut_off: bool, now: Timestamp, rate: TickRate) {
        if cut_off {
            self.at_least(took, now, rate);
        } else {
            self.record(took, now, rate);
        }
    }
    fn at(&self, per_mille: u32, need: u32, rate: TickRate) -> Option<Ticks> {
        self.quantile(per_mille, need, rate)
    }
}
