//! Time as data: the core reads no clock, every operation takes the [`Timestamp`] of its call.

use crate::cell::sync::{AtomicWord, Ordering, Word, const_unless_loom};
use crate::error::ConfigError;
use crate::law::math::div_rem;
use core::time::Duration;

/// A point in time: ticks since an origin of the caller's choice.
///
/// The length of a tick is the [`TickRate`] given to the limiter's configuration. A clock may stand
/// still, step back or wrap: nothing panics, and no more than the samples in question is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Timestamp(u64);

impl Timestamp {
    /// The point `ticks` after the origin.
    pub const fn from_ticks(ticks: u64) -> Self {
        Self(ticks)
    }

    /// Ticks since the origin.
    pub const fn ticks(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to `self`, or `None` when the clock stepped back in between.
    pub const fn since(self, earlier: Self) -> Option<Ticks> {
        match self.0.checked_sub(earlier.0) {
            Some(ticks) => Some(Ticks(ticks)),
            None => None,
        }
    }

    /// The point `later` after this one; saturates.
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub const fn after(self, later: Ticks) -> Self {
        Self(self.0.saturating_add(later.0))
    }
}

/// A length of time in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ticks(u64);

impl Ticks {
    /// A length of `ticks` ticks.
    pub const fn new(ticks: u64) -> Self {
        Self(ticks)
    }

    /// The number of ticks.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// How many ticks a second has: what ties [`Timestamp`]s to real time.
///
/// ```
/// use core::time::Duration;
/// use limiter_core::{Ticks, TickRate};
///
/// assert_eq!(TickRate::MICROS.ticks(Duration::from_micros(500)), Ticks::new(500));
/// // Too long to count saturates, and a part of a tick rounds up: a timeout never becomes zero.
/// assert_eq!(TickRate::NANOS.ticks(Duration::MAX), Ticks::new(u64::MAX));
/// assert_eq!(TickRate::MILLIS.ticks(Duration::from_micros(1)), Ticks::new(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TickRate(u32);

impl TickRate {
    /// One tick is a nanosecond.
    pub const NANOS: Self = Self(1_000_000_000);
    /// One tick is a microsecond.
    pub const MICROS: Self = Self(1_000_000);
    /// One tick is a millisecond.
    pub const MILLIS: Self = Self(1_000);

    /// `hz` ticks a second, from 100 to 4,294,967,295.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] below 100: windows and budgets need ticks of at most 10 ms.
    pub const fn hz(hz: u32) -> Result<Self, ConfigError> {
        match ConfigError::check("tick rate", hz as u64, 100, u32::MAX as u64) {
            Ok(()) => Ok(Self(hz)),
            Err(error) => Err(error),
        }
    }

    /// Ticks a second.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// `duration` in ticks, rounded up; saturates.
    pub const fn ticks(self, duration: Duration) -> Ticks {
        const NANOS_PER_SEC: u32 = 1_000_000_000;
        let whole = duration.as_secs().saturating_mul(self.0 as u64);
        let (part, rest) = div_rem(
            duration.subsec_nanos() as u64 * self.0 as u64,
            NANOS_PER_SEC,
        );
        Ticks(whole.saturating_add(part + (rest != 0) as u64))
    }

    /// `ticks` as a duration, rounded down to a nanosecond; saturates.
    pub const fn duration(self, ticks: Ticks) -> Duration {
        let (secs, rest) = div_rem(ticks.0, self.0);
        let (nanos, _) = div_rem(rest as u64 * 1_000_000_000, self.0);
        // Below a second by construction; said so that no carry, which may panic, is linked.
        let nanos = if nanos < 1_000_000_000 {
            nanos as u32
        } else {
            0
        };
        Duration::new(secs, nanos)
    }

    /// `ticks >> shift` is what latencies are counted in: at most 61 µs, or one tick where that is longer.
    pub(crate) const fn fine_shift(self) -> u32 {
        log2_of_ratio(self.0, 16_384)
    }

    /// What budgets, breakers and throttles measure time in.
    pub(crate) const fn pace(self) -> Pace {
        Pace(log2_of_ratio(self.0, 1_000) as u8)
    }

    /// Windows measure time in units of `ticks >> shift` in one word: full ticks, except on 32-bit words with
    /// ticks shorter than half a microsecond, where a sum of RTTs would overflow within seconds.
    pub(crate) const fn unit_shift(self) -> u32 {
        if Word::BITS == 64 {
            0
        } else {
            log2_of_ratio(self.0, 1_000_000)
        }
    }
}

/// `ticks >> k` is one unit of a coarse [`Stamp`]: 0.5 to 1 ms, or one tick where that is longer. 2³² units
/// are 24 days or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace(u8);

impl Pace {
    pub(crate) const fn shift(self) -> u32 {
        self.0 as u32
    }

