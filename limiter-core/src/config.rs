//! The limiter's configuration: a `const` builder, checked as a whole.

use crate::MAX_LIMIT;
use crate::cell::sampling::MAX_SCALE;
use crate::cell::sync::Word;
use crate::cell::window::Schedule;
use crate::error::ConfigError;
use crate::law::shares::Shares;
use crate::law::{Law, excessive};
use crate::time::{LONGEST, TickRate, Ticks, Timestamp, units};
use core::time::Duration;

/// What a limiter is built from. Every value has a default; a bad one is found by
/// [`Limiter::new`](crate::Limiter::new) while compiling a `static`, and by
/// [`Limiter::try_new`](crate::Limiter::try_new) at run time.
///
/// ```
/// use core::time::Duration;
/// use limiter_core::law::Aimd;
/// use limiter_core::{Config, Limiter, TickRate};
///
/// static DATABASE: Limiter<Aimd> = Limiter::new(
///     Config::new(Aimd::new(), TickRate::MICROS)
///         .initial(8)
///         .min(2)
///         .max(64)
///         .windows(Duration::from_millis(10), Duration::from_secs(1)),
/// );
///
/// let refused = Limiter::try_new(Config::new(Aimd::new(), TickRate::MICROS).min(0));
/// assert_eq!(refused.unwrap_err().to_string(), "min = 0: allowed are 1 to 1000 (max)");
/// ```
///
/// ```compile_fail
/// # use limiter_core::{law::Aimd, Config, Limiter, TickRate};
/// static NEVER: Limiter<Aimd> = Limiter::new(Config::new(Aimd::new(), TickRate::MICROS).min(0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config<L> {
    pub(crate) law: L,
    pub(crate) rate: TickRate,
    pub(crate) initial: u32,
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) min_window: Duration,
    pub(crate) max_window: Duration,
    pub(crate) min_samples: u32,
    pub(crate) tolerance: u32,
    pub(crate) urgent: u32,
    pub(crate) shares: Shares,
    pub(crate) timed: u32,
}

impl<L: Law> Config<L> {
    /// Defaults around `law`, with timestamps at `rate`: initial limit 10, bounds 1 to 1,000, windows of
    /// 10 ms to 1 s and at least 10 samples, 2 % of overloads tolerated.
    pub const fn new(law: L, rate: TickRate) -> Self {
        Self {
            law,
            rate,
            initial: 10,
            min: 1,
            max: 1_000,
            min_window: Duration::from_millis(10),
            max_window: Duration::from_secs(1),
            min_samples: 10,
            tolerance: 20,
            urgent: 5,
            shares: Shares::new(),
            timed: 1 << MAX_SCALE,
        }
    }

    /// The limit before the first window closes, within the bounds.
    #[must_use]
    pub const fn initial(mut self, limit: u32) -> Self {
        self.initial = limit;
        self
    }

    /// The smallest limit a law may set, at least 1.
    #[must_use]
    pub const fn min(mut self, limit: u32) -> Self {
        self.min = limit;
        self
    }

    /// The largest limit a law may set, at most [`MAX_LIMIT`].
    #[must_use]
    pub const fn max(mut self, limit: u32) -> Self {
        self.max = limit;
        self
    }

    /// The shortest and the longest window, where the law does not ask for its own.
    ///
    /// A window closes when the shortest has passed (or two usual RTTs, if that is longer) with enough
    /// samples; when the longest has passed after that, with whatever there is. Where the limit was reached and
    /// permits last so long that too few can have ended, it goes on until enough could have.
    #[must_use]
    pub const fn windows(mut self, shortest: Duration, longest: Duration) -> Self {
        self.min_window = shortest;
        self.max_window = longest;
        self
    }

    /// How many successes a window needs to be judged by, at least 1.
    #[must_use]
    pub const fn min_samples(mut self, samples: u32) -> Self {
        self.min_samples = samples;
        self
    }

    /// The share of overloads, per mille, that is normal; above it the law cuts.
    #[must_use]
    pub const fn overload_tolerance(mut self, per_mille: u32) -> Self {
        self.tolerance = per_mille;
        self
    }

    /// After so many overloads since the window opened a share clearly above the tolerated one, by more than
    /// four times, cuts at once, without waiting for the window's end.
    #[must_use]
    pub const fn urgent_overloads(mut self, count: u32) -> Self {
        self.urgent = count;
        self
    }

    /// What each class of requests may use of the limit; see [`Request`](crate::Request).
    #[must_use]
    pub const fn shares(mut self, shares: Shares) -> Self {
        self.shares = shares;
        self
    }

    /// How many permits may share one timing, 1 to 32, rounded down to a power of two; 32 by default.
    ///
    /// Windows with more than 512 successes time only a part of the permits, as few as leave 256, one in
    /// `permits` at most. A permit that is not timed costs no more than its slot, and an adapter reads no
    /// clock for it. Overloads count always. Targets with 32-bit words time every permit.
    #[must_use]
    pub const fn one_timed_of(mut self, permits: u32) -> Self {
        self.timed = permits;
        self
    }
}

impl<L> Config<L> {
    /// The same around another law; for adapters.
    pub const fn with_law<M>(&self, law: M) -> Config<M> {
        Config {
            law,
            rate: self.rate,
            initial: self.initial,
            min: self.min,
            max: self.max,
            min_window: self.min_window,
            max_window: self.max_window,
            min_samples: self.min_samples,
            tolerance: self.tolerance,
            urgent: self.urgent,
            shares: self.shares,
            timed: self.timed,
        }
    }

    /// The law.
    pub const fn law(&self) -> &L {
        &self.law
    }

