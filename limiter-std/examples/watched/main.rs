//! A server under a load that comes in waves, and everything by which one sees how it fares: `/metrics` for
//! Prometheus, a page for people at `/status`, and a line in the log when something begins or is over.
//!
//! ```text
//! cargo run --release -p limiter-std --features metrics,status,tracing --example watched
//! ```
//!
//! Dashboard, alerts and an autoscaler for the same metrics are in `limiter-std/deploy`.

mod load;
mod server;

use anyhow::{Context, Result};
use axum::Router;
use axum::routing::get;
use clap::Parser;
use limiter_std::telemetry::{Metrics, Monitor, Tracing, status};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use server::Site;
use std::net::Ipv4Addr;
use std::time::Duration;

/// A limited server under a load of its own, with metrics and a status page.
#[derive(Debug, Parser)]
#[command(name = "watched")]
struct Flags {
    /// On 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 9464)]
    port: u16,
    /// Ends after so many seconds; else at an interrupt
    #[arg(long)]
    seconds: Option<u64>,
    /// So many further limiters, as a large service has
    #[arg(long, default_value_t = 0)]
    more: usize,
}

#[tokio::main]
async fn main() -> Result<()> {
    let flags = Flags::parse();
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let recorder = PrometheusBuilder::new().install_recorder()?;
    let site = Site::new(flags.more)?;
    let monitor = Monitor::new();
    site.watch(&monitor);
    monitor.observe(Metrics::new()).observe(Tracing);
    let watched = watched(&monitor, recorder);
    let _running = monitor.start()?;

    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, flags.port))
        .await
        .with_context(|| format!("cannot listen on 127.0.0.1:{}", flags.port))?;
    let address = listener.local_addr()?;
    println!("page:    http://{address}/status");
    println!("metrics: http://{address}/metrics");
    let routes = site.routes()?;
    tokio::spawn(load::waves(site, routes.clone()));
    let end = async move {
        match flags.seconds {
            Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
            None => drop(tokio::signal::ctrl_c().await),
        }
    };
    // What is watched is beside the limit, not behind it: it answers on the worst of days.
    tokio::select! {
        served = async { axum::serve(listener, routes.merge(watched)).await } => Ok(served?),
        () = end => Ok(()),
    }
}

/// The page, and what Prometheus reads.
fn watched(monitor: &Monitor, recorder: PrometheusHandle) -> Router {
    Router::new()
        .nest_service("/status", status(monitor))
        .route("/metrics", get(async move || recorder.render()))
}

#[cfg(test)]
mod tests;
