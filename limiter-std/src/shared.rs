//! What all handles, permits and waiters of one limiter share.

use crate::clock::{Clock, RATE, timestamp};
use crate::sync::{AtomicU32, Ordering};
use crate::wait::Waiters;
use core::time::Duration;
use limiter_core::law::{Law, WALL_SECONDS};
use limiter_core::{Change, Limiter, Outcome, Rejected, Sample, Settled, Slot, Ticks, Timestamp};

/// How old the offset between the clock and UTC may become: clocks that are corrected by NTP drift
/// apart by less than 500 ppm, which is 5 ms in this time; phases tolerate a hundred.
const WALL_REFRESH: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Shared<L: Law, C> {
    pub(crate) core: Limiter<L>,
    pub(crate) clock: C,
    pub(crate) waiters: Waiters,
    /// Whole seconds of the clock at which the offset from UTC was last read; wraps.
    wall_read: AtomicU32,
}

impl<L: Law, C: Clock> Shared<L, C> {
    pub(crate) fn new(core: Limiter<L>, waiters: usize, clock: C) -> Self {
        let now = clock.now();
        let shared = Self {
            core,
            clock,
            waiters: Waiters::new(waiters),
            wall_read: AtomicU32::new(seconds(now)),
        };
        shared.read_wall(now);
        shared
    }

    #[inline]
    pub(crate) fn admit(&self) -> Result<Slot, Rejected> {
        self.core.admit_with(|| self.clock.now())
    }

    /// Records what became of work whose RTT ended at `ended`, and does what follows from a change of the
    /// limit.
    #[inline]
    pub(crate) fn observe(
        &self,
        sample: Sample,
        outcome: Outcome,
        ended: Timestamp,
        now: Timestamp,
    ) {
        if let Some(change) = self.core.observe_sample(sample, outcome, ended, now) {
            self.changed(change);
        }
    }

    #[inline]
    pub(crate) fn release(&self, slot: Slot) {
        if self.core.release(slot).wake() {
            self.serve();
        }
    }

    /// Does what follows from a setting.
    pub(crate) fn settled(&self, settled: Settled) {
        if settled.change().is_some() {
            self.refresh_wall();
        }
        if settled.wake() {
            self.serve();
        }
    }

    /// Does what follows from a window that moved the limit.
    #[cold]
    fn changed(&self, change: Change) {
        self.refresh_wall();
        // The limit was raised in the word that has the waiting bit: a waiter whose bit is not seen here
        // sees the new limit itself.
        if change.to > change.from && self.core.snapshot().waiting {
            self.serve();
        }
    }

    /// Reads the offset from UTC again when it is old; one of those who find it old does.
    fn refresh_wall(&self) {
        let now = self.clock.now();
        let (read, seconds) = (self.wall_read.load(Ordering::Relaxed), seconds(now));
        let old = u64::from(seconds.wrapping_sub(read)) >= WALL_REFRESH.as_secs();
        // Relaxed: it only picks one of several; the offset is published by the core.
        let mine = old
            && self
                .wall_read
                .compare_exchange(read, seconds, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if mine {
            self.read_wall(now);
        }
    }

    fn read_wall(&self, now: Timestamp) {
        if let Some(unix) = self.clock.unix_time() {
            self.core.set_wall_offset(wall_offset(unix, now));
        }
    }
}

/// What to add to `now` for the time since the Unix epoch, modulo [`WALL_SECONDS`].
fn wall_offset(unix: Duration, now: Timestamp) -> Ticks {
    let cycle = u64::from(WALL_SECONDS) * u64::from(RATE.get());
    let unix = timestamp(unix).ticks() % cycle;
    Ticks::new((unix + cycle - now.ticks() % cycle) % cycle)
}

fn seconds(now: Timestamp) -> u32 {
    (now.ticks() / u64::from(RATE.get())) as u32
}
