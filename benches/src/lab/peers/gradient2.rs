//! Gradient2 of Netflix's concurrency-limits (`Gradient2Limit`).

use super::{Rule, Sample};

/// Its defaults: 20 to 200, starts at 20, tolerance 1.5, room for 4, long average over 600 samples,
/// smoothing 0.2. It does not look at drops.
#[derive(Debug)]
pub struct Gradient2 {
    limit: f64,
    long: f64,
    samples: u32,
}

const LEAST: f64 = 20.0;
const MOST: f64 = 200.0;
const TOLERANCE: f64 = 1.5;
const ROOM: f64 = 4.0;
const SMOOTHING: f64 = 0.2;
const LONG: f64 = 2.0 / 601.0;
const WARM_UP: u32 = 10;

impl Default for Gradient2 {
    fn default() -> Self {
        Self {
            limit: LEAST,
            long: 0.0,
            samples: 0,
        }
    }
}

impl Rule for Gradient2 {
    fn limit(&self) -> f64 {
        self.limit
    }

    fn sample(&mut self, sample: Sample) {
        let short = sample.rtt;
        if self.samples < WARM_UP {
            self.samples += 1;
            self.long += (short - self.long) / f64::from(self.samples);
        } else {
            self.long += (short - self.long) * LONG;
        }
        if self.long / short > 2.0 {
            self.long *= 0.95;
        }
        if f64::from(sample.inflight) < self.limit / 2.0 {
            return;
        }
        let gradient = (TOLERANCE * self.long / short).clamp(0.5, 1.0);
        let wanted = self.limit * gradient + ROOM;
        self.limit = self.limit * (1.0 - SMOOTHING) + wanted * SMOOTHING;
        self.limit = self.limit.clamp(LEAST, MOST);
    }
}
