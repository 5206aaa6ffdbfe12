//! What happened in which second.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Counts of one second.
#[derive(Debug, Default)]
pub(crate) struct Second {
    /// Requests that began in it.
    requests: AtomicU32,
    /// Attempts of those requests, whenever they were made.
    attempts: AtomicU32,
    /// Good answers that came in it.
    good: AtomicU32,
}

/// Counts of a run.
#[derive(Debug)]
pub(crate) struct Seconds {
    began: Instant,
    seconds: Vec<Second>,
}

/// A request, which counts to the second in which it began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    seconds: &'a Seconds,
    began: usize,
}

impl Seconds {
    pub(crate) fn new(all: usize) -> Self {
        Self {
            began: Instant::now(),
            seconds: std::iter::repeat_with(Second::default).take(all).collect(),
        }
    }

    pub(crate) const fn began(&self) -> Instant {
        self.began
    }

    fn now(&self) -> usize {
        self.began.elapsed().as_secs() as usize
    }

    pub(crate) fn request(&self) -> Request<'_> {
        let began = self.now();
        self.count(began, |second| &second.requests);
        Request {
            seconds: self,
            began,
        }
    }

    fn count(&self, second: usize, which: impl Fn(&Second) -> &AtomicU32) {
        // What ends after the run is not counted.
        if let Some(second) = self.seconds.get(second) {
            which(second).fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Good answers in a second.
    pub(crate) fn good(&self, second: usize) -> f64 {
        self.value(second, |second| &second.good)
    }

    /// Attempts for each request that began in a second.
    pub(crate) fn attempts(&self, second: usize) -> f64 {
        let requests = self.value(second, |second| &second.requests);
        self.value(second, |second| &second.attempts) / requests.max(1.0)
    }

    fn value(&self, second: usize, which: impl Fn(&Second) -> &AtomicU32) -> f64 {
        let second = self.seconds.get(second);
        second.map_or(0.0, |second| which(second).load(Ordering::Relaxed).into())
    }
}

impl Request<'_> {
    pub(crate) fn attempt(&self) {
        self.seconds.count(self.began, |second| &second.attempts);
    }

    pub(crate) fn good(&self) {
        self.seconds
            .count(self.seconds.now(), |second| &second.good);
    }
}
