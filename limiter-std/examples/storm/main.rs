//! What callers do to a server that has a bad time: with plain retries and hedges, and with the same
//! settings inside a `Dependency`.
//!
//! An axum server on loopback works on so many requests at once, keeps a queue, and does not notice when a
//! caller gives up. 200 callers, each with a connection and, in its mode, a dependency object of its own,
//! send 0.8 of what it can do, whether answers come or not. Then it takes ten times as long for each
//! request, for 20 s, and is well again. The run prints each second of both modes side by side.
//!
//! ```text
//! cargo run --release -p limiter-std --example storm
//! ```

mod callers;
mod plain;
mod protected;
mod report;
mod seconds;
mod server;
mod settings;

use clap::Parser;
use report::Row;
use settings::{Mode, Plan};
use std::path::PathBuf;
use std::process::ExitCode;

/// A server that slows down by ten, and 200 callers that retry and hedge: plainly, and with limiter-std.
#[derive(Debug, Parser)]
#[command(name = "storm")]
struct Flags {
    /// A fault of 7 s instead of 20 s; under a minute
    #[arg(long)]
    quick: bool,
    /// Writes the results as a JSON array of flat objects
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
    /// Seed of arrivals, service times and jitter
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    match run(&flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: &Flags) -> anyhow::Result<()> {
    let plan = Plan::new(flags.quick);
    // What can be wrong is looked at before minutes are spent.
    let json = flags.json.as_deref();
    let json = json
        .map(|path| report::create(path).map(|file| (path, file)))
        .transpose()?;
    report::intro(&plan);
    let mut rows = Vec::new();
    for mode in [Mode::Plain, Mode::Dependency] {
        let server = server::Server::start(flags.seed)?;
        let seconds = callers::run(mode, &plan, &server, flags.seed)?;
        server.stop();
        rows.push(Row::new(mode, &plan, &seconds));
    }
    report::print(&plan, &rows);
    match json {
        Some((path, file)) => report::write(path, file, &rows),
        None => Ok(()),
    }
}
