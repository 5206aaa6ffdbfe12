//! What the wall clock says, read again from time to time.

use crate::clock::{RATE, timestamp};
use crate::sync::{AtomicU32, Ordering};
use core::time::Duration;
use limiter_core::law::WALL_SECONDS;
use limiter_core::{Ticks, Timestamp};

/// How old the offset between the clock and UTC may become: clocks that are corrected by NTP drift
/// apart by less than 500 ppm, which is 5 ms in this time; phases tolerate a hundred.
const WALL_REFRESH: Duration = Duration::from_secs(10);

/// When the offset from UTC was last read: whole seconds of the clock, which wrap.
#[derive(Debug)]
pub(crate) struct Wall(AtomicU32);

impl Wall {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self(AtomicU32::new(seconds(now)))
    }

    /// Whether it is old; one of those who find it old is told so.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        let (read, seconds) = (self.0.load(Ordering::Relaxed), seconds(now));
        let old = u64::from(seconds.wrapping_sub(read)) >= WALL_REFRESH.as_secs();
        // Relaxed: it only picks one of several; the offset is published by the core.
        old && self
            .0
            .compare_exchange(read, seconds, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }
}

/// What to add to `now` for the time since the Unix epoch, modulo [`WALL_SECONDS`].
pub(crate) fn wall_offset(unix: Duration, now: Timestamp) -> Ticks {
    let cycle = u64::from(WALL_SECONDS) * u64::from(RATE.get());
    let unix = timestamp(unix).ticks() % cycle;
    Ticks::new((unix + cycle - now.ticks() % cycle) % cycle)
}

fn seconds(now: Timestamp) -> u32 {
    (now.ticks() / u64::from(RATE.get())) as u32
}