    /// The smallest and the largest limit a law may set; for adapters.
    pub const fn bounds(&self) -> (u32, u32) {
        (self.min, self.max)
    }

    /// What each class may use of the limit; for adapters.
    pub const fn class_shares(&self) -> Shares {
        self.shares
    }

    /// Checks everything but the law's own parameters.
    ///
    /// # Errors
    ///
    /// The first field that does not work.
    pub const fn check(&self) -> Result<(), ConfigError> {
        let most = if self.max < MAX_LIMIT {
            self.max
        } else {
            MAX_LIMIT
        };
        let longest = self
            .rate
            .duration(Ticks::new(LONGEST_TICKS << self.rate.unit_shift()));
        let longest_ns = nanos(longest);
        let checks = [
            ("max", self.max as u64, 1, MAX_LIMIT as u64),
            ("min", self.min as u64, 1, most as u64),
            ("initial", self.initial as u64, self.min as u64, most as u64),
            (
                "windows.longest in ns",
                nanos(self.max_window),
                1,
                longest_ns,
            ),
            (
                "windows.shortest in ns",
                nanos(self.min_window),
                0,
                nanos(self.max_window),
            ),
            ("min_samples", self.min_samples as u64, 1, 1 << 24),
            ("overload_tolerance", self.tolerance as u64, 0, 1_000),
            ("urgent_overloads", self.urgent as u64, 1, 1 << 24),
            ("one_timed_of", self.timed as u64, 1, 1 << MAX_SCALE),
        ];
        match ConfigError::check_all(&checks) {
            Ok(()) => self.shares.check(),
            wrong => wrong,
        }
    }

    /// The checked configuration in the units of the cells.
    pub(crate) const fn settings(&self) -> Settings {
        let shift = self.rate.unit_shift() as u8;
        Settings {
            rate: self.rate,
            min_window: units_of(self.rate.ticks(self.min_window), shift),
            max_window: units_of(self.rate.ticks(self.max_window), shift),
            min_samples: self.min_samples,
            urgent: self.urgent,
            tolerance: self.tolerance as u16,
            shift,
            scale: match self.timed.checked_ilog2() {
                Some(log) => log as u8,
                None => 0,
            },
        }
    }
}

const fn nanos(duration: Duration) -> u64 {
    let nanos = duration.as_nanos();
    if nanos > u64::MAX as u128 {
        u64::MAX
    } else {
        nanos as u64
    }
}

/// What the limiter keeps of its configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) rate: TickRate,
    pub(crate) min_window: Word,
    pub(crate) max_window: Word,
    pub(crate) min_samples: u32,
    pub(crate) urgent: u32,
    pub(crate) tolerance: u16,
    /// Kept, not worked out each time: a Cortex-M0 counts leading zeros in software.
    shift: u8,
    scale: u8,
}

impl Settings {
    /// The window for laws that do not ask for their own: two usual RTTs within the bounds.
    pub(crate) fn schedule(&self, usual: Word) -> Schedule {
        Schedule {
            settle: 0,
            // Not `clamp`, whose panic for bounds that do not fit is code that nothing runs.
            length: usual
                .saturating_mul(2)
                .max(self.min_window)
                .min(self.max_window),
            need: self.min_samples,
        }
    }

    pub(crate) const fn first(&self) -> Schedule {
        Schedule {
            settle: 0,
            length: self.min_window,
            need: self.min_samples,
        }
    }

    /// How many permits one that is timed stands for next, as a shift, after a window of so many successes:
    /// as many as leave enough to time.
    pub(crate) fn scale(&self, successes: u32) -> u8 {
        let spare = (successes / ENOUGH_TIMED).checked_ilog2().unwrap_or(0);
        self.scale.min(spare as u8)
    }

    /// The overloads are far beyond the tolerated share: one that is a little above it would, looked at after every
    /// permit, sooner or later look like more.
    pub(crate) fn are_far_beyond(&self, successes: u32, overloads: u32) -> bool {
        excessive(successes, overloads, u32::from(self.tolerance) * 4)
    }

    /// `now` in the units of windows; wraps.
    #[inline]
    pub(crate) fn at(&self, now: Timestamp) -> Word {
        let ticks = now.ticks();
        if Word::BITS == 64 {
            return ticks as Word;
        }
        let shift = u32::from(self.shift) & 31;
        let (low, high) = (ticks as u32, (ticks >> 32) as u32);
        if shift == 0 {
            return Word::from(low);
        }
        // The low word of `ticks >> shift` without a shift of 64 bits, which is a call on a Cortex-M0.
        Word::from(low >> shift | (high << 1) << (31 - shift))
    }

    /// `length` in units, rounded up and cut to what may be stored.
    pub(crate) const fn units(&self, length: Ticks) -> Word {
        units_of(length, self.shift)
    }

    /// Units as a time in ticks.
    #[allow(clippy::useless_conversion, reason = "a 32-bit word elsewhere")]
    pub(crate) fn ticks(&self, units: Word) -> Ticks {
        let units = u64::from(units);
        Ticks::new(if Word::BITS == 64 {
            units
        } else {
            units << (self.shift & 31)
        })
    }
}

/// So many timed successes tell a mean to a sixteenth of one request's deviation, and a throughput, whose
/// permits are counted in turns, to less than a hundredth.
const ENOUGH_TIMED: u32 = 256;

#[allow(clippy::unnecessary_cast, reason = "a 32-bit word elsewhere")]
const LONGEST_TICKS: u64 = LONGEST as u64;

const fn units_of(length: Ticks, shift: u8) -> Word {
    if Word::BITS < 64 {
        return units(length, shift as u32) as Word;
    }
    if length.get() > LONGEST_TICKS {
        LONGEST
    } else {
        length.get() as Word
    }
}
