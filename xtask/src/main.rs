//! The project's own commands: `cargo xtask test` and its parts.
//!
//! [`parts`] is the table of what can be run; each part is a file of its own.

mod bites;
mod cli;
mod command;
mod embassy;
mod firmware;
mod fuzz;
mod gates;
mod host;
mod loom;
mod models;
mod mutation;
mod no_std;
mod parts;
mod project;
mod shuttle;
mod size;
mod soak;
mod supply;
mod toolchain;

use std::process::ExitCode;

use cli::Request;
use project::Project;

fn main() -> ExitCode {
    match cli::parse(std::env::args_os()) {
        Ok(Request::Show(text)) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Ok(Request::Test(parts)) => status(parts::run(&Project::here(), &parts)),
        Ok(Request::Size(None)) => status(size::run(&Project::here())),
        Ok(Request::Size(Some(path))) => status(size::write(&Project::here(), &path)),
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn status(outcome: anyhow::Result<()>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
