//! One caller: a timeout per attempt, retries after a short jittered back-off.

use crate::measure::{Counts, Ended};
use axum::body::Body;
use axum::http::{StatusCode, Uri};
use http_body_util::BodyExt;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a caller waits for an answer before it drops the connection.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1);
/// Retries after the first attempt.
pub(crate) const RETRIES: u32 = 3;
/// Mean back-off before the first retry; doubles with each further one.
const BACK_OFF: Duration = Duration::from_millis(50);

/// What all callers share.
#[derive(Debug)]
pub(crate) struct Callers {
    client: Client<HttpConnector, Body>,
    port: u16,
    sockets: AtomicUsize,
    pub(crate) counts: Mutex<Counts>,
}

impl Callers {
    /// At most `sockets` attempts at the same time.
    pub(crate) fn new(port: u16, sockets: usize, counts: Counts) -> Callers {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Callers {
            // Connections are kept for reuse, so a refusal costs no handshake.
            client: Client::builder(TokioExecutor::new())
                .pool_max_idle_per_host(sockets)
                .build(connector),
            port,
            sockets: AtomicUsize::new(sockets),
            counts: Mutex::new(counts),
        }
    }

    pub(crate) fn count<T>(&self, change: impl FnOnce(&mut Counts) -> T) -> T {
        let mut counts = self
            .counts
            .lock()
            .unwrap_or_else(|error| error.into_inner());
        change(&mut counts)
    }

    /// One request that was due at `due`: attempts until one succeeds or none is left. A
    /// `Retry-After` is not honoured: these are callers as a service finds them.
    pub(crate) async fn request(&self, due: Instant, mut random: fastrand::Rng) {
        for retry in 0..=RETRIES {
            if retry > 0 {
                let mean = BACK_OFF * 2_u32.pow(retry - 1);
                tokio::time::sleep(mean.mul_f64(0.5 + random.f64())).await;
            }
            let sent = Instant::now();
            self.count(|counts| counts.attempted(sent));
            let ended = self.attempt(random.u32(..)).await;
            self.count(|counts| counts.ended(due, sent, ended));
            if ended == Ended::Good {
                return;
            }
        }
    }

    async fn attempt(&self, from: u32) -> Ended {
        let Some(_socket) = Socket::take(&self.sockets) else {
            return Ended::Unsent;
        };
        let target = format!("http://127.0.0.1:{}/best-shop?from={from}", self.port);
        let Ok(target) = Uri::try_from(target) else {
            return Ended::Failed;
        };
        // Dropping the exchange at the timeout closes its connection.
        let exchange = async {
            let answer = self.client.get(target).await.map_err(|_| Ended::Failed)?;
            let status = answer.status();
            let body = answer.into_body().collect().await;
            Ok::<_, Ended>((status, body.is_ok()))
        };
        let began = Instant::now();
        match tokio::time::timeout(TIMEOUT, exchange).await {
            Err(_) => Ended::TimedOut,
            // The answer was there, but only seen when it was too late.
            Ok(_) if began.elapsed() > TIMEOUT => Ended::TimedOut,
            Ok(Ok((StatusCode::OK, true))) => Ended::Good,
            Ok(Ok((StatusCode::SERVICE_UNAVAILABLE, _))) => Ended::Refused,
            Ok(_) => Ended::Failed,
        }
    }
}

/// One of the generator's sockets; given back when dropped.
struct Socket<'a>(&'a AtomicUsize);

impl Socket<'_> {
    fn take(free: &AtomicUsize) -> Option<Socket<'_>> {
        let one_less = |free: usize| free.checked_sub(1);
        free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
            .ok()
            .map(|_| Socket(free))
    }
}

impl Drop for Socket<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