    pub(crate) const fn stamp(self, now: Timestamp) -> Stamp {
        Stamp((now.0 >> self.0) as u32)
    }

    /// `length` in units, rounded up and cut to what may be stored.
    pub(crate) const fn units(self, length: Ticks) -> u32 {
        units(length, self.0 as u32)
    }

    pub(crate) const fn ticks(self, units: u32) -> Ticks {
        Ticks((units as u64) << self.0)
    }
}

/// `length` in units of `1 << shift` ticks, rounded up, and cut to what may be stored.
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(crate) const fn units(length: Ticks, shift: u32) -> u32 {
    let shift = shift & 31;
    let (low, high) = (length.0 as u32, (length.0 >> 32) as u32);
    // The low word of the quotient without a shift of 64 bits, which is a call on a Cortex-M0.
    let units = low >> shift | (high << 1) << (31 - shift);
    let units = units.saturating_add((low & ((1 << shift) - 1) != 0) as u32);
    if high >> shift != 0 || units > Stamp::MAX_UNITS {
        Stamp::MAX_UNITS
    } else {
        units
    }
}

/// log2 of `x / of`, rounded down, 0 at least. A Cortex-M0 divides and counts leading zeros in software.
const fn log2_of_ratio(x: u32, of: u32) -> u32 {
    let (mut rest, mut log) = (x >> 1, 0);
    while rest >= of {
        rest >>= 1;
        log += 1;
    }
    log
}

/// A stored point in time: a wrapping count of `ticks >> k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(pub(crate) u32);

impl Stamp {
    /// The longest duration that may be compared with an elapsed time: a quarter of the range.
    pub(crate) const MAX_UNITS: u32 = u32::MAX / 4;

    /// Units from `earlier` to `self`, or `None` when the clock stepped back: the top sixteenth.
    pub(crate) const fn since(self, earlier: Self) -> Option<u32> {
        let units = self.0.wrapping_sub(earlier.0);
        if units >= u32::MAX - u32::MAX / 16 {
            None
        } else {
            Some(units)
        }
    }
}

/// The longest time in units that may be compared with an elapsed one: a quarter of the range.
pub(crate) const LONGEST: Word = Word::MAX / 4;

/// Units from `earlier` to `now`, or `None` when the clock stepped back: the top sixteenth of the range.
///
/// A narrow word turns in 36 minutes or more, after which a permit looks as young again as it was then.
#[inline]
pub(crate) const fn elapsed(earlier: Word, now: Word) -> Option<Word> {
    let units = now.wrapping_sub(earlier);
    if units >= Word::MAX - Word::MAX / 16 {
        None
    } else {
        Some(units)
    }
}

/// A clock that stands still until it is told otherwise: for tests of code that uses a limiter.
///
/// Shared by reference between threads. Holds one machine word, so it wraps where a word is 32 bits.
///
/// ```
/// use limiter_core::{ManualClock, Ticks};
///
/// let clock = ManualClock::new();
/// clock.advance(Ticks::new(20));
/// assert_eq!(clock.now().ticks(), 20);
/// ```
#[derive(Debug)]
pub struct ManualClock(AtomicWord);

impl ManualClock {
    const_unless_loom! {
        /// A clock at its origin.
        pub fn new() -> Self {
            Self(AtomicWord::new(0))
        }
    }

    /// The time that was last set.
    pub fn now(&self) -> Timestamp {
        // Acquire pairs with `advance` and `set`: what was done before the clock moved is visible.
        #[allow(clippy::useless_conversion, reason = "a 32-bit word elsewhere")]
        Timestamp(self.0.load(Ordering::Acquire).into())
    }

    /// Moves the clock on, and returns the new time; wraps.
    pub fn advance(&self, by: Ticks) -> Timestamp {
        let by = by.0 as Word;
        // Release pairs with `now`.
        let before = self.0.fetch_add(by, Ordering::Release);
        #[allow(clippy::useless_conversion, reason = "a 32-bit word elsewhere")]
        Timestamp(before.wrapping_add(by).into())
    }

    /// Sets the clock, also backwards.
    pub fn set(&self, now: Timestamp) {
        // Release pairs with `now`.
        self.0.store(now.0 as Word, Ordering::Release);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}
