//! Permits as plain data for interrupt handlers and C-style code, checked against a bounded table.

use crate::cell::sync::const_unless_loom;
use crate::cell::tickets::Entry;
use crate::error::{RejectReason, Rejected};
use crate::law::{Knee, Law};
use crate::limiter::Limiter;
use crate::outcome::Outcome;
use crate::permit::{Sample, Slot};
use crate::settle::Settled;
use crate::time::Timestamp;
use core::fmt;

/// A permit as plain data: may be copied, stored in a C struct, passed to an interrupt handler. Only the
/// first [`Tickets::finish`] of it counts; every later one is an error, also while others are in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Ticket {
    sample: Sample,
    generation: u32,
    index: u16,
    home: u16,
}

/// A table that hands out at most `N` tickets of a limiter.
///
/// ```
/// use limiter_core::law::Aimd;
/// use limiter_core::{Config, Limiter, Outcome, TickRate, Tickets, Timestamp};
///
/// static RADIO: Limiter<Aimd> = Limiter::new(Config::new(Aimd::new(), TickRate::MICROS));
/// static TICKETS: Tickets<'static, 4, Aimd> = Tickets::new(&RADIO);
///
/// let now = Timestamp::from_ticks(0);
/// let ticket = TICKETS.try_acquire(now).unwrap();
/// assert!(TICKETS.finish(ticket, Outcome::Success, now).is_ok());
/// assert!(TICKETS.finish(ticket, Outcome::Success, now).is_err());
/// assert_eq!(RADIO.snapshot().inflight, 0);
/// ```
#[derive(Debug)]
pub struct Tickets<'a, const N: usize, L: Law = Knee> {
    limiter: &'a Limiter<L>,
    entries: [Entry; N],
}

impl<'a, const N: usize, L: Law> Tickets<'a, N, L> {
    const_unless_loom! {
        /// An empty table in front of `limiter`. At most 65,535 entries are used.
        pub fn new(limiter: &'a Limiter<L>) -> Self {
            Self {
                limiter,
                #[cfg(not(limiter_loom))]
                entries: [const { Entry::new() }; N],
                #[cfg(limiter_loom)]
                entries: core::array::from_fn(|_| Entry::new()),
            }
        }
    }

    /// The limiter behind the table.
    pub const fn limiter(&self) -> &'a Limiter<L> {
        self.limiter
    }

    /// Takes a slot of the limiter and a ticket for it. Never runs a law, so it is safe in an interrupt
    /// handler.
    ///
    /// # Errors
    ///
    /// As [`Limiter::try_acquire`], and [`RejectReason::TicketsOut`] when the table is empty.
    pub fn try_acquire(&self, now: Timestamp) -> Result<Ticket, Rejected> {
        // A place first, for one that is given back makes room for nobody who waits.
        let place = (0..u16::MAX)
            .zip(&self.entries)
            .find_map(|(index, entry)| Some((index, entry, entry.take()?)));
        let Some((index, entry, generation)) = place else {
            let seen = self.limiter.snapshot();
            let reason = RejectReason::TicketsOut;
            return Err(Rejected::new(reason, seen.limit, seen.inflight));
        };
        match self.limiter.admit(now) {
            Ok(slot) => Ok(Ticket {
                sample: slot.sample(),
                generation,
                index,
                home: self.home(),
            }),
            Err(refused) => {
                entry.give_back(generation);
                Err(refused)
            }
        }
    }

    /// Records how the work ended and frees the slot.
    ///
    /// # Errors
    ///
    /// [`NotOut`] when the ticket was finished before or is of another limiter's table; nothing changes. Another
    /// limiter within 1 MiB of memory is always told, and any other but for one in 65,536. One of another table of the
    /// same limiter cannot be told from this one's: give a limiter one table.
    pub fn finish(
        &self,
        ticket: Ticket,
        outcome: Outcome,
        now: Timestamp,
    ) -> Result<Settled, NotOut> {
        let slot = self.claim(ticket)?;
        Ok(self.limiter.settle(slot, outcome, now))
    }

    /// Like [`finish`](Tickets::finish), but never runs a law: for interrupt handlers.
    ///
    /// # Errors
    ///
    /// As [`finish`](Tickets::finish).
    pub fn finish_from_isr(
        &self,
        ticket: Ticket,
        outcome: Outcome,
        now: Timestamp,
    ) -> Result<Settled, NotOut> {
        let slot = self.claim(ticket)?;
        Ok(self.limiter.settle_from_isr(slot, outcome, now))
    }

    /// Where the limiter is, which does not move while it is borrowed; within 1 MiB of memory no other has the same.
    fn home(&self) -> u16 {
        let place = (core::ptr::from_ref(self.limiter).addr() as u64) >> 4;
        (place ^ place >> 16 ^ place >> 32) as u16
    }

    fn claim(&self, ticket: Ticket) -> Result<Slot, NotOut> {
        let home = ticket.home == self.home();
        let entry = self.entries.get(usize::from(ticket.index));
        match entry.filter(|_| home) {
            Some(entry) if entry.give_back(ticket.generation) => Ok(Slot {
                started: ticket.sample.started,
                weight: 1,
                tag: ticket.sample.tag,
            }),
            _ => Err(NotOut { ticket }),
        }
    }
}

/// A ticket was finished that is not out: it was finished before, or is of another limiter's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NotOut {
    ticket: Ticket,
}

impl fmt::Display for NotOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ticket {} of generation {} is not out here: it was finished before, or is another \
             limiter's; nothing was freed",
            self.ticket.index, self.ticket.generation
        )
    }
}

impl core::error::Error for NotOut {}
