//! Edges as events of `tracing`.

use super::{Event, Observer};
use ::tracing::{info, warn};

/// An [`Observer`] that logs edges by [`tracing`](::tracing), with the target `limiter`: a warning for what began and
/// is bad, information for everything else. Never one for each request.
///
/// The fields are `limiter`, the name that the source was registered by, and `edge`, [the name of the
/// edge](super::Edge::name); the message is the edge in words.
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
        if edge.is_bad() {
            warn!(target: "limiter", limiter, edge = edge.name(), "{edge}");
        } else {
            info!(target: "limiter", limiter, edge = edge.name(), "{edge}");
        }
    }
}
