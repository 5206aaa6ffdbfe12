//! What innocent callers keep when others ask for too much, in virtual time.

use benches::fairness::{Row, SCENARIOS, measure};
use benches::program::{self, Failure, Output, write_json};
use lexopt::prelude::*;
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
Shows what callers that keep to their share keep when others ask for too much.

usage: fairness [options]
  --only NAME     only the scenario NAME; may be repeated
  --json PATH     a flat object for each scenario
  --list          the scenarios
";

fn main() -> ExitCode {
    program::end("fairness", run())
}

fn run() -> Result<(), Failure> {
    let (mut only, mut json): (Vec<String>, Option<PathBuf>) = Default::default();
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("only") => only.push(arguments.value()?.string()?),
            Long("json") => json = Some(arguments.value()?.into()),
            Long("list") => {
                for scenario in SCENARIOS {
                    println!("{:<24} {}", scenario.name, scenario.about);
                }
                return Ok(());
            }
            Long("help") | Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    if let Some(name) = only
        .iter()
        .find(|name| SCENARIOS.iter().all(|one| one.name != **name))
    {
        return Err(format!("no scenario {name}; --list shows all").into());
    }
    let json = Output::json(json.as_ref())?;
    println!("The least an innocent kept, all of them together, the share of them below 0.9; and");
    println!("together and below 0.9 where all are let in alike. Worst of the seeds.");
    println!(
        "{:<24} {:>6} {:>9} {:>7} {:>8} {:>7} {:>7} {:>10} {:>8}",
        "scenario", "least", "together", "below", "others", "in use", "", "alike", "below"
    );
    let chosen = SCENARIOS
        .iter()
        .filter(|one| only.is_empty() || only.iter().any(|name| name == one.name));
    let mut rows: Vec<Row> = Vec::new();
    for scenario in chosen {
        let row = measure(scenario, 1.0);
        println!(
            "{:<24} {:>6.3} {:>9.3} {:>7.4} {:>8.3} {:>7.3} {:>7} {:>10.3} {:>8.4}",
            row.scenario,
            row.share_kept_min,
            row.share_kept,
            row.innocent_below,
            row.others_kept,
            row.utilisation,
            "",
            row.unprotected_share_kept,
            row.unprotected_innocent_below,
        );
        rows.push(row);
    }
    write_json(json, &rows)
}
