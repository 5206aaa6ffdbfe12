//! Edges as events of `tracing`.

use super::{Edge, Event, Observer};
use ::tracing::{info, warn};

/// An [`Observer`] that logs edges by [`tracing`](::tracing), with the target `limiter`: a warning for what began and
/// is bad, information for everything else. Never one for each request.
///
/// The fields are `limiter`, the name that the source was registered by, `edge`, [the name of the
/// edge](super::Edge::name), and its numbers under the names that [`Edge`] has for them, `lasted` as `lasted_ms`; the
/// message is the edge in words.
///
/// ```
/// use limiter_std::{Limiter, telemetry::{Monitor, Tracing}};
///
/// let limiter = Limiter::default();
/// let monitor = Monitor::new();
/// monitor.limiter("api", &limiter).observe(Tracing);
/// # monitor.look();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Tracing;

impl Observer for Tracing {
    fn edge(&mut self, event: &Event<'_>) {
        let (limiter, edge) = (event.source, event.edge);
        let Numbers {
            waiting,
            inflight,
            idle,
            limit,
            utilisation,
            refused,
            would_refuse,
            lasted_ms,
            from,
            to,
            reason,
        } = Numbers::of(&edge);
        macro_rules! log {
            ($level:ident) => {
                $level!(
                    target: "limiter", limiter, edge = edge.name(), waiting, inflight, idle, limit, utilisation,
                    refused, would_refuse, lasted_ms, from, to, reason = reason.as_deref(), "{edge}"
                )
            };
        }
        if event.is_bad() {
            log!(warn);
        } else {
            log!(info);
        }
    }
}

/// What an edge has of these; what it has not is no field.
#[derive(Debug, Default)]
struct Numbers {
    waiting: Option<usize>,
    inflight: Option<u32>,
    idle: Option<u32>,
    limit: Option<u32>,
    utilisation: Option<u32>,
    refused: Option<usize>,
    would_refuse: Option<usize>,
    lasted_ms: Option<u64>,
    from: Option<u32>,
    to: Option<u32>,
    reason: Option<String>,
}

impl Numbers {
    fn of(edge: &Edge) -> Self {
        let none = Self::default();
        match *edge {
            Edge::QueueBuilding {
                waiting,
                inflight,
                idle,
                limit,
            } => Self {
                waiting: Some(waiting),
                inflight: Some(inflight),
                idle: Some(idle),
                limit: Some(limit),
                ..none
            },
            Edge::Saturated { utilisation, limit } => Self {
                utilisation: Some(utilisation),
                limit: Some(limit),
                ..none
            },
            Edge::Shedding {
                reason,
                inflight,
                idle,
                limit,
            }
            | Edge::WouldShed {
                reason,
                inflight,
                idle,
                limit,
            } => Self {
                inflight: Some(inflight),
                idle: Some(idle),
                limit: Some(limit),
                reason: Some(reason.to_owned()),
                ..none
            },
            Edge::Recovered {
                refused,
                would_refuse,
                lasted,
            } => Self {
                refused: Some(refused),
                would_refuse: Some(would_refuse),
                lasted_ms: Some(u64::try_from(lasted.as_millis()).unwrap_or(u64::MAX)),
                ..none
            },
            Edge::LimitMoved { from, to, reason } => Self {
                from: Some(from),
                to: Some(to),
                reason: Some(format!("{reason:?}")),
                ..none
            },
            Edge::Watching
            | Edge::Enforcing
            | Edge::Closed
            | Edge::DependencyRefuses
            | Edge::DependencyAccepts
            | Edge::BreakerOpened
            | Edge::BreakerHalfOpen
            | Edge::BreakerClosed
            | Edge::BudgetEmpty
            | Edge::BudgetCovers => none,
        }
    }
}
