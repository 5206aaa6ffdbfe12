//! The limiter inside of a handle: alone, or with partitions.

use crate::partitions::Parted;
use crate::tuned::TunedLimiter;
use limiter_core::law::Law;
use limiter_core::{Change, Outcome, Rejected, Request, Sample, Seat, Timestamp};

/// What a handle's slots are of.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "most are plain, and a box would cost each of their requests a load"
)]
pub(crate) enum Door<L: Law> {
    Plain(TunedLimiter<L>),
    Parted(Box<Parted<L>>),
}

impl<L: Law> Door<L> {
    #[inline]
    pub(crate) fn way(&self) -> Way<'_, L> {
        match self {
            Self::Plain(limiter) => Way::Plain(limiter),
            Self::Parted(parted) => Way::Parted(parted),
        }
    }
}

/// The way to them.
#[derive(Debug)]
pub(crate) enum Way<'a, L: Law> {
    Plain(&'a TunedLimiter<L>),
    Parted(&'a Parted<L>),
}

impl<'a, L: Law> Way<'a, L> {
    #[inline]
    pub(crate) const fn limiter(self) -> &'a TunedLimiter<L> {
        match self {
            Self::Plain(limiter) => limiter,
            Self::Parted(parted) => parted.core.limiter(),
        }
    }

    #[inline]
    pub(crate) fn admit(
        self,
        request: &Request,
        now: impl FnOnce() -> Timestamp,
    ) -> Result<Seat, Rejected> {
        match self {
            Self::Plain(limiter) => Ok(limiter.admit_for_with(request, now)?.into()),
            Self::Parted(parted) => parted.admit(request, now),
        }
    }

    /// Lets one in who waited: under the queue's lock.
    pub(crate) fn admit_waiter(self, request: &Request, now: Timestamp) -> Result<Seat, Rejected> {
        match self {
            Self::Plain(limiter) => Ok(limiter.admit_waiter_for(request, now)?.into()),
            Self::Parted(parted) => parted.core.admit_waiter(request, now),
        }
    }

    /// Records what became of work; the limit may have changed, and quotas with it.
    #[inline]
    pub(crate) fn observe(
        self,
        sample: Sample,
        outcome: Outcome,
        ended: Timestamp,
        now: Timestamp,
    ) -> Option<Change> {
        match self {
            Self::Plain(limiter) => limiter.observe_sample(sample, outcome, ended, now),
            Self::Parted(parted) => parted.core.observe(sample, outcome, ended, now),
        }
    }

    /// Frees a seat; whether somebody waits and may be let in now.
    #[inline]
    pub(crate) fn release(self, seat: &mut Option<Seat>) -> bool {
        // By what it is in, so that a seat is moved only where partitions need it whole.
        match self {
            Self::Plain(limiter) => match seat.take() {
                Some(seat) => limiter.release(seat.into_slot()).wake(),
                None => false,
            },
            Self::Parted(parted) => parted.release(seat),
        }
    }

    /// Makes quotas follow a limit that was set.
    pub(crate) fn balance(self) {
        if let Self::Parted(parted) = self {
            parted.core.balance();
        }
    }
}

impl<L: Law> Clone for Way<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Law> Copy for Way<'_, L> {}
