//! Open-loop arrivals: a Poisson process of batches whose rate changes at fixed times.

use super::random::{Random, exponential, stream};
use rand_distr::{Distribution, StandardUniform};

/// The purpose of the arrival stream's random numbers.
const ARRIVALS: u64 = 0;

/// A rate until a time.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// When it ends, in ns.
    pub until: u64,
    /// Requests per second.
    pub rate: f64,
}

/// A request that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When, in ns.
    pub at: u64,
    /// From which everything it draws follows.
    pub mark: u64,
}

/// All arrivals of a run, drawn once. They are the same for all laws: nothing that happens to a request
/// changes them.
#[derive(Clone, Debug)]
pub struct Arrivals {
    all: Vec<Arrival>,
}

impl Arrivals {
    /// Batches of `batch` from time 0 until the last stretch ends.
    pub fn new(seed: u64, stretches: &[Stretch], batch: u32) -> Self {
        let mut random = stream(seed, ARRIVALS);
        let mut all = Vec::new();
        let (mut at, mut current) = (0, 0);
        let batch = batch.max(1);
        while let Some(next) = after(at, &mut current, stretches, batch, &mut random) {
            at = next;
            all.extend((0..batch).map(|_| Arrival {
                at,
                mark: StandardUniform.sample(&mut random),
            }));
        }
        Self { all }
    }

    /// Those at `now` and later.
    pub fn from(&self, now: u64) -> &[Arrival] {
        let first = self.all.partition_point(|arrival| arrival.at < now);
        &self.all[first..]
    }
}

/// The time of the batch after the one at `at`, which is in stretch `current`; `None` after the last.
///
/// The gap is drawn in expected arrivals and spent at the rate of each stretch it crosses.
fn after(
    mut at: u64,
    current: &mut usize,
    stretches: &[Stretch],
    batch: u32,
    random: &mut Random,
) -> Option<u64> {
    let mut gap = exponential(random) * f64::from(batch);
    loop {
        let stretch = stretches.get(*current)?;
        let length = gap / stretch.rate * 1e9;
        let room = stretch.until.saturating_sub(at) as f64;
        if length < room {
            return Some(at + length as u64);
        }
        gap -= room * stretch.rate / 1e9;
        at = at.max(stretch.until);
        *current += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::queue::SECOND;

    #[test]
    fn each_stretch_has_its_rate() {
        let stretches = vec![
            Stretch {
                until: 100 * SECOND,
                rate: 100.0,
            },
            Stretch {
                until: 200 * SECOND,
                rate: 0.0,
            },
            Stretch {
                until: 300 * SECOND,
                rate: 900.0,
            },
        ];
        for batch in [1, 10] {
            let arrivals = Arrivals::new(1, &stretches, batch);
            let mut counts = [0_i32; 3];
            for arrival in arrivals.from(0) {
                counts[(arrival.at / (100 * SECOND)) as usize] += 1;
            }
            // Four standard deviations of a Poisson count of batches.
            let allowed = |count: i32| (4.0 * f64::from(count * batch as i32).sqrt()) as i32;
            assert!((counts[0] - 10_000).abs() < allowed(10_000), "{counts:?}");
            assert_eq!(counts[1], 0);
            assert!((counts[2] - 90_000).abs() < allowed(90_000), "{counts:?}");
        }
    }

    #[test]
    fn arrivals_are_in_order_and_can_be_entered_anywhere() {
        let stretches = [Stretch {
            until: 10 * SECOND,
            rate: 1_000.0,
        }];
        let arrivals = Arrivals::new(7, &stretches, 1);
        let all = arrivals.from(0);
        assert!(all.is_sorted_by_key(|arrival| arrival.at));
        let late = arrivals.from(5 * SECOND);
        let early = all.len() - late.len();
        assert_eq!(&all[early..], late);
        assert!(all[early - 1].at < 5 * SECOND && late[0].at >= 5 * SECOND);
    }
}
