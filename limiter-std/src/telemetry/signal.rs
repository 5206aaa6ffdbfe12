//! A condition that comes and goes, as an edge: it begins at once and is over when it has not held for a while.

use core::time::Duration;

/// As long a condition must not have held to be over: the quiet second of `limiter-embassy`.
pub(super) const CALM: Duration = Duration::from_secs(1);

/// What comes back within this time after it was over has to stay away twice as long the next time, up to
/// [`DOUBLINGS`] times: so no traffic makes more than a pair of edges a minute for long (the damping of flapping
/// routes, RFC 2439, with a time instead of a penalty).
const FORGET: Duration = Duration::from_secs(60);
const DOUBLINGS: u32 = 6;

/// What became of a condition at a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Began,
    Over,
    Stays,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signal {
    on: bool,
    /// When it last held.
    held: Duration,
    /// When it was last over.
    over: Option<Duration>,
    doublings: u32,
}

impl Signal {
    pub(super) const fn is_on(&self) -> bool {
        self.on
    }

    /// Looks whether the condition holds now.
    pub(super) fn see(&mut self, holds: bool, now: Duration) -> Turn {
        if holds {
            self.held = now;
        }
        match (self.on, holds) {
            (false, true) => {
                self.on = true;
                let again = self
                    .over
                    .is_some_and(|over| now.saturating_sub(over) < FORGET);
                self.doublings = if again {
                    DOUBLINGS.min(self.doublings + 1)
                } else {
                    0
                };
                Turn::Began
            }
            (true, false) if now.saturating_sub(self.held) >= CALM * (1 << self.doublings) => {
                self.on = false;
                self.over = Some(now);
                Turn::Over
            }
            _ => Turn::Stays,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_at_once_and_is_over_when_it_has_not_held_for_a_second() {
        let mut signal = Signal::default();
        let at = Duration::from_millis;
        assert_eq!(signal.see(false, at(0)), Turn::Stays);
        assert_eq!(signal.see(true, at(100)), Turn::Began);
        assert_eq!(signal.see(true, at(200)), Turn::Stays);
        assert_eq!(signal.see(false, at(1_199)), Turn::Stays);
        assert_eq!(signal.see(false, at(1_200)), Turn::Over);
        assert_eq!(signal.see(false, at(9_000)), Turn::Stays);
    }

    #[test]
    fn what_flaps_at_any_pace_makes_a_pair_of_edges_a_minute_at_most_in_the_end() {
        for gap_ms in [1_u64, 700, 1_100, 2_100, 5_000, 33_000, 59_000] {
            let mut signal = Signal::default();
            let mut late = 0;
            // Holds for an instant, then not for `gap`; seen ten times a second, for an hour.
            let hour = 36_000;
            for look in 0..hour {
                let now = Duration::from_millis(look * 100);
                let holds = (look * 100) % gap_ms.max(100) == 0;
                if signal.see(holds, now) != Turn::Stays && look > hour / 2 {
                    late += 1;
                }
            }
            assert!(
                late <= 60,
                "{late} edges in half an hour, a gap of {gap_ms} ms"
            );
        }
    }

    #[test]
    fn a_clock_that_steps_back_ends_nothing_and_breaks_nothing() {
        let mut signal = Signal::default();
        signal.see(true, Duration::from_secs(100));
        assert_eq!(signal.see(false, Duration::from_secs(5)), Turn::Stays);
        assert_eq!(signal.see(false, Duration::from_secs(101)), Turn::Over);
        assert_eq!(signal.see(true, Duration::MAX), Turn::Began);
    }
}
