//! The last minutes, a point for each second, and the last edges.

use crate::Watched;
use crate::telemetry::{DependencySeen, Event, LimiterCounts, Observer, Seen};
use core::time::Duration;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// What an operator who comes late wants to see: how it began.
const POINTS: usize = 300;
const EVENTS: usize = 100;
/// The time of a point.
const STEP: Duration = Duration::from_secs(1);

/// What the page shows beside the present.
#[derive(Clone)]
pub(super) struct History(Arc<Mutex<Kept>>);

struct Kept {
    /// When it began: tells a process from the next one.
    since: u64,
    sources: HashMap<String, Source>,
    /// The highest number of a point of those that are gone.
    gone: u64,
    events: VecDeque<Value>,
    looked: Option<Instant>,
}

struct Source {
    /// Of the point that is being made.
    began: Instant,
    looks: u32,
    inflight: u64,
    waiting: u64,
    /// Counts at the end of the last point.
    counts: Counts,
    points: VecDeque<Point>,
    number: u64,
}

/// What a point's rates are made of.
#[derive(Clone, Copy, Default)]
struct Counts {
    admitted: usize,
    refused: usize,
    would_refuse: usize,
    extra: usize,
}

struct Point {
    /// Points of a source are numbered, so that a page can ask for those that it does not have.
    number: u64,
    values: Value,
}

impl History {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Kept {
            since: millis(SystemTime::now()),
            sources: HashMap::new(),
            gone: 0,
            events: VecDeque::new(),
            looked: None,
        })))
    }

    pub(super) fn since(&self) -> u64 {
        self.kept().since
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody has looked for longer than a monitor's thread takes.
    pub(super) fn is_stale(&self) -> bool {
        let looked = self.kept().looked;
        looked.is_none_or(|looked| looked.elapsed() > Duration::from_millis(500))
    }

    /// The points of a source after a number, oldest first.
    pub(super) fn points(&self, source: &str, after: u64) -> Vec<Value> {
        let kept = self.kept();
        let points = kept.sources.get(source).map(|source| source.points.iter());
        points
            .into_iter()
            .flatten()
            .filter(|point| point.number > after)
            .map(|point| point.values.clone())
            .collect()
    }

    /// The last edges, newest first.
    pub(super) fn events(&self) -> Vec<Value> {
        self.kept().events.iter().rev().cloned().collect()
    }
}

impl Observer for History {
    fn edge(&mut self, event: &Event<'_>) {
        let mut kept = self.kept();
        if kept.events.len() == EVENTS {
            kept.events.pop_front();
        }
        kept.events.push_back(json!({
            "at": millis(event.at),
            "source": event.source,
            "edge": event.edge.name(),
            "text": event.edge.to_string(),
            "bad": event.is_bad(),
        }));
    }

    fn seen(&mut self, name: &str, seen: &Seen) {
        self.see(name, seen, Instant::now());
    }

    fn gone(&mut self, name: &str) {
        let mut kept = self.kept();
        if let Some(source) = kept.sources.remove(name) {
            kept.gone = kept.gone.max(source.number);
        }
    }
}

impl History {
    fn see(&self, name: &str, seen: &Seen, now: Instant) {
        let mut kept = self.kept();
        kept.looked = Some(now);
        match kept.sources.get_mut(name) {
            Some(source) => source.add(seen, now),
            None => {
                let source = Source::new(seen, now, kept.gone);
                kept.sources.insert(name.to_owned(), source);
            }
        }
    }
}

impl Source {
    /// Whose points have higher numbers than `number`: a page has those of whatever had its name.
    fn new(seen: &Seen, now: Instant, number: u64) -> Self {
        Self {
            began: now,
            looks: 0,
            inflight: 0,
            waiting: 0,
            counts: Counts::of(seen),
            points: VecDeque::new(),
            number,
        }
    }

    fn add(&mut self, seen: &Seen, now: Instant) {
        self.looks += 1;
        if let Some(limiter) = &seen.limiter {
            self.inflight += u64::from(limiter.snapshot.inflight);
            self.waiting += limiter.waiting as u64;
        }
        let lasted = now.duration_since(self.began);
        if lasted < STEP {
            return;
        }
        let counts = Counts::of(seen);
        let rate =
            |now: usize, before: usize| now.wrapping_sub(before) as f64 / lasted.as_secs_f64();
        let mean = |sum: u64| sum as f64 / f64::from(self.looks);
        self.number += 1;
        let limiter = seen.limiter.as_ref();
        // The names of the values are in the page's script.
        let values = json!([
            self.number,
            millis(SystemTime::now()),
            limiter.map(|limiter| limiter.snapshot.limit),
            limiter.map(|_| round(mean(self.inflight))),
            limiter.map(|_| round(mean(self.waiting))),
            round(rate(counts.admitted, self.counts.admitted)),
            round(rate(counts.refused, self.counts.refused)),
            round(rate(counts.extra, self.counts.extra)),
            limiter.and_then(|limiter| known(limiter.rtt)),
            seen.budget
                .map(|budget| f64::from(budget.balance.get()) / 1e3),
            round(rate(counts.would_refuse, self.counts.would_refuse)),
        ]);
        if self.points.len() == POINTS {
            self.points.pop_front();
        }
        let number = self.number;
        self.points.push_back(Point { number, values });
        (self.began, self.looks, self.counts) = (now, 0, counts);
        (self.inflight, self.waiting) = (0, 0);
    }
}

impl Counts {
    fn of(seen: &Seen) -> Self {
        match (&seen.requests, &seen.dependency) {
            (
                Some(LimiterCounts {
                    admitted, refused, ..
                }),
                _,
            ) => Self {
                admitted: *admitted,
                refused: refused.total(),
                would_refuse: seen.watched.as_ref().map_or(0, Watched::all),
                extra: 0,
            },
            (None, Some(DependencySeen { counts, .. })) => Self {
                admitted: counts.attempts,
                refused: counts
                    .refused_by_limiter
                    .wrapping_add(counts.refused_by_breaker)
                    .wrapping_add(counts.refused_by_throttle)
                    .wrapping_add(counts.refused_by_budget),
                would_refuse: 0,
                extra: counts.retries.wrapping_add(counts.hedges),
            },
            (None, None) => Self::default(),
        }
    }
}

/// A time in milliseconds, to a thousandth of a microsecond; none while nothing was measured.
pub(super) fn known(time: Duration) -> Option<f64> {
    (!time.is_zero()).then(|| time.as_nanos() as f64 / 1e6)
}

/// To a hundredth: what a plot can show.
pub(super) fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

pub(super) fn millis(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(count: usize) -> Seen {
        let requests = LimiterCounts {
            admitted: count,
            ..LimiterCounts::default()
        };
        Seen {
            requests: Some(requests),
            ..Seen::default()
        }
    }

    /// The page has the points of the one before, and asks for what comes after them.
    #[test]
    fn one_that_takes_a_name_has_rates_and_points_of_its_own_that_come_after_the_others() {
        let (mut history, start) = (History::new(), Instant::now());
        let see = |history: &History, count, secs| {
            history.see("api", &admitted(count), start + Duration::from_secs(secs));
        };
        see(&history, 1_000, 0);
        see(&history, 1_100, 1);
        see(&history, 1_200, 2);
        let before = history.points("api", 0).len() as u64;
        assert_eq!(before, 2);
        history.gone("api");
        assert!(history.points("api", 0).is_empty());
        see(&history, 10, 3);
        see(&history, 15, 4);
        let [point] = &history.points("api", before)[..] else {
            panic!("one point");
        };
        assert_eq!(point[5], 5.0, "{point}");
    }
}
