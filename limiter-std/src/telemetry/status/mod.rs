//! A page for people, and its numbers.

mod history;

use super::source::refused;
use super::{Monitor, Seen};
use crate::duration;
use ::axum::Router;
use ::axum::extract::RawQuery;
use ::axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName};
use ::axum::http::header::{REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use ::axum::routing::get;
use history::{History, known, millis, round};
use limiter_core::BreakerState;
use serde_json::{Map, Value, json};
use std::time::SystemTime;

/// Everything that the page needs, in one file: a server that is overloaded answers one request.
const PAGE: &str = concat!(
    include_str!("head.html"),
    "<style>\n",
    include_str!("page.css"),
    "</style>\n",
    include_str!("body.html"),
    "<script>\n\"use strict\";\n",
    include_str!("format.js"),
    include_str!("plot.js"),
    include_str!("page.js"),
    "</script>\n</body>\n</html>\n"
);

/// The page runs its own script and talks to its own server only. Names never become part of it: its script sets them
/// as text.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; \
     img-src data:;      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Answer = ([(HeaderName, &'static str); 5], String);

/// Routes with a page that shows what `monitor` sees, live, and its numbers as JSON under `data`.
///
/// The page is one file without anything from elsewhere; it reads and changes nothing. What it shows are the names that
/// sources were registered by, gauges and counts of the process, and the last edges: no requests, callers or settings
/// beyond the bounds of limits. Still, put it where your metrics are, not in front of your users. The last five
/// minutes are kept in the server, from the moment on at which this is called.
///
/// ```
/// use axum::Router;
/// use limiter_std::{Limiter, telemetry::{Monitor, status}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limiter = Limiter::default();
/// let monitor = Monitor::new();
/// monitor.limiter("api", &limiter);
/// let app: Router = Router::new().nest_service("/status", status(&monitor));
/// monitor.start()?.detach();
/// # let _ = app;
/// # Ok(()) }
/// ```
///
/// A router that nests it by `nest` has no page at `/status/`, with a slash at the end.
///
/// It answers also while the limiter refuses everybody, as long as it is not behind the limiter's layer.
pub fn status<S: Clone + Send + Sync + 'static>(monitor: &Monitor) -> Router<S> {
    let history = History::new();
    monitor.observe(history.clone());
    let monitor = monitor.clone();
    let data = move |RawQuery(query): RawQuery| {
        let (monitor, history) = (monitor.clone(), history.clone());
        async move {
            if history.is_stale() {
                monitor.look();
            }
            answer(
                "application/json",
                data(&monitor, &history, &Known::of(query)),
            )
        }
    };
    Router::new()
        .route(
            "/",
            get(async || answer("text/html; charset=utf-8", PAGE.to_owned())),
        )
        .route("/data", get(data))
}

fn answer(kind: &'static str, text: String) -> Answer {
    let headers = [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    (headers, text)
}

/// What a page has already: the number of the last point of each source, in the order of the sources.
struct Known(Vec<u64>);

impl Known {
    /// From `after=3,0,17`.
    fn of(query: Option<String>) -> Self {
        let query = query.unwrap_or_default();
        let after = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("after="));
        let numbers = after.unwrap_or_default().split(',');
        Self(numbers.map(|number| number.parse().unwrap_or(0)).collect())
    }
}

fn data(monitor: &Monitor, history: &History, known: &Known) -> String {
    let seen = monitor.seen();
    let sources = seen.iter().enumerate().map(|(index, (name, seen))| {
        let after = known.0.get(index).copied().unwrap_or(0);
        let mut source = source(seen);
        source.insert("name".to_owned(), json!(name));
        source.insert("points".to_owned(), history.points(name, after).into());
        Value::Object(source)
    });
    let data = json!({
        "at": millis(SystemTime::now()),
        "since": history.since(),
        "sources": sources.collect::<Vec<_>>(),
        "events": history.events(),
    });
    data.to_string()
}

fn source(seen: &Seen) -> Map<String, Value> {
    let mut source = Map::new();
    let mut add = |key: &str, value: Value| {
        source.insert(key.to_owned(), value);
    };
    if let Some(limiter) = &seen.limiter {
        let snapshot = &limiter.snapshot;
        add(
            "limiter",
            json!({
                "limit": snapshot.limit,
                "inflight": snapshot.inflight,
                "idle": limiter.snapshot.idle,
                "utilisation": limiter.utilisation,
                "min": snapshot.min,
                "max": snapshot.max,
                "reason": format!("{:?}", snapshot.reason),
                "closed": snapshot.closed,
                "cuts": limiter.cuts,
                "waiting": limiter.waiting,
                "oldest_ms": round(limiter.oldest.as_secs_f64() * 1e3),
                "rtt_ms": known(limiter.rtt),
            }),
        );
    }
    if let Some(counts) = &seen.requests {
        add(
            "requests",
            json!({
                "admitted": counts.admitted,
                "success": counts.succeeded,
                "overload": counts.overloaded,
                "failure": counts.failed,
                "ignored": counts.ignored,
                "cancelled": counts.cancelled,
            }),
        );
        add("refused", by_name(&counts.refused.by_reason()));
    }
    if let Some(watched) = &seen.watched {
        add("would_refuse", by_name(&watched.by_reason()));
    }
    if let Some(dependency) = &seen.dependency {
        let counts = &dependency.counts;
        add(
            "calls",
            json!({
                "calls": counts.calls,
                "succeeded": counts.succeeded,
                "gave_up": counts.gave_up,
                "dropped": counts.dropped,
                "attempts": counts.attempts,
                "retries": counts.retries,
                "hedges": counts.hedges,
                "timeouts": counts.timeouts,
                "refused_there": counts.refused_by_dependency,
                "backing_off": dependency.backing_off,
            }),
        );
        add("throttled", json!(dependency.throttled));
        add(
            "timeout_ms",
            json!(round(dependency.timeout.as_secs_f64() * 1e3)),
        );
        let mut all = refused(counts).to_vec();
        all.push(("budget", counts.refused_by_budget));
        add("refused", by_name(&all));
    }
    if let Some(breaker) = seen.breaker {
        let (state, left) = match breaker {
            BreakerState::Closed => ("closed", None),
            BreakerState::Open { left } => ("open", Some(duration(left).as_millis() as u64)),
            BreakerState::HalfOpen => ("half_open", None),
        };
        add("breaker", json!({ "state": state, "left_ms": left }));
    }
    if let Some(budget) = &seen.budget {
        let tokens = |milli: u32| f64::from(milli) / 1e3;
        let (balance, capacity) = (tokens(budget.balance.get()), tokens(budget.capacity.get()));
        add(
            "budget",
            json!({ "balance": balance, "capacity": capacity }),
        );
    }
    let partitions = seen.partitions.iter().map(|partition| {
        let seen = &partition.seen;
        json!({
            "name": &*partition.name,
            "quota": seen.quota,
            "inflight": seen.inflight.saturating_add(seen.pooled),
            "waiting": partition.queued,
            "succeeded": seen.successes,
            "failed": seen.overloads.wrapping_add(seen.failures),
        })
    });
    add("partitions", partitions.collect());
    add("watches_only", json!(seen.watches_only));
    let overload = seen.overload;
    add(
        "overload",
        json!({
            "queue_building": overload.queue_building,
            "saturated": overload.saturated,
            "shedding": overload.shedding,
            "would_shed": overload.would_shed,
            "dependency_refuses": overload.dependency_refuses,
            "budget_empty": overload.budget_empty,
        }),
    );
    source
}

fn by_name(counts: &[(&'static str, usize)]) -> Value {
    let each = counts
        .iter()
        .map(|(name, count)| ((*name).to_owned(), json!(count)));
    Value::Object(each.collect())
}
