//! What a limiter that only watches says, for each law, below and above what a server can do.

use benches::program::{self, Failure, write_json};
use benches::watch::{LAWS, LOADS, Mode, Row, measure};
use std::process::ExitCode;

const HELP: &str = "\
Runs each law as it enforces, as it only watches, and switched from one to the other in an overload.

usage: watch [options]
  --json PATH     a flat object for each law, mode and phase
  --seed N        another order of arrivals, 1 if not given
";

fn main() -> ExitCode {
    program::end("watch", run())
}

fn run() -> Result<(), Failure> {
    let Some((json, seed)) = program::json_and_seed(HELP)? else {
        return Ok(());
    };
    println!(
        "A server of 16 slots of 20 ms, callers that give up after 500 ms; half a minute at 0.6 of what it can"
    );
    println!("do, a minute at the peak, a minute at 0.6 again. The last twenty seconds of each:");
    println!("limit, share refused or that would have been, goodput in parts of what it can do.");
    let mut rows = Vec::<Row>::new();
    for law in LAWS {
        for peak in LOADS {
            for mode in [Mode::Enforce, Mode::Watch, Mode::Switch] {
                let phases = measure(law, mode, peak, seed)?;
                let name = format!("{mode:?}").to_lowercase();
                print!("{:9} {name:8}", law.0);
                for row in &phases {
                    print!(
                        "  | {:3.1}: {:4.0} {:6.3} {:6.3}",
                        row.load, row.limit, row.refused_share, row.goodput_share
                    );
                }
                println!();
                rows.extend(phases);
            }
        }
    }
    write_json(json, &rows)
}
