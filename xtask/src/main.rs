//! The project's own commands: `cargo xtask test` and its parts.
//!
//! [`parts`] is the table of what can be run; each part is a file of its own.

mod bites;
mod cli;
mod command;
mod host;
mod loom;
mod models;
mod mutation;
mod no_std;
mod parts;
mod project;
mod toolchain;

use std::process::ExitCode;

use cli::Request;

fn main() -> ExitCode {
    match cli::parse(std::env::args_os()) {
        Ok(Request::Show(text)) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Ok(Request::Test(parts)) => match parts::run(&project::Project::here(), &parts) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("xtask: {error:#}");
                ExitCode::FAILURE
            }
        },
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}
