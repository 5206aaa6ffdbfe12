//! Admission of requests that say what they are: the rule by which priority and weight combine.
//!
//! A request of weight n and class c is let in when `inflight + n` is at most the share of c of the limit,
//! rounded up, in the compare-exchange that adds n. What is heavier than that share is let in alone. Who comes
//! new stays behind those who wait in its own class or a higher one.

use crate::cell::admission::{Arrival, Occupancy};
use crate::error::{ConfigError, RejectReason, Rejected};
use crate::law::Law;
use crate::law::shares::{Priority, Shares, WHOLE, fits, part, room};
use crate::limiter::Limiter;
use crate::permit::{Permit, Slot};
use crate::request::Request;
use crate::tag::Entered;
use crate::time::Timestamp;
use core::ops::Deref;

impl<L: Law> Limiter<L> {
    /// Takes the slots that `request` needs, or says at once why it may not have them.
    ///
    /// ```
    /// use limiter_core::law::Aimd;
    /// use limiter_core::{Config, Limiter, Priority, RejectReason, Request, TickRate, Timestamp};
    ///
    /// let limiter = Limiter::new(Config::new(Aimd::new(), TickRate::MICROS).initial(4));
    /// let now = Timestamp::from_ticks(0);
    ///
    /// // Batch work may use seven tenths of the limit, rounded up.
    /// let report = Request::new().priority(Priority::Batch);
    /// let _held = limiter.try_acquire_for(report.weight(3), now).expect("3 of 3");
    /// let refused = limiter.try_acquire_for(report, now).unwrap_err();
    /// assert_eq!(refused.reason, RejectReason::ShareTaken);
    /// assert!(limiter.try_acquire_for(Request::new(), now).is_ok());
    /// ```
    ///
    /// # Errors
    ///
    /// [`Rejected`] with the reason and the numbers; nothing was taken.
    ///
    /// # Fairness
    ///
    /// None between newcomers of one class. Those who wait in an adapter's queue go before newcomers of their
    /// class and of those below.
    #[inline]
    pub fn try_acquire_for(
        &self,
        request: Request,
        now: Timestamp,
    ) -> Result<Permit<&Self>, Rejected> {
        Self::try_acquire_owned_for(self, request, now)
    }

    /// As [`try_acquire_for`](Limiter::try_acquire_for), for a permit that owns its handle.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_for`](Limiter::try_acquire_for).
    #[inline]
    pub fn try_acquire_owned_for<H>(
        handle: H,
        request: Request,
        now: Timestamp,
    ) -> Result<Permit<H>, Rejected>
    where
        H: Deref<Target = Self>,
    {
        let entered = handle.enter_for(Arrival::Newcomer, &request)?;
        Ok(Permit::tended(handle, request.slots(), entered, now))
    }

    /// As [`try_acquire_for`](Limiter::try_acquire_for), as plain data that does not free itself; for adapters.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_for`](Limiter::try_acquire_for).
    #[inline]
    pub fn admit_for(&self, request: &Request, now: Timestamp) -> Result<Slot, Rejected> {
        let entered = self.enter_for(Arrival::Newcomer, request)?;
        Ok(self.slot(request.slots(), entered.tag(), now))
    }

    /// As [`admit_for`](Limiter::admit_for), but asks for the time only when there is a slot that is timed. `now` must not
    /// panic, for by then the slot is taken.
    ///
    /// # Errors
    ///
    /// As [`try_acquire_for`](Limiter::try_acquire_for).
    #[inline]
    pub fn admit_for_with(
        &self,
        request: &Request,
        now: impl FnOnce() -> Timestamp,
    ) -> Result<Slot, Rejected> {
        let entered = self.enter_for(Arrival::Newcomer, request)?;
        Ok(self.slot_with(request.slots(), entered.tag(), now))
    }

    /// As [`admit_for`](Limiter::admit_for), for one who waited: under the queue's lock, after
    /// [`set_waiting`](Limiter::set_waiting) or [`set_waiting_from`](Limiter::set_waiting_from).
    ///
    /// # Errors
    ///
    /// As [`try_acquire_for`](Limiter::try_acquire_for), but never because of waiters.
    pub fn admit_waiter_for(&self, request: &Request, now: Timestamp) -> Result<Slot, Rejected> {
        let entered = self.enter_for(Arrival::Waiter, request)?;
        Ok(self.slot(request.slots(), entered.tag(), now))
    }

