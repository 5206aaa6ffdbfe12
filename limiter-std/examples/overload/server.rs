//! The server: axum on loopback, one route, one query a request.

use crate::database::Pool;
use crate::protect::{Held, ModeName, Work, protect};
use crate::wire::{self, FromServer, Gauge, Listening, Slowness};
use anyhow::{Context, Result};
use axum::Router;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::serve::ListenerExt;
use serde::Deserialize;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;

/// How often the server reports its limit and its load.
const GAUGE_EVERY: Duration = Duration::from_millis(100);
/// How often it looks at the load for the mean of a report.
const LOOKS: u32 = 10;

/// Command line of the server's process.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[arg(long)]
    pub(crate) mode: ModeName,
    /// The limit of the mode `fixed`.
    #[arg(long, default_value_t = 1)]
    pub(crate) fixed: usize,
    #[arg(long)]
    pub(crate) port: u16,
    #[arg(long)]
    pub(crate) database: PathBuf,
    /// Rows that a query reads.
    #[arg(long)]
    pub(crate) rows: u32,
    /// How long a query takes alone.
    #[arg(long)]
    pub(crate) query_us: u64,
    #[arg(long)]
    pub(crate) core: Option<usize>,
}

struct Service {
    pool: Pool,
    rows: u32,
    query: Duration,
    slowness: AtomicU8,
    work: Work,
}

/// Serves until the parent closes the standard input.
pub(crate) fn serve(options: Options) -> Result<()> {
    crate::children::pin(options.core);
    let _ = rlimit::increase_nofile_limit(u64::MAX);
    let service = Arc::new(Service {
        pool: Pool::open(&options.database)?,
        rows: options.rows,
        query: Duration::from_micros(options.query_us),
        slowness: AtomicU8::new(0),
        work: Work::default(),
    });
    // The runtime as `#[tokio::main]` makes it, with its 512 threads for blocking work.
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let address = (Ipv4Addr::LOCALHOST, options.port);
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on 127.0.0.1:{}", options.port))?;
        wire::say(&Listening {
            port: listener.local_addr()?.port(),
        });
        let routes = Router::new()
            .route("/best-shop", get(best_shop))
            .with_state(service.clone());
        let work = service.work.clone();
        let (app, watch) = protect(routes, options.mode, options.fixed, work)?;
        std::thread::spawn(move || gauge(&watch));
        std::thread::spawn(move || {
            wire::hear(|slowness: Slowness| {
                service.slowness.store(slowness as u8, Ordering::Relaxed);
            });
            std::process::exit(0);
        });
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        Ok(axum::serve(listener, app).await?)
    })
}

#[derive(Deserialize)]
struct From {
    from: u32,
}

async fn best_shop(
    State(service): State<Arc<Service>>,
    Query(From { from }): Query<From>,
    held: Held,
) -> Result<String, StatusCode> {
    let working = service.work.begin();
    let found = tokio::task::spawn_blocking(move || {
        let (rows, pause) = service.cost();
        let found = service.pool.report(from, rows, pause);
        drop((held, working));
        found
    });
    match found.await {
        Ok(Ok(cents)) => Ok(cents.to_string()),
        _ => Err(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

impl Service {
    /// Rows to read and time to wait on top.
    fn cost(&self) -> (u32, Duration) {
        let slowness = self.slowness.load(Ordering::Relaxed);
        if slowness == Slowness::Work as u8 {
            (self.rows * 3, Duration::ZERO)
        } else if slowness == Slowness::Wait as u8 {
            (self.rows, self.query * 2)
        } else {
            (self.rows, Duration::ZERO)
        }
    }
}

fn gauge(watch: &crate::protect::Watch) {
    loop {
        let mut inflight = 0;
        for _ in 0..LOOKS {
            std::thread::sleep(GAUGE_EVERY / LOOKS);
            inflight += watch().1;
        }
        wire::say(&FromServer::Gauge(Gauge {
            at_ms: wire::now_ms(),
            limit: watch().0,
            inflight: inflight as f64 / f64::from(LOOKS),
            cpu_ms: crate::measure::cpu().as_millis() as u64,
        }));
    }
}
