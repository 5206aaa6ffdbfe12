//! Vegas of Netflix's concurrency-limits (`VegasLimit`), the default law of its limiters.

use super::{Rule, Sample};
use crate::lab::random::{Random, stream, uniform};

/// Its defaults: starts at 20, at most 1,000; alpha 3, beta 6, step 1 times the decimal logarithm; a new
/// baseline every 15 to 30 times the limit in samples.
#[derive(Debug)]
pub struct Vegas {
    limit: f64,
    baseline: f64,
    samples: f64,
    jitter: f64,
    random: Random,
}

const INITIAL: f64 = 20.0;
const MOST: f64 = 1_000.0;
const PROBE: f64 = 30.0;

impl Vegas {
    /// With a seed for the jitter of its probes.
    pub fn new(seed: u64) -> Self {
        let mut random = stream(seed, 3);
        Self {
            limit: INITIAL,
            baseline: 0.0,
            samples: 0.0,
            jitter: 0.5 + uniform(&mut random) / 2.0,
            random,
        }
    }
}

impl Rule for Vegas {
    fn limit(&self) -> f64 {
        self.limit
    }

    fn sample(&mut self, sample: Sample) {
        self.samples += 1.0;
        if self.samples >= self.jitter * PROBE * self.limit {
            self.jitter = 0.5 + uniform(&mut self.random) / 2.0;
            self.samples = 0.0;
            self.baseline = sample.rtt;
            return;
        }
        // A drop that comes back quickly becomes the baseline: the authors test for it first.
        if self.baseline == 0.0 || sample.rtt < self.baseline {
            self.baseline = sample.rtt;
            return;
        }
        let queue = (self.limit * (1.0 - self.baseline / sample.rtt)).ceil();
        let step = self.limit.log10().floor().max(1.0);
        if sample.dropped {
            self.limit -= step;
        } else if f64::from(sample.inflight) * 2.0 < self.limit {
            return;
        } else if queue <= step {
            self.limit += 6.0 * step;
        } else if queue < 3.0 * step {
            self.limit += step;
        } else if queue > 6.0 * step {
            self.limit -= step;
        }
        self.limit = self.limit.clamp(1.0, MOST);
    }
}
