//! Back-off: how long a caller waits before it tries again.

use crate::error::ConfigError;
use crate::law::backoff::{decorrelated, full};
use crate::time::{TickRate, Ticks, units};
use core::time::Duration;

/// How the delay is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Jitter {
    /// Evenly between nothing and a window that doubles with every failure.
    Full,
    /// Evenly between the base and three times the delay before.
    Decorrelated,
}

/// How long to wait before the next attempt.
///
/// A delay is a function of the failures so far, the delay before and a random word; it saturates for any
/// number of failures and is never 0. By default it is decorrelated, from 1 s up to 4 s.
///
/// That default is for callers that fail together. Of 1,000 callers that fail at the same instant and fail
/// again each time they come back, no 100 ms of the next ten seconds see more than three times the mean of
/// those seconds (2.8 times in the worst of a hundred seeds); longer pauses are the breaker's business. Doubling from a base of less than 2 s does not keep that: its first window is so much
/// narrower than the later ones that the herd stays together (base 1 s and cap 10 s under full jitter: four
/// times the mean, 100 ms: seventeen). With full jitter take a base of 3 s, or a cap of at most three times
/// the base.
///
/// ```
/// use core::time::Duration;
/// use limiter_core::{Backoff, Jitter, Random, TickRate, Ticks};
///
/// static RANDOM: Random = Random::new(0x5eed);
/// const BACKOFF: Backoff = Backoff::new(
///     Jitter::Full,
///     Duration::from_millis(100),
///     Duration::from_secs(5),
///     TickRate::MILLIS,
/// );
///
/// let first = BACKOFF.delay(1, Ticks::new(0), RANDOM.word());
/// assert!(first.get() >= 1 && first.get() <= 100);
/// let never_more = BACKOFF.delay(u32::MAX, first, RANDOM.word());
/// assert!(never_more.get() <= 5_000);
/// // The dependency asked for two seconds: not earlier, and not everybody at the same instant.
/// let told = BACKOFF.hinted(first, Ticks::new(2_000));
/// assert!(told.get() >= 2_000 && told.get() <= 2_050);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    base: u32,
    cap: u32,
    extra: u32,
    jitter: Jitter,
    shift: u8,
}

impl Backoff {
    /// Delays between `base` and `cap`, at most a few hours, in ticks of `rate`: for constants, where a
    /// wrong one fails to compile. Server hints may add 5 s.
    ///
    /// # Panics
    ///
    /// When `base` is 0 or above `cap`. At run time use [`try_new`](Backoff::try_new).
    pub const fn new(jitter: Jitter, base: Duration, cap: Duration, rate: TickRate) -> Self {
        match Self::try_new(jitter, base, cap, rate) {
            Ok(backoff) => backoff,
            Err(error) => error.fail(),
        }
    }

    /// Delays between `base` and `cap`, in ticks of `rate`.
    ///
    /// # Errors
    ///
    /// When `base` is 0 or above `cap`, or `cap` above four hours.
    pub const fn try_new(
        jitter: Jitter,
        base: Duration,
        cap: Duration,
        rate: TickRate,
    ) -> Result<Self, ConfigError> {
        // Below a quarter of the range of stamps at every rate.
        let (base_ns, cap_ns) = (nanos(base), nanos(cap));
        if let Err(error) = ConfigError::check_all(&[
            ("backoff.cap in ns", cap_ns, 1, 4 * 3_600 * 1_000_000_000),
            ("backoff.base in ns", base_ns, 1, cap_ns),
        ]) {
            return Err(error);
        }
        Ok(Self {
            base: in_units(base, rate),
            cap: in_units(cap, rate),
            extra: in_units(Duration::from_secs(5), rate),
            jitter,
            shift: rate.fine_shift() as u8,
        })
    }

    /// Decorrelated jitter between 1 s and 4 s.
    pub const fn standard(rate: TickRate) -> Self {
        Self::new(
            Jitter::Decorrelated,
            Duration::from_secs(1),
            Duration::from_secs(4),
            rate,
        )
    }

    /// How much longer than its own delay a caller waits at most because the server said so; without it,
    /// a server could silence its callers for ever. (5 s by default, as in AWS's SDKs.)
    #[must_use]
    pub const fn most_hinted(mut self, extra: Duration, rate: TickRate) -> Self {
        self.extra = in_units(extra, rate);
        self
    }

    /// The delay after so many failures, `before` the delay before it (0 for the first), from a random word.
    pub const fn delay(&self, failures: u32, before: Ticks, random: u32) -> Ticks {
        let before = units(before, self.shift as u32);
        self.ticks(match self.jitter {
            Jitter::Full => full(self.base, self.cap, failures, random),
            Jitter::Decorrelated => decorrelated(self.base, self.cap, before, random),
        })
    }

    /// What comes of `delay` when the server asked for `hint`: at least both, but the hint counts at most up
    /// to `delay` and [`most_hinted`](Backoff::most_hinted). Whom it makes wait longer waits another half of
    /// `delay`, which is random: those who got the same hint do not come back together.
    pub const fn hinted(&self, delay: Ticks, hint: Ticks) -> Ticks {
        if hint.get() <= delay.get() {
            return delay;
        }
        let most = delay.get().saturating_add(self.ticks(self.extra).get());
        let told = if hint.get() > most { most } else { hint.get() };
        Ticks::new(told.saturating_add(delay.get() / 2))
    }

    /// A wait before the first attempt after a start, so that those who start together do not call
    /// together: evenly up to the base.
    pub const fn first(&self, random: u32) -> Ticks {
        self.ticks(full(self.base, self.cap, 1, random))
    }

    const fn ticks(&self, units: u32) -> Ticks {
        Ticks::new((units as u64) << self.shift)
    }
}

const fn in_units(length: Duration, rate: TickRate) -> u32 {
    units(rate.ticks(length), rate.fine_shift())
}

const fn nanos(duration: Duration) -> u64 {
    duration
        .as_secs()
        .saturating_mul(1_000_000_000)
        .saturating_add(duration.subsec_nanos() as u64)
}
