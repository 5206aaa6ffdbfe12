//! What an operation costs, beside a raw pair of atomic operations and beside others.

use benches::cost::case::Case;
use benches::cost::catalogue::{CASES, operations};
use benches::cost::heap::{self, Heap};
use benches::cost::report::Row;
use benches::cost::target::Most;
use benches::cost::timing::{self, Plan, Time};
use benches::cost::{counting, report, scaling};
use benches::program::{self, Failure, Output, write_json};
use lexopt::prelude::*;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const HELP: &str = "\
Measures what operations cost, of the library and of others.

usage: cost [options]
  --only OP       only the operation OP; may be repeated
  --ours          only the library
  --quick         fewer rounds: seconds, for a first look
  --no-count      no instructions, allocations and bytes
  --json PATH     a flat object for each operation, implementation and number of threads
  --list          names of operations and implementations
";

#[derive(Debug, Default)]
struct Options {
    only: Vec<String>,
    ours: bool,
    quick: bool,
    no_count: bool,
    json: Option<PathBuf>,
    list: bool,
    help: bool,
    operate: Option<(String, String)>,
}

fn options() -> Result<Options, lexopt::Error> {
    let mut options = Options::default();
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("only") => options.only.push(arguments.value()?.string()?),
            Long("ours") => options.ours = true,
            Long("quick") => options.quick = true,
            Long("no-count") => options.no_count = true,
            Long("json") => options.json = Some(arguments.value()?.into()),
            Long("list") => options.list = true,
            Long("help") | Short('h') => options.help = true,
            // What this program calls itself with, under callgrind.
            Long("operate") => {
                let op = arguments.value()?.string()?;
                options.operate = Some((op, arguments.value()?.string()?));
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    program::end(
        "cost",
        options()
            .map_err(Into::into)
            .and_then(|options| run(&options)),
    )
}

fn run(options: &Options) -> Result<(), Failure> {
    if let Some((op, who)) = &options.operate {
        return Ok(counting::operate(op, who)?);
    }
    if options.help {
        print!("{HELP}");
        return Ok(());
    }
    let cases = chosen(options)?;
    if options.list {
        for case in cases {
            println!("{:<18} {}", case.op, case.who);
        }
        return Ok(());
    }
    let json = Output::json(options.json.as_ref())?;
    let plan = if options.quick {
        Plan {
            rounds: 15,
            batch: Duration::from_micros(500),
        }
    } else {
        Plan {
            rounds: 101,
            batch: Duration::from_millis(2),
        }
    };
    let times: Vec<_> = [1, 2]
        .map(|threads| timing::measure(&cases, threads, plan))
        .into();
    let counts = if options.no_count {
        Counts::default()
    } else {
        Counts::of(&cases)
    };
    let rows = rows(&cases, &times, &counts);
    print!("{}", report::table(&rows));
    if let Some(table) = scaling::table(&rows) {
        print!("{table}");
    }
    print_end(&rows);
    write_json(json, &rows)
}

fn chosen(options: &Options) -> Result<Vec<&'static Case>, Failure> {
    for op in &options.only {
        if !operations().contains(&op.as_str()) {
            let all = operations().join(", ");
            return Err(format!("no operation {op}; there are {all}").into());
        }
    }
    Ok(CASES
        .iter()
        .filter(|case| options.only.is_empty() || options.only.iter().any(|op| op == case.op))
        .filter(|case| !options.ours || case.who == "limiter")
        .collect())
}

/// Instructions by case, and what is known of the heap.
#[derive(Debug, Default)]
struct Counts {
    instructions: Vec<Option<f64>>,
    heap: Vec<Heap>,
}

impl Counts {
    /// Counts what can be counted here, and says what cannot.
    fn of(cases: &[&Case]) -> Self {
        let program = match std::env::current_exe() {
            Ok(program) => program,
            Err(error) => {
                eprintln!(
                    "cost: where this program is, is not known, so nothing is counted: {error}"
                );
                return Self::default();
            }
        };
        let heap = heap::ask(&program).unwrap_or_else(|error| {
            eprintln!("cost: no allocations and no bytes: {error}");
            Vec::new()
        });
        let instructions = if counting::available() {
            cases.iter().map(|case| count(&program, case)).collect()
        } else {
            eprintln!("cost: no instructions: there is no valgrind");
            Vec::new()
        };
        Self { instructions, heap }
    }
}

fn count(program: &Path, case: &Case) -> Option<f64> {
    counting::instructions(program, case.op, case.who)
        .inspect_err(|error| eprintln!("cost: no instructions: {error}"))
        .ok()
}

fn rows(cases: &[&Case], times: &[Vec<Time>], counts: &Counts) -> Vec<Row> {
    let mut rows = Vec::new();
    let ours = |case: &&Case| case.op == "acquire-finish" && case.who == "limiter";
    let plain = cases.iter().position(ours);
    let plain = plain.and_then(|index| counts.instructions.get(index).copied().flatten());
    for (index, case) in cases.iter().enumerate() {
        let heap = counts
            .heap
            .iter()
            .find(|heap| heap.op == case.op && heap.who == case.who);
        for (threads, times) in (1..).zip(times) {
            let time = &times[index];
            let instructions = counts.instructions.get(index).copied().flatten();
            rows.push(Row {
                op: case.op,
                who: case.who,
                threads,
                ratio: time.ratio,
                instructions: instructions.filter(|_| threads == 1),
                allocations: heap.map(|heap| heap.allocations),
                bytes: heap.map(|heap| heap.bytes),
                quartiles: time.quartiles,
                nanos: time.nanos,
                plain,
            });
        }
    }
    rows
}

fn print_end(rows: &[Row]) {
    let missed: Vec<_> = rows
        .iter()
        .filter(|row| !row.misses().is_empty())
        .map(|row| {
            let misses: Vec<_> = row.misses().iter().map(Most::to_string).collect();
            let threads = if row.threads == 1 {
                "one thread"
            } else {
                "two threads"
            };
            format!("{} on {threads}: {}", row.op, misses.join(", "))
        })
        .collect();
    println!("\nx raw: over a fetch_add and a fetch_sub beside it, on as many threads; medians.");
    println!(
        "instr: by callgrind, with the loop's two or three; of a clock read it sees almost nothing."
    );
    if missed.is_empty() {
        println!("Every target is met.");
    } else {
        println!("Missed: {}", missed.join("; "));
    }
}
