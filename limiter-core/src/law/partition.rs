//! What partitions are guaranteed of a limit, and how bookings follow.

use super::math::thousandth;
use crate::error::ConfigError;
use crate::time::TickRate;
use core::time::Duration;

/// The most that all guarantees together may be, per mille: the rest is for everybody, so that a limiter whose
/// guarantees are idle never looks full, and a request of no partition is never shut out.
pub const MOST_GUARANTEED: u32 = 900;

/// What one partition is guaranteed of the limit, whatever the others ask for.
///
/// ```
/// use core::time::Duration;
/// use limiter_core::Guarantee;
///
/// // A quarter for writes; lent to others when a second went by without them.
/// const WRITES: Guarantee = Guarantee::of(250).lend_after(Duration::from_secs(1));
/// assert_eq!(WRITES.share(), 250);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Guarantee {
    share: u16,
    lend_after: Option<Duration>,
}

impl Guarantee {
    /// Nothing of its own: it has counters, and what everybody has.
    pub const NONE: Self = Self::of(0);

    /// A share of the limit, per mille, rounded down. All together at most [`MOST_GUARANTEED`].
    pub const fn of(per_mille: u16) -> Self {
        Self {
            share: per_mille,
            lend_after: None,
        }
    }

    /// Lends what was not used for so long to those who are refused otherwise; one slot stays. The partition has
    /// it back as soon as it asks for more: nobody else is let in until enough of the borrowers have finished,
    /// so that takes as long as they do.
    #[must_use]
    pub const fn lend_after(mut self, idle: Duration) -> Self {
        self.lend_after = Some(idle);
        self
    }

    /// The share, per mille.
    pub const fn share(&self) -> u16 {
        self.share
    }

    /// In one word, with times in the unit of stamps.
    pub(crate) const fn terms(&self, rate: TickRate) -> Terms {
        match self.lend_after {
            Some(idle) => Terms::lent(self.share, rate.pace().units(rate.ticks(idle))),
            None => Terms(self.share as u32),
        }
    }

    /// Checks that all together leave a part for everybody.
    pub(crate) const fn check(all: &[Self]) -> Result<(), ConfigError> {
        let (mut sum, mut i) = (0, 0);
        while i < all.len() {
            sum += all[i].share as u64;
            i += 1;
        }
        ConfigError::check("guarantees together", sum, 0, MOST_GUARANTEED as u64)
    }
}

/// A guarantee as it is stored: the share in the low bits, above it after how many units of stamps it is lent, 0
/// for never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms(pub(crate) u32);

const SHARE_BITS: u32 = 10;
/// More than an hour: who is idle for so long is idle.
const LONGEST_IDLE: u32 = (1 << (u32::BITS - SHARE_BITS)) - 1;

impl Terms {
    const fn lent(share: u16, idle: u32) -> Self {
        let idle = match idle {
            0 => 1,
            idle if idle > LONGEST_IDLE => LONGEST_IDLE,
            idle => idle,
        };
        Self(idle << SHARE_BITS | share as u32)
    }

    /// The share, per mille.
    pub(crate) const fn share(self) -> u32 {
        self.0 & ((1 << SHARE_BITS) - 1)
    }

    /// After how long without use it is lent.
    pub(crate) const fn idle(self) -> Option<u32> {
        match self.0 >> SHARE_BITS {
            0 => None,
            idle => Some(idle),
        }
    }
}

/// What a share of `limit` is, rounded down, so that all together are below the limit.
#[inline]
pub(crate) const fn quota(limit: u32, share: u32) -> u32 {
    thousandth(limit as usize * share as usize) as u32
}

/// How bookings come to `need` more, `back` of those there are being free to use: what is granted at once, and
/// what is owed, which keeps newcomers out until those who are in have left.
#[inline]
pub(crate) const fn book(limit: u32, booked: u32, need: u32, most: u32) -> (u32, u32) {
    let room = limit.saturating_sub(booked);
    let granted = if need < room { need } else { room };
    let space = most - booked - granted;
    let owed = need - granted;
    (granted, if owed < space { owed } else { space })
}
