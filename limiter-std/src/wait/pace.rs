//! How fast the queue moves: the time between two who waited and were given their slots. No lock, no clock.

use limiter_core::{Ticks, Timestamp};

/// Requests that are remembered: half of them are forgotten when there are twice as many. The mean of 32 to 64
/// gaps of any spread of a queue in the wild is right within a fifth, and old after a few round trips.
const MEMORY: u32 = 64;

/// Fewer tell nothing: nobody is refused for a forecast from a handful.
const LEAST: u32 = 8;

/// Measured while somebody waits.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// How long somebody waited, in ticks, while `slots` were given to so many requests.
    busy: u64,
    slots: u64,
    given: u32,
    /// When the last slot was given, or the first waiter came; `None` while nobody waits.
    since: Option<Timestamp>,
}

impl Pace {
    /// Somebody waits from now on.
    pub(crate) fn begin(&mut self, now: Timestamp) {
        self.since.get_or_insert(now);
    }

    /// Nobody waits any more.
    pub(crate) fn pause(&mut self) {
        self.since = None;
    }

    /// `slots` were given to a waiter.
    pub(crate) fn served(&mut self, slots: u32, now: Timestamp) {
        self.busy = self.busy.saturating_add(self.open(now));
        // None takes less than one, and as many as are remembered do not overflow.
        self.slots += u64::from(slots.max(1));
        self.given += 1;
        self.since = Some(now);
        if self.given >= MEMORY {
            self.busy /= 2;
            self.slots /= 2;
            self.given /= 2;
        }
    }

    /// The mean time between two requests that were given their slots, `None` while too few were seen.
    pub(crate) fn gap(&self) -> Option<Ticks> {
        (self.given >= LEAST).then(|| Ticks::new(self.busy / u64::from(self.given)))
    }

    /// The time that `slots` of the queue take, `None` while too few were seen.
    ///
    /// A gap that has lasted longer than the mean counts as far as it has come, or a service that stopped
    /// would be taken for as fast as it was.
    pub(crate) fn forecast(&self, slots: u64, now: Timestamp) -> Option<Ticks> {
        let (gap, open) = (self.gap()?, self.open(now));
        let (busy, given) = if open > gap.get() {
            let usual = self.slots / u64::from(self.given);
            (self.busy.saturating_add(open), self.slots + usual)
        } else {
            (self.busy, self.slots)
        };
        // In 128 bits, for weights and years are both large.
        let ticks = u128::from(busy) * u128::from(slots) / u128::from(given);
        Some(Ticks::new(u64::try_from(ticks).unwrap_or(u64::MAX)))
    }

    /// How long nothing was given although somebody waits.
    fn open(&self, now: Timestamp) -> u64 {
        let gap = self.since.and_then(|since| now.since(since));
        gap.unwrap_or_default().get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64) -> Timestamp {
        Timestamp::from_ticks(ticks)
    }

    /// A slot every `gap` ticks, from `start`.
    fn steady(pace: &mut Pace, start: u64, gap: u64, slots: u64) -> u64 {
        pace.begin(at(start));
        for slot in 1..=slots {
            pace.served(1, at(start + slot * gap));
        }
        start + slots * gap
    }

    #[test]
    fn a_steady_queue_is_foreseen_exactly_and_one_that_was_hardly_seen_not_at_all() {
        let mut pace = Pace::default();
        steady(&mut pace, 0, 100, u64::from(LEAST) - 1);
        assert_eq!(pace.forecast(10, at(700)), None);
        let now = steady(&mut pace, 700, 100, 500);
        assert_eq!(pace.forecast(10, at(now)), Some(Ticks::new(1_000)));
        assert_eq!(pace.forecast(0, at(now)), Some(Ticks::new(0)));
    }

    /// Whatever the unit that weights are in.
    #[test]
    fn heavy_requests_are_foreseen_as_light_ones_are() {
        for weight in [1, 10, 1_000, 1_000_000] {
            let mut pace = Pace::default();
            pace.begin(at(0));
            for request in 1..=200_u64 {
                pace.served(weight, at(request * 100));
            }
            let ahead = 3 * u64::from(weight);
            let waits = |now: u64| pace.forecast(ahead, at(20_000 + now)).unwrap().get();
            assert_eq!((waits(0), waits(100)), (300, 300), "{weight}");
            assert!((600..700).contains(&waits(5_000)), "{}", waits(5_000));
        }
    }

    #[test]
    fn the_time_in_which_nobody_waits_does_not_count() {
        let mut pace = Pace::default();
        let now = steady(&mut pace, 0, 100, 50);
        pace.pause();
        let now = steady(&mut pace, now + 1_000_000, 100, 10);
        assert_eq!(pace.forecast(1, at(now)), Some(Ticks::new(100)));
    }

    #[test]
    fn a_service_that_stops_is_foreseen_to_be_slow_before_it_gives_the_next_slot() {
        let mut pace = Pace::default();
        let now = steady(&mut pace, 0, 100, 500);
        let before = pace.forecast(100, at(now + 100)).unwrap();
        let stopped = pace.forecast(100, at(now + 1_000_000)).unwrap();
        assert!(stopped.get() > 100 * before.get(), "{stopped:?} {before:?}");
    }

    #[test]
    fn a_pace_that_changes_is_followed_within_two_memories() {
        let mut pace = Pace::default();
        let now = steady(&mut pace, 0, 100, 500);
        let now = steady(&mut pace, now, 1_000, 2 * u64::from(MEMORY));
        let seen = pace.forecast(1, at(now)).unwrap().get();
        assert!((700..=1_000).contains(&seen), "{seen}");
    }

    #[test]
    fn no_clock_and_no_weight_overflows() {
        let mut pace = Pace::default();
        for now in [0, u64::MAX, 5, u64::MAX].repeat(30) {
            pace.begin(at(now));
            pace.served(u32::MAX, at(now));
            let _ = pace.forecast(u64::MAX, at(u64::MAX));
        }
        assert!(pace.forecast(u64::MAX, at(0)).is_some());
    }
}
