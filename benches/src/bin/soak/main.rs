//! Everything at once, for minutes: threads that take slots, wait, go away, panic and time out while limits move.
//! At the end nothing may be left taken, nothing unaccounted, and no memory may have been kept.

mod memory;
mod work;

use benches::program::{self, Failure};
use lexopt::prelude::*;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use work::World;

const HELP: &str = "\
Works a limiter and a dependency from many threads, and counts what comes of it.

usage: soak [options]
  --seconds N       how long, 600 if not given
  --operations N    fails when fewer were done
";

/// What memory may grow by after the first tenth: buffers of the system's own and of the counters here.
const GROWTH: u64 = 4 << 20;

fn main() -> ExitCode {
    program::end("soak", options().and_then(|options| run(&options)))
}

#[derive(Debug)]
struct Options {
    seconds: u64,
    operations: u64,
}

fn options() -> Result<Options, Failure> {
    let mut options = Options {
        seconds: 600,
        operations: 0,
    };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("seconds") => options.seconds = arguments.value()?.parse()?,
            Long("operations") => options.operations = arguments.value()?.parse()?,
            Long("help") | Short('h') => {
                print!("{HELP}");
                std::process::exit(0);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(options)
}

fn run(options: &Options) -> Result<(), Failure> {
    let world = World::new()?;
    let length = Duration::from_secs(options.seconds);
    let start = Instant::now();
    let counts: Vec<AtomicU64> = work::ALL.iter().map(|_| AtomicU64::new(0)).collect();
    let mut early = None;
    thread::scope(|scope| {
        for ((_, work), count) in work::ALL.iter().zip(&counts) {
            let world = &world;
            scope.spawn(move || {
                while start.elapsed() < length {
                    count.fetch_add(work(world), Ordering::Relaxed);
                }
            });
        }
        let mut said = Duration::ZERO;
        while start.elapsed() < length {
            thread::sleep(Duration::from_millis(200).min(length / 20));
            let passed = start.elapsed();
            if early.is_none() && passed * 10 >= length {
                early = memory::resident();
            }
            if passed >= said + Duration::from_secs(30) {
                said = passed;
                println!("{:>4} s  {} operations", passed.as_secs(), total(&counts));
            }
        }
    });
    let late = memory::resident();
    for ((name, _), count) in work::ALL.iter().zip(&counts) {
        println!("{name:<12} {:>14}", count.load(Ordering::Relaxed));
    }
    let permits = world.check()?;
    if let (Some(early), Some(late)) = (early, late) {
        println!("memory {} KiB, then {} KiB", early >> 10, late >> 10);
        if late > early + GROWTH {
            return Err("memory grew".into());
        }
    }
    let done = total(&counts);
    println!("{done} operations; {permits} permits, all of them ended");
    if done < options.operations {
        return Err(format!("{done} operations are fewer than {}", options.operations).into());
    }
    Ok(())
}

fn total(counts: &[AtomicU64]) -> u64 {
    counts
        .iter()
        .map(|count| count.load(Ordering::Relaxed))
        .sum()
}
