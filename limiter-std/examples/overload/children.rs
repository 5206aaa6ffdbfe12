//! Starting, pinning and stopping the server and the generator.

use crate::protect::ModeName;
use crate::wire::{
    Failed, FromGenerator, FromServer, Gauge, Listening, Measured, Queue, Slice, Slowness, Step,
};
use anyhow::{Context, Result, anyhow, bail};
use serde::{Serialize, de::DeserializeOwned};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// How long a child may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The cores of the server and of the generator: one each, if there are two.
pub(crate) fn cores() -> (Option<usize>, Option<usize>) {
    let ids = core_affinity::get_core_ids().unwrap_or_default();
    match ids[..] {
        [first, .., last] => (Some(first.id), Some(last.id)),
        _ => (None, None),
    }
}

/// Pins this thread, and all that it starts from now on, to a core, where the system can.
pub(crate) fn pin(core: Option<usize>) -> bool {
    core.is_some_and(|id| core_affinity::set_for_current(core_affinity::CoreId { id }))
}

/// This executable again, as another part of the run.
struct Process {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(part: &str, flags: &[(&str, Option<String>)]) -> Result<Process> {
        let program = std::env::current_exe().context("cannot find this executable")?;
        let mut command = Command::new(program);
        command.arg(part);
        for (flag, value) in flags {
            command.args(value.iter().flat_map(|value| [*flag, value]));
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start this executable as `{part}`"))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.context("a child without pipes")?;
        Ok(Process {
            child,
            input,
            output: BufReader::new(output).lines(),
        })
    }

    async fn tell(&mut self, message: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(message)? + "\n";
        Ok(self.input.write_all(line.as_bytes()).await?)
    }

    async fn hear<T: DeserializeOwned>(&mut self) -> Result<T> {
        next(&mut self.output).await
    }
}

async fn next<T: DeserializeOwned>(output: &mut Lines<BufReader<ChildStdout>>) -> Result<T> {
    let line = output.next_line().await?;
    let line = line.context("a child ended without a word")?;
    serde_json::from_str(&line).map_err(|error| match serde_json::from_str(&line) {
        Ok(Failed { failed }) => anyhow!("{failed}"),
        Err(_) => anyhow!("a child said `{line}`: {error}"),
    })
}

/// What every server of a run shares.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) port: u16,
    pub(crate) database: PathBuf,
    pub(crate) rows: u32,
    pub(crate) query: Duration,
    pub(crate) core: Option<usize>,
}

/// A running server.
pub(crate) struct Server {
    pub(crate) port: u16,
    child: Child,
    input: ChildStdin,
    gauges: Arc<Mutex<Vec<Gauge>>>,
    queue: Arc<Mutex<Vec<Queue>>>,
}

impl Server {
    pub(crate) async fn start(site: &Site, mode: ModeName, fixed: usize) -> Result<Server> {
        let mut process = Process::start(
            "serve",
            &[
                ("--mode", Some(mode.name().into())),
                ("--fixed", Some(fixed.to_string())),
                ("--port", Some(mode.port(site.port).to_string())),
                ("--database", Some(site.database.display().to_string())),
                ("--rows", Some(site.rows.to_string())),
                ("--query-us", Some(site.query.as_micros().to_string())),
                ("--core", site.core.map(|core| core.to_string())),
            ],
        )?;
        let listening = tokio::time::timeout(PATIENCE, process.hear::<Listening>());
        let listening = listening.await.context("the server does not start")??;
        let gauges = Arc::new(Mutex::new(Vec::new()));
        let queue = Arc::new(Mutex::new(Vec::new()));
        let (mut output, kept, told) = (process.output, gauges.clone(), queue.clone());
        tokio::spawn(async move {
            while let Ok(said) = next::<FromServer>(&mut output).await {
                match said {
                    FromServer::Gauge(gauge) => lock(&kept).push(gauge),
                    FromServer::Queue(queue) => lock(&told).push(queue),
                }
            }
        });
        Ok(Server {
            port: listening.port,
            child: process.child,
            input: process.input,
            gauges,
            queue,
        })
    }

    pub(crate) async fn set(&mut self, slowness: Slowness) -> Result<()> {
        let line = serde_json::to_string(&slowness)? + "\n";
        Ok(self.input.write_all(line.as_bytes()).await?)
    }

    /// What the server said of itself between two times.
    pub(crate) fn gauges(&self, from_ms: u64, to_ms: u64) -> Vec<Gauge> {
        let within = |gauge: &&Gauge| (from_ms..=to_ms).contains(&gauge.at_ms);
        lock(&self.gauges).iter().filter(within).copied().collect()
    }

    /// How long before `at_us` a queue that still built then began to, in milliseconds; negative when it began
    /// later.
    pub(crate) fn lead_ms(&self, at_us: u64) -> Option<f64> {
        let told = lock(&self.queue);
        let before = told.iter().rfind(|queue| queue.at_us <= at_us);
        let began = before.filter(|queue| queue.builds).or_else(|| {
            told.iter()
                .find(|queue| queue.at_us > at_us && queue.builds)
        })?;
        Some((at_us as f64 - began.at_us as f64) / 1e3)
    }

    pub(crate) async fn stop(&mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }
}

fn lock<T>(kept: &Mutex<Vec<T>>) -> std::sync::MutexGuard<'_, Vec<T>> {
    kept.lock().unwrap_or_else(|error| error.into_inner())
}

/// The running load generator.
pub(crate) struct Generator(Process);

impl Generator {
    pub(crate) fn start(core: Option<usize>) -> Result<Generator> {
        let core = core.map(|core| core.to_string());
        Ok(Generator(Process::start("generate", &[("--core", core)])?))
    }

    /// Offers one load to the end.
    pub(crate) async fn offer(
        &mut self,
        step: &Step,
        mut each: impl FnMut(Slice),
    ) -> Result<Measured> {
        self.0.tell(step).await?;
        let patience = Duration::from_millis(step.warm_up_ms + step.measure_ms) + PATIENCE;
        let ends = tokio::time::Instant::now() + patience;
        loop {
            match tokio::time::timeout_at(ends, self.0.hear()).await {
                Err(_) => bail!("the load generator hangs"),
                Ok(Err(error)) => return Err(error.context("the load generator")),
                Ok(Ok(FromGenerator::Slice(slice))) => each(slice),
                Ok(Ok(FromGenerator::Done(measured))) => return Ok(measured),
            }
        }
    }
}
