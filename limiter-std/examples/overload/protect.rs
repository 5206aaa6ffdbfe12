//! The three ways to run the server. This file is all that differs between them.

use crate::wire::{self, FromServer, Queue};
use axum::Router;
use axum::error_handling::HandleErrorLayer;
use axum::extract::FromRequestParts;
use axum::http::{StatusCode, request::Parts};
use limiter_std::http::LimiterLayer;
use limiter_std::telemetry::{Edge, Event, Monitor};
use limiter_std::{Hold, Limiter};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tower::ServiceBuilder;
use tower::limit::GlobalConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;

/// The name of a mode in flags, table and plots.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ModeName {
    /// No protection.
    None,
    /// tower's `ConcurrencyLimit` with `LoadShed`, set by hand.
    Fixed,
    /// limiter-std with its default law.
    Limiter,
}

impl ModeName {
    /// Those asked for, in the order of the table; all when none was named.
    pub(crate) fn chosen(named: &[ModeName]) -> Vec<ModeName> {
        let mut all = vec![ModeName::None, ModeName::Fixed, ModeName::Limiter];
        if !named.is_empty() {
            all.retain(|mode| named.contains(mode));
        }
        all
    }

    /// The port of the mode's server, for a first port of the run; 0 stays 0, any free port.
    pub(crate) fn port(self, first: u16) -> u16 {
        first
            .checked_sub(1)
            .map_or(0, |before| before.saturating_add(1 + self as u16))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            ModeName::None => "none",
            ModeName::Fixed => "fixed",
            ModeName::Limiter => "limiter",
        }
    }
}

/// The limit in force and the requests admitted whose work is not done, as of now.
pub(crate) type Watch = Box<dyn Fn() -> (Option<u64>, u64) + Send>;

/// Puts the protection of a mode in front of the routes.
pub(crate) fn protect(
    routes: Router,
    mode: ModeName,
    fixed: usize,
    work: Work,
) -> std::io::Result<(Router, Watch)> {
    Ok(match mode {
        ModeName::None => (routes, Box::new(move || (None, work.running()))),
        ModeName::Fixed => {
            let limit = ServiceBuilder::new()
                .layer(HandleErrorLayer::new(async |_| {
                    StatusCode::SERVICE_UNAVAILABLE
                }))
                .layer(LoadShedLayer::new())
                .layer(GlobalConcurrencyLimitLayer::new(fixed));
            let watch = move || (Some(fixed as u64), work.running());
            (routes.layer(limit), Box::new(watch))
        }
        ModeName::Limiter => {
            let limiter = Limiter::default();
            tell_of_queue(&limiter)?;
            let routes = routes.layer(LimiterLayer::new(limiter.clone()));
            let watch = move || {
                let now = limiter.snapshot();
                (Some(now.limit.into()), now.inflight.into())
            };
            (routes, Box::new(watch))
        }
    })
}

/// Tells the parent when the limiter sees a queue build, and when it has recovered.
fn tell_of_queue(limiter: &Limiter) -> std::io::Result<()> {
    let monitor = Monitor::new();
    monitor
        .limiter("best-shop", limiter)
        .observe(|event: &Event<'_>| {
            let builds = match event.edge {
                Edge::QueueBuilding { .. } => true,
                Edge::Recovered { .. } => false,
                _ => return,
            };
            let at_us = wire::now_us();
            wire::say(&FromServer::Queue(Queue { at_us, builds }));
        });
    monitor.start()?.detach();
    Ok(())
}

/// What the protection handed to the request, to be kept until its query is done: a client that
/// gave up does not end the query, so it must not free the slot either.
#[derive(Debug)]
pub(crate) struct Held {
    _slot: Option<Hold>,
}

impl<S: Sync> FromRequestParts<S> for Held {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Held, Infallible> {
        Ok(Held {
            _slot: parts.extensions.remove(),
        })
    }
}

/// Counts the requests whose work is not done, also when their client is gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work(Arc<AtomicU64>);

/// One request's work; done when dropped.
#[derive(Debug)]
pub(crate) struct Working(Work);

impl Work {
    pub(crate) fn begin(&self) -> Working {
        self.0.fetch_add(1, Ordering::Relaxed);
        Working(self.clone())
    }

    fn running(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
