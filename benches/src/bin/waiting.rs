//! Waiting with a deadline: a plain queue against the limiter's, below and above what the server can do.

use benches::program::{self, Failure, write_json};
use benches::waiting::{Mode, Row, run};
use std::process::ExitCode;

const HELP: &str = "\
Sends callers with a deadline of 1 s to a server of 64 slots, through a plain queue and through the limiter's.

usage: waiting [options]
  --json PATH     a flat object for each mode and load
  --seed N        another order of arrivals, 1 if not given
";

const LOADS: [f64; 4] = [0.8, 1.0, 1.5, 3.0];

fn main() -> ExitCode {
    program::end("waiting", measure())
}

fn measure() -> Result<(), Failure> {
    let Some((json, seed)) = program::json_and_seed(HELP)? else {
        return Ok(());
    };
    let mut rows = Vec::<Row>::new();
    println!("mode      load  goodput  p99 ms  refused");
    for mode in [Mode::Fifo, Mode::Limiter] {
        for load in LOADS {
            let row = run(mode, load, seed)?;
            let name = format!("{mode:?}").to_lowercase();
            println!(
                "{name:8} {load:5.1} {:8.3} {:7.0} {:8.3}",
                row.goodput_share, row.p99_ms, row.refused_share
            );
            rows.push(row);
        }
    }
    write_json(json, &rows)
}
