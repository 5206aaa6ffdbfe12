//! A recorder that keeps what it is told.

use limiter_std::telemetry::metrics::Kind;
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString,
    Unit,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A series: the metric's name, and its labels in order.
pub(crate) type Series = (String, Vec<(String, String)>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) described: Arc<Mutex<BTreeMap<String, Kind>>>,
    pub(crate) values: Arc<Mutex<BTreeMap<Series, f64>>>,
}

struct One(Kept, Series);

impl One {
    fn change(&self, change: impl FnOnce(&mut f64)) {
        change(
            self.0
                .values
                .lock()
                .unwrap()
                .entry(self.1.clone())
                .or_default(),
        );
    }
}

impl CounterFn for One {
    fn increment(&self, value: u64) {
        self.change(|kept| *kept += value as f64);
    }

    fn absolute(&self, value: u64) {
        // As the atomics of recorders do: never down.
        self.change(|kept| *kept = kept.max(value as f64));
    }
}

impl GaugeFn for One {
    fn increment(&self, value: f64) {
        self.change(|kept| *kept += value);
    }

    fn decrement(&self, value: f64) {
        self.change(|kept| *kept -= value);
    }

    fn set(&self, value: f64) {
        self.change(|kept| *kept = value);
    }
}

impl Kept {
    fn one(&self, key: &Key) -> Arc<One> {
        let labels = key.labels();
        let labels = labels.map(|label| (label.key().to_owned(), label.value().to_owned()));
        let series = (key.name().to_owned(), labels.collect());
        Arc::new(One(self.clone(), series))
    }

    fn describe(&self, key: &KeyName, kind: Kind) {
        let mut described = self.described.lock().unwrap();
        described.insert(key.as_str().to_owned(), kind);
    }

    /// The value of a series whose labels are `limiter` and perhaps one more.
    pub(crate) fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let labels = labels
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let series = (name.to_owned(), labels.collect());
        self.values.lock().unwrap().get(&series).copied()
    }
}

impl Recorder for Kept {
    fn describe_counter(&self, key: KeyName, _: Option<Unit>, _: SharedString) {
        self.describe(&key, Kind::Counter);
    }

    fn describe_gauge(&self, key: KeyName, _: Option<Unit>, _: SharedString) {
        self.describe(&key, Kind::Gauge);
    }

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.one(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.one(key))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}
