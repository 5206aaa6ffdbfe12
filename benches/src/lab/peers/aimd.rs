//! AIMD of Netflix's concurrency-limits (`AIMDLimit`): one more per sample, a tenth less per drop.

use super::{Rule, Sample};

/// Its defaults: 20 to 200, starts at 20, keeps 0.9, takes 5 s for a drop.
#[derive(Debug)]
pub struct Aimd {
    limit: f64,
}

const LEAST: f64 = 20.0;
const MOST: f64 = 200.0;
const KEEP: f64 = 0.9;
const TIMEOUT: f64 = 5e9;

impl Default for Aimd {
    fn default() -> Self {
        Self { limit: LEAST }
    }
}

impl Rule for Aimd {
    fn limit(&self) -> f64 {
        self.limit
    }

    fn sample(&mut self, sample: Sample) {
        if sample.dropped || sample.rtt > TIMEOUT {
            self.limit = (self.limit * KEEP).floor();
        } else if f64::from(sample.inflight) * 2.0 >= self.limit {
            self.limit += 1.0;
        }
        self.limit = self.limit.clamp(LEAST, MOST);
    }
}
