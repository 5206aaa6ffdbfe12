//! Whether the delay of a class stands: the smallest wait seen over an interval is above a target. No lock,
//! no clock.
//!
//! This is how CoDel tells a queue that takes up a burst from one that only makes everybody late (Nichols
//! and Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012; RFC 8289), used as Facebook uses it for
//! queues of requests (Maurer, "Fail at Scale", ACM Queue 13(8), 2015): such a queue is served newest first,
//! for those who came last have the most of their time left, and those who came first have next to none.

use crate::clock::RATE;
use core::time::Duration;
use limiter_core::{Ticks, Timestamp};

/// The delay that may stand: 5 ms, as for networks, found to suit requests too ("Fail at Scale": "across a
/// wide set of use cases"). One who waits for a service that gives a slot every 50 ms waits longer in the
/// shortest of queues; see [`Standing::served`].
pub(crate) const DEFAULT_TARGET: Duration = Duration::from_millis(5);

/// How long the delay is watched before it is said to stand: 100 ms, from the same sources: longer than
/// the bursts of callers and the pauses of a collector.
pub(crate) const DEFAULT_INTERVAL: Duration = Duration::from_millis(100);

/// What CoDel allows for as one packet of the largest size: a wait of so many gaps between two slots is that
/// of a queue as short as can be, whatever the target.
const SHORTEST: u64 = 2;

/// A smallest of fewer waits says nothing about a slow service, which gives no more within the interval.
const LEAST: u32 = 4;

/// The delay that may stand, and for how long it is watched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    pub(crate) target: Ticks,
    pub(crate) interval: Ticks,
}

impl Allowed {
    pub(crate) const fn new(target: Duration, interval: Duration) -> Self {
        Self {
            target: RATE.ticks(target),
            interval: RATE.ticks(interval),
        }
    }
}

/// What was seen of one class.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    /// When the wait was first above the target, and how many were in a row; `None` since one was below.
    above: Option<(Timestamp, u32)>,
    stands: bool,
}

impl Standing {
    /// Whether the newest go first.
    pub(crate) const fn stands(&self) -> bool {
        self.stands
    }

    /// One was served: the oldest of the class waited for `oldest` by then, `left` wait still, and a slot is
    /// given every `gap`, if that is known.
    ///
    /// In order of arrival the oldest is the one who was served. Newest first it is not, and its age tells
    /// when the queue that stood is gone.
    pub(crate) fn served(
        &mut self,
        oldest: Ticks,
        left: usize,
        gap: Ticks,
        now: Timestamp,
        allowed: Allowed,
    ) {
        let shortest = gap.get().saturating_mul(SHORTEST);
        if left <= 1 || oldest.get() < allowed.target.get().max(shortest) {
            *self = Self::default();
            return;
        }
        let (first, count) = self.above.unwrap_or((now, 0));
        let count = count.saturating_add(1);
        self.above = Some((first, count));
        let watched = now.since(first).unwrap_or_default();
        if count >= LEAST && watched >= allowed.interval {
            self.stands = true;
        }
    }

    /// Nobody of the class waits.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: Allowed = Allowed {
        target: Ticks::new(5),
        interval: Ticks::new(100),
    };

    /// Serves one at each of the times, whose oldest waited for as long as said.
    fn served(standing: &mut Standing, seen: impl IntoIterator<Item = (u64, u64)>) {
        for (now, oldest) in seen {
            let now = Timestamp::from_ticks(now);
            standing.served(Ticks::new(oldest), 9, Ticks::new(1), now, ALLOWED);
        }
    }

    #[test]
    fn a_delay_stands_when_the_smallest_of_an_interval_is_above_the_target() {
        let mut standing = Standing::default();
        served(&mut standing, (0..100).map(|now| (now, 6)));
        assert!(!standing.stands(), "not watched for an interval");
        served(&mut standing, [(100, 6)]);
        assert!(standing.stands());
        served(&mut standing, [(101, 4)]);
        assert!(!standing.stands());
    }

    #[test]
    fn one_short_wait_in_every_interval_is_a_queue_that_takes_up_bursts() {
        let mut standing = Standing::default();
        for now in 0..1_000 {
            served(&mut standing, [(now, if now % 90 == 0 { 1 } else { 50 })]);
            assert!(!standing.stands());
        }
    }

    #[test]
    fn a_queue_of_one_never_stands_and_neither_does_the_shortest_of_a_slow_service() {
        let mut standing = Standing::default();
        for step in 0..100 {
            let now = Timestamp::from_ticks(50 * step);
            standing.served(Ticks::new(50), 1, Ticks::new(50), now, ALLOWED);
            assert!(!standing.stands());
            standing.served(Ticks::new(99), 3, Ticks::new(50), now, ALLOWED);
            assert!(!standing.stands());
        }
    }

    #[test]
    fn two_waits_an_hour_apart_say_nothing() {
        let mut standing = Standing::default();
        served(&mut standing, [(0, 50), (3_600_000, 50)]);
        assert!(!standing.stands());
    }
}
