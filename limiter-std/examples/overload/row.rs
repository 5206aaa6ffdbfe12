//! One load in one mode.

use crate::children::Server;
use crate::protect::ModeName;
use crate::timeline::mean;
use crate::wire::Measured;
use serde::Serialize;

/// One line of the table, and one flat object of the JSON file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) mode: ModeName,
    /// Times the capacity.
    pub(crate) load: f64,
    pub(crate) offered_per_s: f64,
    /// Requests answered in time.
    pub(crate) goodput_per_s: f64,
    /// Of the capacity.
    pub(crate) goodput_share: f64,
    /// Latency of the attempts that succeeded.
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// Latency of the requests that succeeded, from their arrival.
    pub(crate) request_p50_ms: f64,
    pub(crate) request_p99_ms: f64,
    pub(crate) refused_per_s: f64,
    pub(crate) timed_out_per_s: f64,
    pub(crate) failed_per_s: f64,
    pub(crate) attempts_per_request: f64,
    /// Mean limit; null without one.
    pub(crate) limit: Option<f64>,
    /// Share of one core that the server had.
    pub(crate) server_cpu: f64,
    pub(crate) generator_cpu: f64,
    /// How late after its time a request was sent.
    pub(crate) generator_lag_p99_ms: f64,
    pub(crate) generator_lag_max_ms: f64,
    /// Attempts that the generator had no socket for.
    pub(crate) unsent: u64,
}

impl Row {
    pub(crate) fn new(
        mode: ModeName,
        load: f64,
        offered: f64,
        capacity: f64,
        measured: &Measured,
        server: &Server,
    ) -> Row {
        let per_second = |count: u64| count as f64 / measured.seconds;
        let to_ms = measured.from_ms + (measured.seconds * 1e3) as u64;
        let gauges = server.gauges(measured.from_ms, to_ms);
        let server_cpu = match gauges[..] {
            [first, .., last] => {
                let time = last.at_ms.saturating_sub(first.at_ms).max(1);
                last.cpu_ms.saturating_sub(first.cpu_ms) as f64 / time as f64
            }
            _ => 0.0,
        };
        Row {
            mode,
            load,
            offered_per_s: offered,
            goodput_per_s: per_second(measured.good),
            goodput_share: per_second(measured.good) / capacity,
            p50_ms: measured.attempt_p50_ms,
            p99_ms: measured.attempt_p99_ms,
            request_p50_ms: measured.request_p50_ms,
            request_p99_ms: measured.request_p99_ms,
            refused_per_s: per_second(measured.refused),
            timed_out_per_s: per_second(measured.timed_out),
            failed_per_s: per_second(measured.failed),
            attempts_per_request: measured.attempts as f64 / measured.requests.max(1) as f64,
            limit: mean(gauges.iter()),
            server_cpu,
            generator_cpu: measured.cpu,
            generator_lag_p99_ms: measured.lag_p99_ms,
            generator_lag_max_ms: measured.lag_max_ms,
            unsent: measured.unsent,
        }
    }
}
