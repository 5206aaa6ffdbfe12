//! The run: capacity first, then every load in every mode, then the slow-down.

use crate::children::{Generator, Server, Site, cores, pin};
use crate::database::{CONNECTIONS, prepare};
use crate::plan::{Plan, SLOW_DOWN_LOAD, SWEEP_LOAD, Times};
use crate::progress::Tell;
use crate::protect::ModeName;
use crate::report::Outputs;
use crate::row::Row;
use crate::timeline::Timeline;
use crate::wire::{Measured, Slice, Step, now_ms};
use anyhow::{Context, Result, bail};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

/// What the flags say.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) quick: bool,
    pub(crate) json: Option<PathBuf>,
    pub(crate) out: PathBuf,
    pub(crate) port: u16,
    pub(crate) seed: u64,
    pub(crate) modes: Vec<ModeName>,
}

/// Runs everything, or stops at an interrupt; the children end with it either way.
pub(crate) fn run(options: Options) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        tokio::select! {
            done = all(&options) => done,
            _ = interrupted() => bail!("interrupted"),
        }
    })
}

/// Ends when the run is asked to stop.
#[cfg(unix)]
async fn interrupted() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        done = tokio::signal::ctrl_c() => done,
        _ = terminate.recv() => Ok(()),
    }
}

/// Ends when the run is asked to stop.
#[cfg(not(unix))]
async fn interrupted() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

async fn all(options: &Options) -> Result<()> {
    // What can be wrong is looked at before minutes are spent.
    for &mode in &options.modes {
        let port = mode.port(options.port);
        TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .with_context(|| format!("cannot listen on 127.0.0.1:{port}"))?;
    }
    let outputs = Outputs::open(&options.out, options.json.as_deref())?;

    let tell = Tell::new();
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let (server_core, generator_core) = cores();
    let database = folder.path().join("sales.sqlite");
    let path = database.clone();
    // A thread of its own, to be pinned like the server whose query it times.
    let timed = tokio::task::spawn_blocking(move || {
        let timing = std::thread::spawn(move || (pin(server_core), prepare(&path)));
        timing.join()
    });
    let Ok((pinned, calibrated)) = timed.await? else {
        bail!("cannot time the query");
    };
    let calibrated = calibrated?;
    let query_ms = calibrated.query.as_secs_f64() * 1e3;
    tell.line(&format!(
        "query: {query_ms:.1} ms alone over {} rows, {CONNECTIONS} connections; {}; seed {}",
        calibrated.rows,
        match (pinned, server_core, generator_core) {
            (true, Some(server), Some(load)) =>
                format!("server pinned to core {server}, generator to core {load}"),
            _ => "server and generator share the cores unpinned".into(),
        },
        options.seed,
    ));
    if !(5.0..=20.0).contains(&query_ms) {
        tell.line("warning: the query should take 5 to 20 ms; this machine is out of the range");
    }
    let mut bench = Bench {
        plan: Plan::new(options.quick),
        seed: options.seed,
        site: Site {
            port: options.port,
            database,
            rows: calibrated.rows,
            query: calibrated.query,
            core: server_core,
        },
        generator: Generator::start(generator_core)?,
        tell,
    };

    let (fixed, capacity) = bench.capacity().await?;
    let (rows, timelines) = bench.modes(&options.modes, fixed, capacity).await?;
    outputs.write(fixed, capacity, &rows, &timelines)
}

struct Bench {
    plan: &'static Plan,
    seed: u64,
    site: Site,
    generator: Generator,
    tell: Tell,
}

impl Bench {
    /// The best fixed limit under overload, and its goodput.
    async fn capacity(&mut self) -> Result<(usize, f64)> {
        let rate = SWEEP_LOAD / self.site.query.as_secs_f64();
        let mut swept: Vec<(usize, f64)> = Vec::new();
        swept.extend(self.plan.limits.iter().map(|limit| (*limit, 0.0)));
        // Round by round, so that a machine whose speed changes treats the limits alike.
        for _ in 0..self.plan.rounds {
            for (limit, goodput) in &mut swept {
                let measured = self.fixed(*limit, rate, self.plan.sweep).await?;
                *goodput += measured.good as f64 / measured.seconds / self.plan.rounds as f64;
            }
        }
        let best = swept.iter().map(|swept| swept.1).fold(0.0, f64::max);
        // Among equals the smallest: it answers soonest.
        let equal = swept.iter().find(|swept| swept.1 >= 0.99 * best);
        let (limit, _) = *equal.context("no fixed limit was measured")?;
        let measured = self.fixed(limit, rate, self.plan.capacity).await?;
        let capacity = measured.good as f64 / measured.seconds;
        if capacity < 1.0 {
            bail!("the server answers less than one request a second");
        }
        self.tell.line(&format!(
            "capacity: {capacity:.1} requests/s, the goodput of a fixed limit of {limit} when \
             {rate:.0} requests/s are offered"
        ));
        Ok((limit, capacity))
    }

