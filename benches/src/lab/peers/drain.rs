//! A gradient law that drains the server before it measures its baseline: the tolerance and epochs of
//! Envoy's adaptive concurrency filter, the drain probe and throughput bound of Apache bRPC.

use super::{Rule, Sample};
use crate::lab::queue::{MILLI, SECOND};
use crate::lab::random::{Random, stream, uniform};

/// The law and its open window.
#[derive(Debug)]
pub struct Drain {
    limit: f64,
    /// Mean RTT of a drained server, in ns; 0 while unknown.
    baseline: f64,
    ramping: bool,
    /// Throughput of the last two windows, per ns.
    rates: [f64; 2],
    at_floor: u32,
    /// Windows until the next probe.
    until_probe: u32,
    probe: Option<Probe>,
    /// Samples of requests started before are of another epoch.
    epoch: u64,
    window: Window,
    random: Random,
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    saved: f64,
    windows: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    opened: u64,
    sum: f64,
    count: u32,
    inflight: u32,
}

const INITIAL: f64 = 20.0;
const LEAST: f64 = 1.0;
const MOST: f64 = 1_000.0;
const TOLERANCE: f64 = 1.25;
const SAMPLES: u32 = 20;
const SHORTEST: u64 = 100 * MILLI;
const LONGEST: u64 = SECOND;
const PROBE_EVERY: u32 = 30;
const FLOOR_WINDOWS: u32 = 5;

impl Drain {
    /// With a seed for the jitter of its probes.
    pub fn new(seed: u64) -> Self {
        Self {
            limit: INITIAL,
            baseline: 0.0,
            ramping: true,
            rates: [0.0; 2],
            at_floor: 0,
            until_probe: PROBE_EVERY,
            probe: None,
            epoch: 0,
            window: Window::default(),
            random: stream(seed, 4),
        }
    }

    fn close(&mut self, window: Window, now: u64) {
        let rtt = window.sum / f64::from(window.count);
        let rate = f64::from(window.count) / (now - window.opened).max(1) as f64;
        self.rates = [self.rates[1], rate];
        let limited = f64::from(window.inflight) * 5.0 >= self.limit * 4.0;
        if let Some(probe) = &mut self.probe {
            probe.windows -= 1;
            if probe.windows == 0 {
                self.baseline = rtt;
                self.limit = probe.saved;
                self.probe = None;
                self.epoch = now;
                self.until_probe = PROBE_EVERY + (uniform(&mut self.random) * 8.0) as u32;
            }
            return;
        }
        if self.baseline == 0.0 {
            self.baseline = rtt;
        } else if rtt < self.baseline {
            self.baseline -= (self.baseline - rtt) / 8.0;
        } else if !limited {
            self.baseline += (rtt - self.baseline) / 4.0;
        }
        let needed = self.rates[0].max(self.rates[1]) * self.baseline;
        self.until_probe = self.until_probe.saturating_sub(1);
        if limited && self.until_probe == 0 {
            self.probe = Some(Probe {
                saved: self.limit,
                windows: 2,
            });
            self.limit = self.limit.min(0.875 * needed).max(LEAST);
            self.epoch = now;
            return;
        }
        if limited {
            self.step(rtt, needed);
        }
        self.at_floor = if self.limit <= LEAST {
            self.at_floor + 1
        } else {
            0
        };
        if self.at_floor >= FLOOR_WINDOWS {
            self.baseline = rtt;
            self.at_floor = 0;
        }
    }

    fn step(&mut self, rtt: f64, needed: f64) {
        let gradient = (TOLERANCE * self.baseline / rtt).clamp(0.5, 1.0);
        if gradient < 1.0 {
            self.ramping = false;
            self.limit -= self.limit * (1.0 - gradient) / 4.0;
        } else if self.ramping {
            self.limit *= 2.0;
        } else {
            self.limit += self.limit.sqrt();
        }
        let most = if self.ramping {
            2.0 * needed
        } else {
            3.0 * needed + needed.sqrt() / 2.0 + 1.0
        };
        self.limit = self.limit.min(most).clamp(LEAST, MOST);
    }
}

impl Rule for Drain {
    fn limit(&self) -> f64 {
        self.limit
    }

    fn sample(&mut self, sample: Sample) {
        if sample.dropped {
            // Once per round trip: only requests started after the last cut count.
            if sample.started >= self.epoch {
                self.ramping = false;
                self.limit = (self.limit * 0.9).max(LEAST);
                self.epoch = sample.now;
                self.window = Window::default();
            }
            return;
        }
        if sample.started < self.epoch {
            return;
        }
        let window = &mut self.window;
        if window.count == 0 {
            window.opened = sample.started.max(self.epoch);
        }
        window.sum += sample.rtt;
        window.count += 1;
        window.inflight = window.inflight.max(sample.inflight);
        let length = ((2.0 * self.baseline) as u64).clamp(SHORTEST, LONGEST);
        let passed = sample.now - window.opened;
        if passed >= LONGEST || (passed >= length && window.count >= SAMPLES) {
            let closed = *window;
            *window = Window::default();
            self.close(closed, sample.now);
        }
    }
}
