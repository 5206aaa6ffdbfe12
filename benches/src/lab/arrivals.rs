//! Open-loop arrivals: a Poisson process of batches whose rate changes at fixed times.

use super::queue::NEVER;
use super::random::{Random, exponential, stream};
use rand_distr::Distribution;
use rand_distr::StandardUniform;

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

/// The arrival process. The same for all laws: nothing that happens to a request changes it.
#[derive(Clone, Debug)]
pub struct Arrivals {
    random: Random,
    stretches: Vec<Stretch>,
    current: usize,
    batch: u32,
    left: u32,
    next_at: u64,
}

impl Arrivals {
    /// Batches of `batch` from time 0 until the last stretch ends.
    pub fn new(seed: u64, stretches: Vec<Stretch>, batch: u32) -> Self {
        let mut arrivals = Self {
            random: stream(seed, ARRIVALS),
            stretches,
            current: 0,
            batch: batch.max(1),
            left: 0,
            next_at: 0,
        };
        arrivals.schedule();
        arrivals
    }

    /// When the next request arrives, [`NEVER`] after the last.
    pub fn next_at(&self) -> u64 {
        self.next_at
    }

    /// Takes the next request; what comes back is its mark, from which everything it draws follows.
    pub fn take(&mut self) -> u64 {
        self.left -= 1;
        let mark = StandardUniform.sample(&mut self.random);
        if self.left == 0 {
            self.schedule();
        }
        mark
    }

    /// Passes over what arrives before `now`.
    pub fn skip_to(&mut self, now: u64) {
        while self.next_at < now {
            self.take();
        }
    }

    /// Draws the next batch's time. A gap is drawn in expected arrivals and spent at the rate of each
    /// stretch it crosses.
    fn schedule(&mut self) {
        self.left = self.batch;
        let mut gap = exponential(&mut self.random) * f64::from(self.batch);
        while let Some(stretch) = self.stretches.get(self.current) {
            let length = gap / stretch.rate * 1e9;
            let room = stretch.until.saturating_sub(self.next_at) as f64;
            if length < room {
                self.next_at += length as u64;
                return;
            }
            gap -= room * stretch.rate / 1e9;
            self.next_at = self.next_at.max(stretch.until);
            self.current += 1;
        }
        self.next_at = NEVER;
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
            let mut arrivals = Arrivals::new(1, stretches.clone(), batch);
            let mut counts = [0_i32; 3];
            while arrivals.next_at() != NEVER {
                counts[(arrivals.next_at() / (100 * SECOND)) as usize] += 1;
                arrivals.take();
            }
            // Four standard deviations of a Poisson count of batches.
            let allowed = |count: i32| (4.0 * f64::from(count * batch as i32).sqrt()) as i32;
            assert!((counts[0] - 10_000).abs() < allowed(10_000), "{counts:?}");
            assert_eq!(counts[1], 0);
            assert!((counts[2] - 90_000).abs() < allowed(90_000), "{counts:?}");
        }
    }

    #[test]
    fn skipping_gives_the_rest_of_the_same_stream() {
        let stretches = vec![Stretch {
            until: 10 * SECOND,
            rate: 1_000.0,
        }];
        let mut whole = Arrivals::new(7, stretches, 1);
        let mut skipped = whole.clone();
        skipped.skip_to(5 * SECOND);
        while whole.next_at() < 5 * SECOND {
            whole.take();
        }
        for _ in 0..100 {
            assert_eq!(whole.next_at(), skipped.next_at());
            assert_eq!(whole.take(), skipped.take());
        }
    }
}
