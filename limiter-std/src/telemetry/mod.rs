//! Looking at limiters while they run: counts, gauges, and edges.
//!
//! A [`Monitor`] looks at what it was given ten times a second, and tells [`Observer`]s. Requests pay for counting
//! what they do and for nothing else: no observer, exporter or log is ever called by one.
//!
//! # Edges
//!
//! Something begins, or is over; never one for each request. What has begun is over when it has not held for a second;
//! what comes back soon has to stay away for longer the next time, so that nothing flaps.
//!
//! | edge | says | when |
//! | --- | --- | --- |
//! | [`QueueBuilding`](Edge::QueueBuilding) | soon somebody will be refused, or wait for long | somebody waits, or less than an eighth of the limit is left |
//! | [`Saturated`](Edge::Saturated) | more of the service is needed | 85 % of the limit in use, as a mean over a second |
//! | [`Shedding`](Edge::Shedding) | callers are refused now | the first refusal |
//! | [`WouldShed`](Edge::WouldShed) | one that only watches would refuse now | the first that it would have refused |
//! | [`Recovered`](Edge::Recovered) | how many were refused, and would have been, in which time | none of these holds any more |
//! | [`Watching`](Edge::Watching), [`Enforcing`](Edge::Enforcing) | whether anybody is refused at all | it is switched, or only watches at the first look |
//! | [`LimitMoved`](Edge::LimitMoved) | what can be done at once has changed | by a quarter or more, as a mean over seconds; once in 5 s at most |
//! | [`DependencyRefuses`](Edge::DependencyRefuses), [`DependencyAccepts`](Edge::DependencyAccepts) | whether a dependency refuses by a limit of its own | the first attempt that comes back so |
//! | [`BreakerOpened`](Edge::BreakerOpened), [`BreakerHalfOpen`](Edge::BreakerHalfOpen), [`BreakerClosed`](Edge::BreakerClosed) | how a breaker stands | it changes |
//! | [`BudgetEmpty`](Edge::BudgetEmpty), [`BudgetCovers`](Edge::BudgetCovers) | whether failures are retried | the balance is below one retry, or one was not covered |
//! | [`Closed`](Edge::Closed) | | [`Limiter::close`](crate::Limiter::close) |
//!
//! # Features
//!
//! `tracing` logs edges, `metrics` publishes gauges and counters, `status` is a page for people. A dashboard for
//! Grafana, alert rules for Prometheus and an autoscaler for Kubernetes are in the folder `deploy` of the package.

mod alarm;
mod counted;
mod counters;
mod edges;
mod event;
#[cfg(feature = "metrics")]
pub mod metrics;
mod monitor;
mod seen;
mod signal;
mod source;
#[cfg(feature = "status")]
mod status;
#[cfg(feature = "tracing")]
mod tracing;

pub(crate) use alarm::{Alarm, PRESSURE, REFUSAL};
pub(crate) use counters::Counters;
pub use counters::{LimiterCounts, RefusedCounts};
pub use edges::Overload;
pub use event::{Edge, Event, Observer};
#[cfg(feature = "metrics")]
pub use metrics::Metrics;
pub use monitor::{LOOK_EVERY, Monitor, Running};
pub use seen::{BudgetSeen, DependencySeen, LimiterSeen, Seen};
#[cfg(feature = "status")]
pub use status::status;
#[cfg(feature = "tracing")]
pub use tracing::Tracing;
