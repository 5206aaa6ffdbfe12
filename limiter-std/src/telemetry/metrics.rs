//! Publishing to the `metrics` facade.

mod names;
mod series;

pub use names::{ALL, Kind, Metric};

use super::{Event, Observer, Seen};
use ::metrics::{Label, SharedString, counter, gauge};
use core::time::Duration;
use series::{Labels, counts, gauges};
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// How often gauges and counters are written: scrapers come every 15 s or so.
const PUBLISH_EVERY: Duration = Duration::from_secs(1);

/// An [`Observer`] that publishes what a monitor sees to the recorder of the [`metrics`] facade, once a
/// second for each source, and edges as they come.
///
/// No request ever reaches the recorder. Counters begin with what the library has counted, and go on by what it
/// counts, also when another limiter takes a name and when a count of 32 bits wraps. Of a source that is gone, gauges
/// are 0.
///
/// ```
/// use limiter_std::{Limiter, telemetry::{Metrics, Monitor}};
///
/// let limiter = Limiter::default();
/// let monitor = Monitor::new();
/// monitor.limiter("api", &limiter).observe(Metrics::new());
/// // With a recorder installed, from here on: `monitor.start()`.
/// monitor.look();
/// ```
#[doc = include_str!("metrics/table.md")]
#[derive(Debug)]
pub struct Metrics {
    published: HashMap<SharedString, Published>,
    /// Names of which the last look told that what had them is gone: others may have them now.
    free: HashSet<SharedString>,
    looks: bool,
}

/// What was published of a source, and when.
#[derive(Debug)]
struct Published {
    at: Instant,
    seen: Seen,
}

impl Metrics {
    /// Describes the metrics to the recorder that is installed by now.
    pub fn new() -> Self {
        for metric in ALL {
            metric.describe();
        }
        Self {
            published: HashMap::new(),
            free: HashSet::new(),
            looks: false,
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Observer for Metrics {
    fn edge(&mut self, event: &Event<'_>) {
        let source = event.source.to_owned();
        counter!(names::EDGES, "limiter" => source, "edge" => event.edge.name()).increment(1);
    }

    fn seen(&mut self, source: &str, seen: &Seen) {
        self.looks = true;
        let now = Instant::now();
        let source = SharedString::from(source.to_owned());
        let before = self.published.get_mut(&source);
        if before
            .as_ref()
            .is_some_and(|before| now.duration_since(before.at) < PUBLISH_EVERY)
        {
            return;
        }
        for (metric, of, value) in gauges(seen) {
            gauge!(metric, labels(&source, &of)).set(value);
        }
        match before {
            Some(before) => {
                let new = counts(seen).into_iter().zip(counts(&before.seen));
                for ((metric, of, count), (_, _, before)) in new {
                    counter!(metric, labels(&source, &of)).increment(count.since(before));
                }
                (before.at, before.seen) = (now, seen.clone());
            }
            None => {
                let goes_on = self.free.remove(&source);
                for (metric, of, count) in counts(seen) {
                    let counter = counter!(metric, labels(&source, &of));
                    if goes_on {
                        counter.increment(count.get());
                    } else {
                        counter.absolute(count.get());
                    }
                }
                let (at, seen) = (now, seen.clone());
                self.published.insert(source, Published { at, seen });
            }
        }
    }

    fn gone(&mut self, source: &str) {
        let source = SharedString::from(source.to_owned());
        // Nobody is overloaded there any more: what stays in the recorder is not to say so for ever.
        let last = self.published.remove(&source);
        for (metric, of, _) in last.iter().flat_map(|last| gauges(&last.seen)) {
            gauge!(metric, labels(&source, &of)).set(0.0);
        }
        // The first that is told of another look.
        if core::mem::take(&mut self.looks) {
            self.free.clear();
        }
        self.free.insert(source);
    }
}

fn labels(source: &SharedString, of: &Labels) -> Vec<Label> {
    let own = Label::new("limiter", source.clone());
    let other = of
        .iter()
        .map(|(key, value)| Label::new(*key, value.clone()));
    [own].into_iter().chain(other).collect()
}
