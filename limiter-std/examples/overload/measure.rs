//! Counting what callers see.

use crate::wire::{Measured, Slice, now_ms, now_us};
use std::time::{Duration, Instant};

/// How one attempt ended for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// 200 within the timeout.
    Good,
    /// 503.
    Refused,
    TimedOut,
    /// A broken connection or any other answer.
    Failed,
    /// No socket was left to send it from.
    Unsent,
}

/// Counts of the measured window and of the current slice.
#[derive(Debug)]
pub(crate) struct Counts {
    window: (Instant, Instant),
    measured: Measured,
    slice: Slice,
    slice_began: Instant,
    slice_attempts: Vec<f64>,
    cpu_before: Duration,
}

impl Counts {
    pub(crate) fn new(began: Instant, warm_up: Duration, measure: Duration) -> Counts {
        let from = began + warm_up;
        Counts {
            window: (from, from + measure),
            measured: Measured {
                from_ms: now_ms() + warm_up.as_millis() as u64,
                seconds: measure.as_secs_f64(),
                ..Measured::default()
            },
            slice: Slice::default(),
            slice_began: began,
            slice_attempts: Vec::new(),
            cpu_before: Duration::ZERO,
        }
    }

    fn in_window(&self, at: Instant) -> bool {
        (self.window.0..self.window.1).contains(&at)
    }

    /// The measured window begins.
    pub(crate) fn warm(&mut self) {
        self.cpu_before = cpu();
    }

    /// A request that was due at `due` is sent at `now`.
    pub(crate) fn arrived(&mut self, due: Instant, now: Instant) {
        if self.in_window(due) {
            self.measured.requests += 1;
            self.measured
                .lags_ms
                .push(ms(now.saturating_duration_since(due)));
        }
    }

    pub(crate) fn attempted(&mut self, sent: Instant) {
        if self.in_window(sent) {
            self.measured.attempts += 1;
        }
    }

    /// An attempt of a request that was due at `due` ended.
    pub(crate) fn ended(&mut self, due: Instant, sent: Instant, ended: Ended) {
        if !matches!(ended, Ended::Good | Ended::Unsent) {
            self.measured.first_error_us.get_or_insert_with(now_us);
        }
        let now = Instant::now();
        let (attempt, request) = (ms(now - sent), ms(now.saturating_duration_since(due)));
        match ended {
            Ended::Good => {
                self.slice.good += 1;
                self.slice_attempts.push(attempt);
            }
            Ended::Refused => self.slice.refused += 1,
            Ended::TimedOut => self.slice.timed_out += 1,
            Ended::Failed | Ended::Unsent => {}
        }
        if !self.in_window(now) {
            return;
        }
        match ended {
            Ended::Good => {
                self.measured.good += 1;
                self.measured.attempts_ms.push(attempt);
                self.measured.requests_ms.push(request);
            }
            Ended::Refused => self.measured.refused += 1,
            Ended::TimedOut => self.measured.timed_out += 1,
            Ended::Failed => self.measured.failed += 1,
            Ended::Unsent => self.measured.unsent += 1,
        }
    }

    /// Closes the current slice and opens the next.
    pub(crate) fn slice(&mut self) -> Slice {
        let mut slice = std::mem::take(&mut self.slice);
        slice.at_ms = now_ms();
        slice.seconds = self.slice_began.elapsed().as_secs_f64();
        self.slice_began = Instant::now();
        (slice.p50_ms, slice.p99_ms) = p50_p99(&mut self.slice_attempts);
        self.slice_attempts.clear();
        slice
    }

    /// Closes the measured window.
    pub(crate) fn done(&mut self) -> Measured {
        let mut done = std::mem::take(&mut self.measured);
        done.cpu_seconds = (cpu().saturating_sub(self.cpu_before)).as_secs_f64();
        done
    }
}

/// Median and 99th percentile; sorts the values. Zeros when there are none.
pub(crate) fn p50_p99(values: &mut [f64]) -> (f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    // Nearest rank: the smallest value that the share of all values does not exceed.
    let rank = |percent: usize| (values.len() * percent).div_ceil(100).saturating_sub(1);
    let at = |percent| values.get(rank(percent)).copied().unwrap_or(0.0);
    (at(50), at(99))
}

/// Processor time of this process so far; zero where the system does not tell.
pub(crate) fn cpu() -> Duration {
    cpu_time::ProcessTime::try_now().map_or(Duration::ZERO, |time| time.as_duration())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
