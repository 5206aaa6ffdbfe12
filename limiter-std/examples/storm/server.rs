//! A server that does so much at once, keeps a queue, and does not notice when callers give up: most do
//! not, once a request is handed to a thread or a database.

use crate::settings::{QUEUE, SLOWER, WORK, WORKERS};
use anyhow::{Context, Result};
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::Instant;

type Job = oneshot::Sender<()>;

/// A running server, in a thread of its own.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    slow: Arc<AtomicBool>,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Server {
    pub(crate) fn start(seed: u64) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let listening = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = runtime.block_on(listening).context("cannot listen")?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let slow = Arc::new(AtomicBool::new(false));
        let slowness = Arc::clone(&slow);
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                let (jobs, queue) = mpsc::channel::<Job>(QUEUE);
                let queue = Arc::new(Mutex::new(queue));
                let mut random = fastrand::Rng::with_seed(seed);
                for _ in 0..WORKERS {
                    let (queue, slowness) = (Arc::clone(&queue), Arc::clone(&slowness));
                    tokio::spawn(work(queue, slowness, random.fork()));
                }
                let app = Router::new().route("/", get(answer)).with_state(jobs);
                tokio::select! {
                    _ = axum::serve(listener, app) => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self {
            address,
            slow,
            stop,
            thread,
        })
    }

    /// Takes ten times as long for each request, or not any more.
    pub(crate) fn slow(&self, slow: bool) {
        self.slow.store(slow, Ordering::Relaxed);
    }

    pub(crate) fn stop(self) {
        // A server that is gone already has nothing to stop, and a panic of its has been printed.
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

async fn answer(State(jobs): State<mpsc::Sender<Job>>) -> StatusCode {
    let (done, answered) = oneshot::channel();
    if jobs.try_send(done).is_err() {
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    match answered.await {
        Ok(()) => StatusCode::OK,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// One of those who work: one request after the other, each for a time that varies around its mean.
async fn work(
    queue: Arc<Mutex<mpsc::Receiver<Job>>>,
    slow: Arc<AtomicBool>,
    mut random: fastrand::Rng,
) {
    let mut free = Instant::now();
    loop {
        let Some(job) = queue.lock().await.recv().await else {
            return;
        };
        let mut lasts = WORK.mul_f64(0.5 + random.f64());
        if slow.load(Ordering::Relaxed) {
            lasts *= SLOWER;
        }
        // From when it was free, not from when the timer rang: timers that are late would cost capacity.
        let now = Instant::now();
        let begins = if now.duration_since(free) < WORK {
            free
        } else {
            now
        };
        free = begins + lasts;
        tokio::time::sleep_until(free).await;
        let _ = job.send(());
    }
}
