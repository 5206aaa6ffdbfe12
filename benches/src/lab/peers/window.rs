//! The window of Netflix's concurrency-limits (`WindowedLimit`) around any rule: one sample a second with
//! the mean RTT, the largest number in flight, and a drop if there was any.

use super::{Rule, Sample};

/// Its defaults: at most one sample a second, of at least ten; shorter than 100 µs does not count.
#[derive(Debug)]
pub struct Window<R> {
    rule: R,
    next: u64,
    sum: f64,
    count: u32,
    inflight: u32,
    dropped: bool,
}

const LENGTH: u64 = 1_000_000_000;
const LEAST: u32 = 10;
const SHORTEST: f64 = 100_000.0;

impl<R> Window<R> {
    /// Samples for `rule`.
    pub fn new(rule: R) -> Self {
        Self {
            rule,
            next: 0,
            sum: 0.0,
            count: 0,
            inflight: 0,
            dropped: false,
        }
    }
}

impl<R: Rule> Rule for Window<R> {
    fn limit(&self) -> f64 {
        self.rule.limit()
    }

    fn sample(&mut self, sample: Sample) {
        if sample.rtt < SHORTEST {
            return;
        }
        self.sum += sample.rtt;
        self.count += 1;
        self.inflight = self.inflight.max(sample.inflight);
        self.dropped |= sample.dropped;
        if sample.now <= self.next {
            return;
        }
        if self.count >= LEAST {
            self.rule.sample(Sample {
                rtt: self.sum / f64::from(self.count),
                inflight: self.inflight,
                dropped: self.dropped,
                ..sample
            });
        }
        // Windows with fewer are thrown away.
        self.next = sample.now + LENGTH;
        (self.sum, self.count, self.inflight, self.dropped) = (0.0, 0, 0, false);
    }
}