    async fn fixed(&mut self, limit: usize, rate: f64, times: Times) -> Result<Measured> {
        let mut server = Server::start(&self.site, ModeName::Fixed, limit).await?;
        let step = self.step(&server, rate, times);
        let what = format!("capacity: fixed limit {limit:>2}");
        let (measured, _) = self.offer(&step, &what).await?;
        server.stop().await?;
        Ok(measured)
    }

    /// Every load in every mode. The modes take turns, so that a machine whose speed changes
    /// treats them alike; each keeps its server, and what this has learned, through the loads.
    async fn modes(
        &mut self,
        modes: &[ModeName],
        fixed: usize,
        capacity: f64,
    ) -> Result<(Vec<Row>, Vec<Timeline>)> {
        let mut rows = Vec::new();
        let mut running = Vec::new();
        for &mode in modes {
            let server = Server::start(&self.site, mode, fixed).await?;
            running.push((server, Timeline::new(mode, false)));
        }
        for &load in self.plan.loads {
            let rate = load * capacity;
            let mut turns = vec![Vec::new(); running.len()];
            for turn in 0..=if load > 1.0 { self.plan.turns } else { 0 } {
                for ((server, timeline), turns) in running.iter_mut().zip(&mut turns) {
                    let mode = timeline.mode;
                    if turn > 0 && mode == ModeName::None {
                        continue;
                    }
                    let step = self.step(server, rate, self.plan.times(mode, load, turn));
                    let what = format!("{:<7} {load:>4} x", mode.name());
                    let from_ms = now_ms();
                    let (measured, slices) = self.offer(&step, &what).await?;
                    let time = (from_ms, now_ms());
                    let name = if turn == 0 {
                        format!("{load} x")
                    } else {
                        String::new()
                    };
                    timeline.add(name, time, server, &slices);
                    if mode == ModeName::None {
                        let turns = vec![measured];
                        rows.push(Row::new(mode, load, rate, capacity, turns, server));
                        // Its backlog would last for minutes, at the cost of those whose turn is next. It gets
                        // the best it can have: a restart.
                        server.stop().await?;
                        *server = Server::start(&self.site, mode, fixed).await?;
                    } else {
                        turns.push(measured);
                    }
                }
            }
            for ((server, timeline), turns) in running.iter_mut().zip(turns) {
                if !turns.is_empty() {
                    let mode = timeline.mode;
                    rows.push(Row::new(mode, load, rate, capacity, turns, server));
                }
            }
        }
        let mut timelines = Vec::new();
        for (mut server, timeline) in running {
            let mode = timeline.mode;
            timelines.push(timeline);
            if mode != ModeName::None && !self.plan.slow_down.is_empty() {
                timelines.push(self.slow_down(mode, &mut server, capacity).await?);
            }
            server.stop().await?;
        }
        rows.sort_by_key(|row: &Row| row.mode);
        Ok((rows, timelines))
    }

    async fn slow_down(
        &mut self,
        mode: ModeName,
        server: &mut Server,
        capacity: f64,
    ) -> Result<Timeline> {
        let phases = self.plan.slow_down;
        let times = Times {
            warm_up: std::time::Duration::ZERO,
            measure: phases.iter().map(|phase| phase.lasts).sum(),
        };
        let step = self.step(server, SLOW_DOWN_LOAD * capacity, times);
        let mut borders = Vec::new();
        let what = format!("{:<7} slow-down", mode.name());
        let (offered, switched) = tokio::join!(self.offer(&step, &what), async {
            for phase in phases {
                server.set(phase.slowness).await?;
                let from_ms = now_ms();
                tokio::time::sleep(phase.lasts).await;
                borders.push((phase.name, (from_ms, now_ms())));
            }
            anyhow::Ok(())
        });
        switched?;
        let (_, slices) = offered?;
        let mut timeline = Timeline::new(mode, true);
        for (name, time) in borders {
            timeline.add(name.into(), time, server, &slices);
        }
        Ok(timeline)
    }

    fn step(&self, server: &Server, rate: f64, times: Times) -> Step {
        Step {
            port: server.port,
            rate,
            seed: self.seed,
            warm_up_ms: times.warm_up.as_millis() as u64,
            measure_ms: times.measure.as_millis() as u64,
        }
    }

    async fn offer(&mut self, step: &Step, what: &str) -> Result<(Measured, Vec<Slice>)> {
        let Bench {
            generator, tell, ..
        } = self;
        let mut slices = Vec::new();
        let measured = generator.offer(step, |slice| {
            tell.slice(what, step.rate, &slice);
            slices.push(slice);
        });
        let measured = measured.await?;
        tell.step(what, step.rate, &measured);
        Ok((measured, slices))
    }
}
