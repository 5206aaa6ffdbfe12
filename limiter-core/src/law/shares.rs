//! Which share of the limit each class of requests may use.
//!
//! A class is admitted while what is in flight stays within its share, rounded up: at a limit of 1, and of 2,
//! every class may use one slot at least, so no class is shut out by rounding. The shares of the classes are
//! one inside the other, not side by side: what a lower class may use, a higher one may use too. Netflix's
//! prioritised load shedding and the four criticalities of the SRE book ("Handling Overload") do the same.

use super::math::thousandth;
use crate::error::ConfigError;

/// How much a request matters. Lower classes are refused first.
///
/// The classes are one inside the other: each may use its share of the limit, and those above it may use that
/// too. [`Shares`] says how much, and can be changed while running.
///
/// ```
/// use limiter_core::Priority;
///
/// assert!(Priority::Critical > Priority::Interactive);
/// assert_eq!(Priority::Interactive.lower(), Priority::Batch);
/// assert_eq!(Priority::BestEffort.lower(), Priority::BestEffort);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Priority {
    /// Nobody misses it: prefetches, speculation, statistics.
    BestEffort,
    /// It may come later: reports, backfills, queues that are worked off.
    Batch,
    /// Somebody waits for it.
    Interactive,
    /// Without it the service is down: logins, payments, health checks. May use the whole limit, as a request
    /// may that does not say what it is.
    #[default]
    Critical,
}

impl Priority {
    /// All, from the lowest.
    pub const ALL: [Self; 4] = [
        Self::BestEffort,
        Self::Batch,
        Self::Interactive,
        Self::Critical,
    ];

    /// The class below; the lowest stays.
    #[must_use]
    pub const fn lower(self) -> Self {
        match self {
            Self::Critical => Self::Interactive,
            Self::Interactive => Self::Batch,
            Self::Batch | Self::BestEffort => Self::BestEffort,
        }
    }

    /// The class with this place in [`ALL`](Priority::ALL); the highest for any other.
    pub(crate) const fn from_code(code: u32) -> Self {
        match code {
            0 => Self::BestEffort,
            1 => Self::Batch,
            2 => Self::Interactive,
            _ => Self::Critical,
        }
    }
}

/// The whole limit, per mille.
pub(crate) const WHOLE: u32 = 1_000;

/// What each class may use of the limit, per mille; [`Critical`](Priority::Critical) always the whole.
///
/// ```
/// use limiter_core::{Priority, Shares};
///
/// const SHARES: Shares = Shares::new().batch(600).best_effort(250);
/// assert!(SHARES.check().is_ok());
/// assert_eq!(SHARES.of(Priority::Interactive), 900);
///
/// let upside_down = Shares::new().batch(100);
/// assert_eq!(upside_down.check().unwrap_err().to_string(), "best_effort = 500: allowed are 1 to 100 (batch)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Shares {
    pub(crate) interactive: u16,
    pub(crate) batch: u16,
    pub(crate) best_effort: u16,
}

impl Shares {
    /// Interactive requests nine tenths, batch seven tenths, best effort one half.
    pub const fn new() -> Self {
        Self {
            interactive: 900,
            batch: 700,
            best_effort: 500,
        }
    }

    /// The share of [`Interactive`](Priority::Interactive), per mille: 1 to 1,000.
    #[must_use]
    pub const fn interactive(mut self, per_mille: u16) -> Self {
        self.interactive = per_mille;
        self
    }

    /// The share of [`Batch`](Priority::Batch), per mille: 1 to that of the class above.
    #[must_use]
    pub const fn batch(mut self, per_mille: u16) -> Self {
        self.batch = per_mille;
        self
    }

    /// The share of [`BestEffort`](Priority::BestEffort), per mille: 1 to that of the class above.
    #[must_use]
    pub const fn best_effort(mut self, per_mille: u16) -> Self {
        self.best_effort = per_mille;
        self
    }

    /// The share of a class, per mille.
    pub const fn of(&self, priority: Priority) -> u32 {
        match priority {
            Priority::Critical => WHOLE,
            Priority::Interactive => self.interactive as u32,
            Priority::Batch => self.batch as u32,
            Priority::BestEffort => self.best_effort as u32,
        }
    }

    /// Checks that no share is 0, none above the whole, and none above that of the class above.
    ///
    /// # Errors
    ///
    /// The first share that does not fit.
    pub const fn check(&self) -> Result<(), ConfigError> {
        ConfigError::check_all(&[
            ("interactive", self.interactive as u64, 1, WHOLE as u64),
            ("batch", self.batch as u64, 1, self.interactive as u64),
            ("best_effort", self.best_effort as u64, 1, self.batch as u64),
        ])
    }
}

impl Default for Shares {
    fn default() -> Self {
        Self::new()
    }
}

/// How much of `whole` a share is, rounded up: never 0 unless `whole` is. A word of 32 bits holds the product,
/// for limits have 15 bits there.
#[inline]
pub(crate) const fn part(whole: u32, per_mille: u32) -> u32 {
    thousandth(whole as usize * per_mille as usize + (WHOLE as usize - 1)) as u32
}

/// What may be in flight when a share of what is not reserved of `limit` is used.
#[inline]
pub(crate) const fn room(limit: u32, reserved: u32, share: u32) -> u32 {
    let free = limit.saturating_sub(reserved);
    limit - free + part(free, share)
}

/// Whether `weight`, which is not 0, fits beside `inflight` into [`room`]; never where the limit is negative.
///
/// Without a division where words have 64 bits: n is below x/1,000 rounded up when 1,000 n is below x.
#[inline]
pub(crate) const fn fits_share(
    weight: u32,
    inflight: u32,
    limit: i32,
    reserved: u32,
    share: u32,
) -> bool {
    if usize::BITS < 64 {
        return limit >= 0 && fits(weight, inflight, room(limit as u32, reserved, share));
    }
    let (limit, reserved) = (limit as i64, reserved as i64);
    let beside = match reserved {
        0 => 0,
        reserved if reserved < limit => reserved,
        _ => limit,
    };
    // 0 becomes the largest.
    let before = inflight as i64 + weight.wrapping_sub(1) as i64 - beside;
    before * (WHOLE as i64) < (limit - beside) * share as i64
}

/// Whether `weight`, which is not 0, fits beside `inflight` into `room`.
#[inline]
pub(crate) const fn fits(weight: u32, inflight: u32, room: u32) -> bool {
    // One comparison: 0 becomes the largest.
    weight.wrapping_sub(1) < room.saturating_sub(inflight)
}
