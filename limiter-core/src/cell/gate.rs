//! The gate: a try-lock for whoever closes a window, what others left for the holder, and the cut epoch.
//!
//! ```text
//! 31..16 epoch | 15..3 unused | 2 SET | 1 DUE | 0 LOCKED
//! ```
//!
//! `DUE`: someone saw the window due while the gate was held, or from an interrupt. `SET`: new bounds or a
//! limit set by hand wait in their own words. `epoch` counts cuts; every permit carries the value it was
//! admitted under, so that the overloads of one round trip cut once.
//!
//! Transitions: enter sets `LOCKED` and leaves the given bits; whoever finds `LOCKED` clear becomes the
//! holder. The holder takes the pending bits, works, and leaves by one compare-exchange that fails if
//! bits arrived meanwhile: then it works again. So a loser never waits and loses nothing.
//!
//! ```text
//! op    | success | failure | pairs with | why
//! enter | AcqRel  | -       | leave      | the holder sees the last holder's law state; what a loser stored
//!       |         |         |            | before it left bits is visible to whoever takes them
//! mark  | Release | -       | take       | publishes what was stored before the bits
//! take  | Acquire | -       | enter,mark | see above
//! leave | Release | Relaxed | enter      | publishes the law state
//! bump  | Relaxed | -       | -          | only the holder bumps; a permit admitted in the same instant may
//!       |         |         |            | carry either epoch
//! read  | Relaxed | -       | -          | advisory
//! ```
//!
//! Progress: entering is one `fetch_or`. A holder that is stopped delays adaptation, never admission.

use super::sync::{AtomicU32, Ordering, const_unless_loom};

const LOCKED: u32 = 1;
/// The window should be looked at.
pub(crate) const DUE: u32 = 1 << 1;
/// Bounds or a limit set by hand wait to be applied.
pub(crate) const SET: u32 = 1 << 2;
const PENDING: u32 = DUE | SET;
const EPOCH_SHIFT: u32 = 16;
/// As much of the epoch as permits carry: one bit less.
pub(crate) const EPOCH: u32 = u32::MAX >> 1 & !(u32::MAX >> EPOCH_SHIFT);

/// Try-lock, pending work and cut epoch in one word.
#[derive(Debug)]
pub(crate) struct Gate(AtomicU32);

/// A picture of the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen(u32);

impl Seen {
    /// The epoch of the last cut as permits carry it, in the high half.
    #[inline]
    pub(crate) const fn epoch(self) -> u32 {
        self.0 & EPOCH
    }

    /// How many cuts there were, modulo 2¹⁶.
    pub(crate) const fn cuts(self) -> u16 {
        (self.0 >> EPOCH_SHIFT) as u16
    }

    /// Someone left work.
    #[inline]
    pub(crate) const fn held(self) -> bool {
        self.0 & LOCKED != 0
    }

    pub(crate) const fn pending(self) -> bool {
        self.0 & PENDING != 0
    }
}

impl Gate {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self(AtomicU32::new(0))
        }
    }

    /// The word of this moment: the epoch of the last cut, and whether someone left work.
    #[inline]
    pub(crate) fn read(&self) -> Seen {
        Seen(self.0.load(Ordering::Relaxed))
    }

    /// Leaves `bits` and becomes the holder, unless someone is.
    #[inline]
    pub(crate) fn enter(&self, bits: u32) -> Option<Holder<'_>> {
        // AcqRel: Acquire pairs with `leave`, Release publishes what the caller stored for `bits`.
        let before = self.0.fetch_or(LOCKED | bits, Ordering::AcqRel);
        // Lazily: a holder that is made only to be dropped would open the gate for others.
        (before & LOCKED == 0).then(|| Holder { gate: self })
    }

    /// Leaves `bits` for the next holder without becoming it.
    pub(crate) fn mark(&self, bits: u32) {
        // Release pairs with `take`.
        self.0.fetch_or(bits, Ordering::Release);
    }
}

/// The right to close windows and change the limit. Dropping it, also by a panic, opens the gate.
#[derive(Debug)]
pub(crate) struct Holder<'a> {
    gate: &'a Gate,
}

impl Holder<'_> {
    /// Takes what was left so far.
    pub(crate) fn take(&self) -> u32 {
        // Acquire pairs with `enter` and `mark`.
        self.gate.0.fetch_and(!PENDING, Ordering::Acquire) & PENDING
    }

    /// Starts the next epoch: permits admitted before it no longer count for a cut.
    pub(crate) fn bump(&self) {
        self.gate.0.fetch_add(1 << EPOCH_SHIFT, Ordering::Relaxed);
    }

    /// Opens the gate, or gives the holder back when work has arrived.
    pub(crate) fn leave(self) -> Result<(), Self> {
        // Relaxed: only the compare-exchange decides.
        let word = self.gate.0.load(Ordering::Relaxed);
        if word & PENDING != 0 {
            return Err(self);
        }
        // Release pairs with `enter`. Only the holder changes the epoch, so a failure means new work.
        match self.gate.0.compare_exchange(
            word,
            word & !LOCKED,
            Ordering::Release,
            Ordering::Relaxed,
        ) {
            Ok(_) => {
                core::mem::forget(self);
                Ok(())
            }
            Err(_) => Err(self),
        }
    }
}

impl Drop for Holder<'_> {
    fn drop(&mut self) {
        // Release pairs with `enter`. Reached by unwinding only: what was left stays for the next holder.
        self.gate.0.fetch_and(!LOCKED, Ordering::Release);
    }
}
