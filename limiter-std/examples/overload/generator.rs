//! The load generator: arrivals as a Poisson process that does not wait for answers.

use crate::caller::Callers;
use crate::measure::Counts;
use crate::wire::{self, FromGenerator, Step};
use anyhow::Result;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How often progress is told.
const SLICE_EVERY: Duration = Duration::from_millis(500);
/// Attempts at the same time, if the system allows as many open files.
const SOCKETS: u64 = 12_000;

/// Command line of the generator's process.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[arg(long)]
    pub(crate) core: Option<usize>,
}

/// Offers the loads that the parent asks for, one after the other.
pub(crate) fn generate(options: Options) -> Result<()> {
    crate::children::pin(options.core);
    let files = rlimit::increase_nofile_limit(u64::MAX).unwrap_or(256);
    let sockets = files.saturating_sub(64).clamp(64, SOCKETS) as usize;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    // Standard input is read beside the load, so that the process ends with its parent.
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        wire::hear(|step: Step| {
            let _ = tell.send(step);
        });
        std::process::exit(0);
    });
    runtime.block_on(async {
        while let Some(step) = told.recv().await {
            offer(step, sockets).await;
        }
    });
    Ok(())
}

async fn offer(step: Step, sockets: usize) {
    let warm_up = Duration::from_millis(step.warm_up_ms);
    let measure = Duration::from_millis(step.measure_ms);
    let began = Instant::now();
    let counts = Counts::new(began, warm_up, measure);
    let callers = Arc::new(Callers::new(step.port, sockets, counts));

    let mut running = JoinSet::new();
    let told = callers.clone();
    running.spawn(async move { tell_slices(&told).await });
    let warm = callers.clone();
    running.spawn(async move {
        tokio::time::sleep(warm_up).await;
        warm.count(Counts::warm);
    });

    let mut random = fastrand::Rng::with_seed(step.seed);
    let end = began + warm_up + measure;
    let mut due = began;
    loop {
        // Exponential gaps by inversion; `1 - f64()` is never zero.
        due += Duration::from_secs_f64(-(1.0 - random.f64()).ln() / step.rate);
        if due >= end {
            break;
        }
        tokio::time::sleep_until(due.into()).await;
        callers.count(|counts| counts.arrived(due, Instant::now()));
        let (caller, jitter) = (callers.clone(), random.fork());
        running.spawn(async move { caller.request(due, jitter).await });
        while running.try_join_next().is_some() {}
    }
    tokio::time::sleep_until(end.into()).await;
    let measured = callers.count(Counts::done);
    // Whoever still waits gives up now, as the callers of a server that goes away do.
    running.shutdown().await;
    wire::say(&FromGenerator::Done(measured));
}

async fn tell_slices(callers: &Callers) {
    let mut ticks = tokio::time::interval(SLICE_EVERY);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        wire::say(&FromGenerator::Slice(callers.count(Counts::slice)));
    }
}
