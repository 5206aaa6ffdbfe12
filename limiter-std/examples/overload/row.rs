//! One load in one mode.

use crate::children::Server;
use crate::measure::p50_p99;
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
    /// How long before the first error that a caller saw the limiter told that its queue builds; the least of all
    /// turns, null without an error or a limiter.
    pub(crate) queue_building_lead_ms: Option<f64>,
}

impl Row {
    pub(crate) fn new(
        mode: ModeName,
        load: f64,
        offered: f64,
        capacity: f64,
        turns: Vec<Measured>,
        server: &Server,
    ) -> Row {
        let mut measured = Measured::default();
        let (mut gauges, mut busy_ms, mut time_ms) = (Vec::new(), 0, 0);
        let mut leads = Vec::new();
        for turn in turns {
            leads.extend(turn.first_error_us.and_then(|error| server.lead_ms(error)));
            let to_ms = turn.from_ms + (turn.seconds * 1e3) as u64;
            let within = server.gauges(turn.from_ms, to_ms);
            if let [first, .., last] = within[..] {
                time_ms += last.at_ms.saturating_sub(first.at_ms);
                busy_ms += last.cpu_ms.saturating_sub(first.cpu_ms);
            }
            gauges.extend(within);
            measured.join(turn);
        }
        let per_second = |count: u64| count as f64 / measured.seconds;
        let (p50_ms, p99_ms) = p50_p99(&mut measured.attempts_ms);
        let (request_p50_ms, request_p99_ms) = p50_p99(&mut measured.requests_ms);
        let (_, generator_lag_p99_ms) = p50_p99(&mut measured.lags_ms);
        Row {
            mode,
            load,
            offered_per_s: offered,
            goodput_per_s: per_second(measured.good),
            goodput_share: per_second(measured.good) / capacity,
            p50_ms,
            p99_ms,
            request_p50_ms,
            request_p99_ms,
            refused_per_s: per_second(measured.refused),
            timed_out_per_s: per_second(measured.timed_out),
            failed_per_s: per_second(measured.failed),
            attempts_per_request: measured.attempts as f64 / measured.requests.max(1) as f64,
            limit: mean(gauges.iter()),
            server_cpu: busy_ms as f64 / time_ms.max(1) as f64,
            generator_cpu: measured.cpu_seconds / measured.seconds,
            generator_lag_p99_ms,
            generator_lag_max_ms: measured.lags_ms.last().copied().unwrap_or(0.0),
            unsent: measured.unsent,
            queue_building_lead_ms: leads.into_iter().reduce(f64::min),
        }
    }
}
