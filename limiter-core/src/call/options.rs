//! What one call wants otherwise than its dependency's configuration says.

use crate::time::{TickRate, Ticks, Timestamp};
use core::time::Duration;

/// The options of one call.
///
/// ```
/// use limiter_core::{CallOptions, Ticks};
///
/// let write = CallOptions::new().attempts(1).total(Ticks::new(2_000));
/// let read = CallOptions::new().hedge();
/// # let _ = (write, read);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    pub(super) total: Option<Ticks>,
    pub(super) attempts: Option<u32>,
    pub(super) carried: Option<Carried>,
    pub(super) hedge: bool,
    pub(super) hold: bool,
}

impl CallOptions {
    /// What the dependency's configuration says, without hedges.
    pub const fn new() -> Self {
        Self {
            total: None,
            attempts: None,
            carried: None,
            hedge: false,
            hold: false,
        }
    }

    /// How long the call lasts at most.
    #[must_use]
    pub const fn total(mut self, longest: Ticks) -> Self {
        self.total = Some(longest);
        self
    }

    /// How many attempts it makes at most; 1 for what must not be done twice.
    #[must_use]
    pub const fn attempts(mut self, most: u32) -> Self {
        self.attempts = Some(most);
        self
    }

    /// A hedge may go beside an attempt that takes long, where the dependency is configured for it. Only for
    /// what may be done twice.
    #[must_use]
    pub const fn hedge(mut self) -> Self {
        self.hedge = true;
        self
    }

    /// Keeps the slot of the limiter during back-off instead of freeing it: for work that would lose its
    /// place. It keeps others out meanwhile.
    #[must_use]
    pub const fn hold_slot(mut self) -> Self {
        self.hold = true;
        self
    }

    /// Goes on with a call that began elsewhere, or before: its next attempt is a retry.
    #[must_use]
    pub const fn carried(mut self, carried: Carried) -> Self {
        self.carried = Some(carried);
        self
    }
}

/// What travels with a job that is put back into a queue, or handed to another process: attempts made, and
/// time left. No stamps, for clocks differ.
///
/// ```
/// use core::time::Duration;
/// use limiter_core::Carried;
///
/// let carried = Carried { attempts: 2, left: Duration::from_millis(1_500) };
/// assert_eq!(Carried::from_bytes(carried.to_bytes()), carried);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Carried {
    /// Attempts that were made.
    pub attempts: u32,
    /// What is left of the call's time.
    pub left: Duration,
}

impl Carried {
    /// Eight bytes, little-endian: attempts, then milliseconds rounded down; both saturate.
    pub const fn to_bytes(self) -> [u8; 8] {
        let millis = self
            .left
            .as_secs()
            .saturating_mul(1_000)
            .saturating_add(self.left.subsec_millis() as u64);
        let millis = if millis > u32::MAX as u64 {
            u32::MAX
        } else {
            millis as u32
        };
        let ([a, b, c, d], [e, f, g, h]) = (self.attempts.to_le_bytes(), millis.to_le_bytes());
        [a, b, c, d, e, f, g, h]
    }

    /// From what [`to_bytes`](Carried::to_bytes) made.
    pub const fn from_bytes([a, b, c, d, e, f, g, h]: [u8; 8]) -> Self {
        Self {
            attempts: u32::from_le_bytes([a, b, c, d]),
            left: Duration::from_millis(u32::from_le_bytes([e, f, g, h]) as u64),
        }
    }

    pub(super) const fn new(attempts: u32, left: Ticks, rate: TickRate) -> Self {
        Self {
            attempts,
            left: rate.duration(left),
        }
    }
}

/// The time of a call: what is left of it, however the clock moves.
///
/// Only steps forward count: a clock that is set back adds nothing, and takes nothing away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    left: Ticks,
    seen: Timestamp,
}

impl Allowance {
    pub(super) const fn new(total: Ticks, now: Timestamp) -> Self {
        Self {
            left: total,
            seen: now,
        }
    }

    /// What is left at `now`.
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(super) fn at(&mut self, now: Timestamp) -> Ticks {
        let passed = now.since(self.seen).unwrap_or_default();
        self.seen = now;
        self.left = Ticks::new(self.left.get().saturating_sub(passed.get()));
        self.left
    }

    /// What was left when it was looked at last.
    #[inline]
    pub(super) const fn left(&self) -> Ticks {
        self.left
    }

    /// When that was.
    #[inline]
    pub(super) const fn now(&self) -> Timestamp {
        self.seen
    }
}
