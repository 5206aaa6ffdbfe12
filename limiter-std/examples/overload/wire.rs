//! What the processes of a run say to one another: one JSON object a line, over the children's
//! standard input and output. A child ends when its input does, so none outlives its parent.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// How slow the server makes its queries on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Slowness {
    /// As calibrated.
    #[default]
    Quick,
    /// Three times the rows: three times the work, so a third of the capacity.
    Work,
    /// Twice the query's time is spent waiting on top, as for a slow disk: the processor has
    /// room for the same throughput, but only at three times the concurrency.
    Wait,
}

/// From the server, once: where it listens.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Listening {
    pub(crate) port: u16,
}

/// From the server, ten times a second.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Gauge {
    /// Milliseconds of UTC.
    pub(crate) at_ms: u64,
    /// The limit in force; none without protection.
    pub(crate) limit: Option<u64>,
    /// Requests admitted whose work is not done; a mean over the time since the last gauge.
    pub(crate) inflight: f64,
    /// Processor time of the server so far, in milliseconds.
    pub(crate) cpu_ms: u64,
}

/// From the server of the limiter, when its queue begins to build and when it has recovered.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Queue {
    /// Microseconds of UTC, when the observer was told.
    pub(crate) at_us: u64,
    pub(crate) builds: bool,
}

/// From the server.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum FromServer {
    Gauge(Gauge),
    Queue(Queue),
}

/// To the generator: offer this load.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) port: u16,
    /// First attempts per second.
    pub(crate) rate: f64,
    pub(crate) seed: u64,
    /// Offered, but not measured.
    pub(crate) warm_up_ms: u64,
    pub(crate) measure_ms: u64,
}

/// From the generator, twice a second while it offers a load.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Slice {
    pub(crate) at_ms: u64,
    pub(crate) seconds: f64,
    /// Requests answered in time.
    pub(crate) good: u64,
    pub(crate) refused: u64,
    pub(crate) timed_out: u64,
    /// Latencies of the attempts that succeeded; zero when there were none.
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
}

/// From the generator, at the end of a step: what happened in the measured window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) from_ms: u64,
    pub(crate) seconds: f64,
    pub(crate) requests: u64,
    pub(crate) attempts: u64,
    /// Requests answered in time.
    pub(crate) good: u64,
    pub(crate) refused: u64,
    pub(crate) timed_out: u64,
    /// Broken connections and any answer but 200 and 503.
    pub(crate) failed: u64,
    /// Attempts that the generator had no socket for.
    pub(crate) unsent: u64,
    /// When a caller first saw an error, in microseconds of UTC; also while it was not measured yet.
    pub(crate) first_error_us: Option<u64>,
    /// How long each attempt that succeeded took, in ms.
    pub(crate) attempts_ms: Vec<f64>,
    /// How long each request that succeeded took from its arrival, over refusals, back-off and retries.
    pub(crate) requests_ms: Vec<f64>,
    /// How late after its scheduled time each arrival was sent.
    pub(crate) lags_ms: Vec<f64>,
    /// Processor time that the generator itself used.
    pub(crate) cpu_seconds: f64,
}

impl Measured {
    /// Adds what happened in another window.
    pub(crate) fn join(&mut self, other: Measured) {
        self.seconds += other.seconds;
        self.requests += other.requests;
        self.attempts += other.attempts;
        self.good += other.good;
        self.refused += other.refused;
        self.timed_out += other.timed_out;
        self.failed += other.failed;
        self.unsent += other.unsent;
        self.attempts_ms.extend(other.attempts_ms);
        self.requests_ms.extend(other.requests_ms);
        self.lags_ms.extend(other.lags_ms);
        self.cpu_seconds += other.cpu_seconds;
    }
}

/// From the generator.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromGenerator {
    Slice(Slice),
    Done(Measured),
}

/// From any child before it exits with an error.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Failed {
    pub(crate) failed: String,
}

/// Writes one line to the parent. A parent that is gone is noticed on the input.
pub(crate) fn say(message: &impl Serialize) {
    if let Ok(line) = serde_json::to_string(message) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

/// Calls `each` for every line from the parent and returns when there are no more.
pub(crate) fn hear<T: DeserializeOwned>(mut each: impl FnMut(T)) {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if let Ok(message) = serde_json::from_str(&line) {
            each(message);
        }
    }
}

/// Milliseconds of UTC, the clock that the processes share.
pub(crate) fn now_ms() -> u64 {
    now_us() / 1_000
}

/// Microseconds of UTC.
pub(crate) fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as u64)
}