    /// Announces that somebody waits, and of which class the first of them is: newcomers of higher classes are
    /// let in all the same, when their request says what they are. For adapters, under the queue's lock, before
    /// the waiter's last try; say it again when another class comes first.
    pub fn set_waiting_from(&self, priority: Priority) {
        self.shares.wait_from(priority);
        self.entry.admission.set_waiting();
    }

    /// What each class may use of the limit.
    pub fn shares(&self) -> Shares {
        self.shares.shares()
    }

    /// Changes what each class may use of the limit. Who is in flight stays; the returned flag says that
    /// somebody waits and may be let in now.
    ///
    /// The flag is in another word than the shares: one who is just joining an adapter's queue may see the old
    /// shares and not be seen. An adapter serves its queue after this whatever the flag says.
    ///
    /// # Errors
    ///
    /// As [`Shares::check`]; nothing changes.
    pub fn set_shares(&self, shares: Shares) -> Result<bool, ConfigError> {
        shares.check()?;
        self.shares.set(shares);
        Ok(self.occupancy().waiting())
    }

    #[inline]
    fn enter_for(&self, arrival: Arrival, request: &Request) -> Result<Entered, Rejected> {
        self.enter_beside(arrival, request, 0)
    }

    /// Lets a request in beside `reserved` slots that are booked for others: the shares are of the rest.
    #[inline]
    pub(crate) fn enter_beside(
        &self,
        arrival: Arrival,
        request: &Request,
        reserved: u32,
    ) -> Result<Entered, Rejected> {
        let share = request.share(self.shares.share(request.class()));
        // Most find that nobody waits and that there is room.
        let admission = &self.entry.admission;
        match admission.acquire_within(request.slots(), reserved, share) {
            Some(after) => Ok(self.entered(after)),
            None => self.enter_or_say_why(arrival, request, reserved),
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_or_say_why(
        &self,
        arrival: Arrival,
        request: &Request,
        reserved: u32,
    ) -> Result<Entered, Rejected> {
        let (class, weight) = (request.class(), request.slots());
        let (share, waits) = (self.shares.share(class), self.shares.waits());
        // Before those who wait in lower classes.
        let arrival = if class > waits {
            Arrival::Waiter
        } else {
            arrival
        };
        let (class_share, share) = (share, request.share(share));
        let entered = self.entry.admission.acquire_if(arrival, weight, |seen| {
            fits(weight, seen.inflight(), room(seen.limit(), reserved, share))
                || seen.inflight() <= reserved && self.may_be_alone(weight, share, seen)
        });
        match entered {
            Ok(after) => Ok(self.entered(after)),
            Err(seen) => Err(self.refusal_for(weight, (class_share, share), reserved, seen)),
        }
    }

    /// Nothing is in flight, and the request is too heavy for the limit as it is now, but not for ever.
    #[cold]
    fn may_be_alone(&self, weight: u32, share: u32, seen: Occupancy) -> bool {
        weight != 0 && !seen.closed() && weight <= self.most(share) && seen.can_count(weight)
    }

    /// What a share of the largest limit is.
    fn most(&self, share: u32) -> u32 {
        part(self.controls.bounds().1, share)
    }

    #[cold]
    fn refusal_for(
        &self,
        weight: u32,
        (class_share, share): (u32, u32),
        reserved: u32,
        seen: Occupancy,
    ) -> Rejected {
        let (limit, inflight) = (seen.limit(), seen.inflight());
        let reason = if seen.closed() {
            RejectReason::Closed
        } else if weight == 0 {
            RejectReason::ZeroWeight
        } else if weight > self.most(share) {
            RejectReason::TooHeavy(weight)
        } else if !fits(weight, inflight, limit) {
            // Or the limit would never be seen to be reached by requests that do not fill it to the last.
            self.entry.peak.raise(inflight.saturating_add(weight - 1));
            if inflight < limit {
                RejectReason::TooFewFree(weight)
            } else {
                RejectReason::AtLimit
            }
        } else if share < class_share
            && !fits(weight, inflight, room(limit, reserved, share))
            && fits(weight, inflight, room(limit, reserved, class_share))
        {
            RejectReason::OverShare
        } else if share < WHOLE && !fits(weight, inflight, room(limit, reserved, share)) {
            RejectReason::ShareTaken
        } else {
            RejectReason::WaitersAhead
        };
        Rejected::new(reason, limit, inflight)
    }
}
