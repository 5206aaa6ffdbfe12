//! The callers: requests at times that do not depend on answers.

use crate::plain;
use crate::protected;
use crate::seconds::Seconds;
use crate::server::Server;
use crate::settings::{CALLERS, Mode, Plan, rate};
use anyhow::Result;
use axum::http::{Request, StatusCode, Uri};
use http_body_util::Empty;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use limiter_std::Dependency;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// A connection to the server, of one caller.
#[derive(Clone)]
pub(crate) struct Link {
    client: Client<HttpConnector, Empty<&'static [u8]>>,
    uri: Uri,
}

impl Link {
    /// Sends one attempt. Dropping the future tells the server, which does not care.
    pub(crate) async fn send(&self) -> io::Result<StatusCode> {
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = self.uri.clone();
        let response = self.client.request(request).await;
        response.map(|head| head.status()).map_err(io::Error::other)
    }
}

/// Runs all callers through the plan.
pub(crate) fn run(mode: Mode, plan: &Plan, server: &Server, seed: u64) -> Result<Seconds> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let uri: Uri = format!("http://{}/", server.address).parse()?;
    let mut random = fastrand::Rng::with_seed(seed);
    let seconds = Arc::new(Seconds::new(plan.all()));
    runtime.block_on(async {
        let mut callers = tokio::task::JoinSet::new();
        for _ in 0..CALLERS {
            let client = Client::builder(TokioExecutor::new())
                .http2_only(true)
                .build_http();
            let link = Link {
                client,
                uri: uri.clone(),
            };
            let dependency = (mode == Mode::Dependency)
                .then(|| protected::dependency(random.u32(..)))
                .transpose()?;
            let seconds = Arc::clone(&seconds);
            callers.spawn(caller(link, dependency, seconds, random.fork()));
        }
        let begins = Instant::from_std(seconds.began());
        let at = |second: usize| sleep_until(begins + Duration::from_secs(second as u64));
        for second in 0..plan.all() {
            at(second).await;
            server.slow((plan.fault_begins()..plan.fault_ends()).contains(&second));
            if second > 0 {
                crate::report::progress(mode, plan, &seconds, second - 1);
            }
        }
        at(plan.all()).await;
        // Whoever still waits gives up now.
        callers.shutdown().await;
        anyhow::Ok(())
    })?;
    drop(runtime);
    Arc::into_inner(seconds).ok_or_else(|| anyhow::anyhow!("a caller does not end"))
}

/// One caller: a request in each period, at a random time of it.
async fn caller(
    link: Link,
    dependency: Option<Dependency>,
    seconds: Arc<Seconds>,
    mut random: fastrand::Rng,
) {
    let period = Duration::from_secs_f64(f64::from(CALLERS) / rate());
    let mut begins = Instant::from_std(seconds.began());
    let mut requests = tokio::task::JoinSet::new();
    loop {
        sleep_until(begins + period.mul_f64(random.f64())).await;
        begins += period;
        let (link, dependency) = (link.clone(), dependency.clone());
        let (seconds, random) = (Arc::clone(&seconds), random.fork());
        requests.spawn(async move {
            let request = seconds.request();
            let good = match dependency {
                Some(dependency) => protected::request(&dependency, &link, request).await,
                None => plain::request(&link, request, random).await,
            };
            if good {
                request.good();
            }
        });
        while requests.try_join_next().is_some() {}
    }
}
