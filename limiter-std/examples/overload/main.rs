//! What overload does to a real service, without protection, with a fixed limit set by hand, and
//! with this library's default law and no number set at all.
//!
//! An axum server on loopback answers each request with a real SQLite query through a fixed pool
//! of connections. A load generator in a process of its own sends requests that do not wait for
//! answers, with a timeout and up to three retries. The run first measures the capacity, then
//! offers multiples of it, and at the end prints a table and draws plots.
//!
//! ```text
//! cargo run --release -p limiter-std --example overload
//! ```

mod caller;
mod children;
mod database;
mod generator;
mod measure;
mod plan;
mod plot;
mod progress;
mod protect;
mod report;
mod row;
mod run;
mod server;
mod timeline;
mod verdict;
mod wire;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Offers a real server multiples of its capacity: unprotected, with a fixed limit set by hand,
/// and with limiter-std.
#[derive(Debug, Parser)]
#[command(name = "overload")]
struct Flags {
    /// Only 0.5, 4 and 10 times the capacity, without the slow-down; under a minute
    #[arg(long)]
    quick: bool,
    /// Writes the table as a JSON array of flat objects
    #[arg(long, value_name = "PATH")]
    json: Option<PathBuf>,
    /// Folder for the plots
    #[arg(long, value_name = "FOLDER", default_value = "target/overload")]
    out: PathBuf,
    /// First of three ports on 127.0.0.1, a server for each mode; 0 takes free ones
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=65_533))]
    port: u16,
    /// Seed of the arrivals (Poisson) and of the callers' jitter
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this mode besides the capacity: none, fixed or limiter; repeatable
    #[arg(long, value_name = "MODE")]
    mode: Vec<protect::ModeName>,
    #[command(subcommand)]
    part: Option<Part>,
}

/// The processes of a run; each is this executable again.
#[derive(Debug, Subcommand)]
enum Part {
    #[command(hide = true, name = "serve")]
    Serve(server::Options),
    #[command(hide = true, name = "generate")]
    Generate(generator::Options),
}

fn main() -> ExitCode {
    let flags = match Flags::try_parse() {
        Ok(flags) => flags,
        Err(error) if !error.use_stderr() => {
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            // The first line says what is wrong; the rest is usage, which `--help` prints.
            let text = error.to_string();
            eprintln!("{}", text.lines().next().unwrap_or("error: bad flags"));
            return ExitCode::from(2);
        }
    };
    let done = match flags.part {
        Some(Part::Serve(options)) => return child_exit(server::serve(options)),
        Some(Part::Generate(options)) => return child_exit(generator::generate(options)),
        None => run::run(run::Options {
            quick: flags.quick,
            json: flags.json,
            out: flags.out,
            port: flags.port,
            seed: flags.seed,
            modes: protect::ModeName::chosen(&flags.mode),
        }),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A child tells its parent what went wrong, which says it once for the whole run.
fn child_exit(done: anyhow::Result<()>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            wire::say(&wire::Failed {
                failed: format!("{error:#}"),
            });
            ExitCode::FAILURE
        }
    }
}
