//! Replays of incidents: as they were, with what is set by hand, and with the library.

use benches::incidents::judge::{Row, judge};
use benches::incidents::page::{Section, page};
use benches::incidents::scenario::Scenario;
use benches::incidents::setting::{Mode, Setting};
use benches::incidents::sweep::{self, Point};
use benches::incidents::tally::Tally;
use benches::incidents::{catalogue, plot, read, report, world};
use benches::program::{self, Failure, Output, write_json};
use lexopt::prelude::*;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Replays nine incidents as models in virtual time: as they were, by hand, with the library.

usage: incidents [options]
  --only ID         only the incident ID; may be repeated
  --scenario FILE   that of FILE instead
  --seeds N         seeds 1 to N, 3 if not given, 1,000 at most
  --sweep           where a system comes back: fault strength, retries, callers; of a model of its own, with one seed
  --json PATH       a flat object for each incident, mode, adoption and seed (or point of the sweep)
  --html PATH       where the page goes, target/incidents/incidents.html (or sweep.html) if not given
  --list            names of incidents
";

/// So many seeds where nothing is said.
const SEEDS: u64 = 3;

#[derive(Debug)]
struct Options {
    only: Vec<String>,
    scenario: Option<PathBuf>,
    seeds: Option<u64>,
    sweep: bool,
    json: Option<PathBuf>,
    html: Option<PathBuf>,
    list: bool,
    help: bool,
}

fn options() -> Result<Options, lexopt::Error> {
    let mut options = Options {
        only: Vec::new(),
        scenario: None,
        seeds: None,
        sweep: false,
        json: None,
        html: None,
        list: false,
        help: false,
    };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("only") => options.only.push(arguments.value()?.string()?),
            Long("scenario") => options.scenario = Some(arguments.value()?.into()),
            Long("seeds") => options.seeds = Some(program::seeds(&arguments.value()?)?),
            Long("sweep") => options.sweep = true,
            Long("json") => options.json = Some(arguments.value()?.into()),
            Long("html") => options.html = Some(arguments.value()?.into()),
            Long("list") => options.list = true,
            Long("help") | Short('h') => options.help = true,
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    program::end(
        "incidents",
        options()
            .map_err(Into::into)
            .and_then(|options| start(&options)),
    )
}

fn start(options: &Options) -> Result<(), Failure> {
    if options.help {
        print!("{HELP}");
        return Ok(());
    }
    let scenario = ("--scenario", options.scenario.is_some());
    let only = ("--only", !options.only.is_empty());
    if options.sweep {
        let seeds = ("--seeds", options.seeds.is_some());
        program::alone(
            "--sweep",
            &[only, scenario, seeds, ("--list", options.list)],
        )?;
        return run_sweep(options);
    }
    if options.scenario.is_some() {
        program::alone("--scenario", &[only])?;
    }
    let scenarios = scenarios(options)?;
    if options.list {
        for scenario in &scenarios {
            println!("{:<20} {}", scenario.id, scenario.about);
        }
        return Ok(());
    }
    let (html, json) = outputs(options, "incidents.html")?;
    println!("{}", report::LEGEND);
    let mut all: Vec<(&Scenario, String, Vec<Row>)> = Vec::new();
    for scenario in &scenarios {
        println!("\n{}: {}\n{}", scenario.id, scenario.about, report::HEAD);
        let mut rows = Vec::new();
        let mut first: Vec<(&str, Tally)> = Vec::new();
        for (mode, adoption) in kinds() {
            for seed in 1..=options.seeds.unwrap_or(SEEDS) {
                let setting = Setting {
                    mode,
                    adoption,
                    seed,
                };
                let tally = world::run(scenario, setting)?;
                let row = judge(scenario, setting, &tally);
                println!("{}", report::line(&row));
                if seed == 1 && (mode != Mode::Library || adoption == 1.0) {
                    first.push((mode.name(), tally));
                }
                rows.push(row);
            }
        }
        let runs: Vec<(&str, &Tally)> = first.iter().map(|one| (one.0, &one.1)).collect();
        all.push((scenario, plot::draw(scenario, &runs)?, rows));
    }
    let sections = all.iter().map(|(scenario, svg, rows)| Section {
        scenario,
        svg: svg.clone(),
        rows: rows.iter().collect(),
    });
    write_page(html, &page(&sections.collect::<Vec<_>>(), ""))?;
    let rows: Vec<&Row> = all.iter().flat_map(|one| &one.2).collect();
    write_json(json, &rows)
}

/// The modes in the order of tables.
fn kinds() -> Vec<(Mode, f64)> {
    let others = [(Mode::AsItWas, 0.0), (Mode::ByHand, 0.0)];
    let adoptions = [1.0, 0.9, 0.5, 0.1, 0.0].map(|adoption| (Mode::Library, adoption));
    others.into_iter().chain(adoptions).collect()
}

fn scenarios(options: &Options) -> Result<Vec<Scenario>, Failure> {
    if let Some(path) = &options.scenario {
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| named(&error))?;
        return Ok(vec![read::read(&text).map_err(|error| named(&error))?]);
    }
    let mut all = catalogue::all()?;
    if let Some(strange) = options
        .only
        .iter()
        .find(|id| all.iter().all(|one| one.id != **id))
    {
        return Err(format!("no incident is {strange}; --list shows all").into());
    }
    all.retain(|one| options.only.is_empty() || options.only.contains(&one.id));
    Ok(all)
}

fn run_sweep(options: &Options) -> Result<(), Failure> {
    let (html, json) = outputs(options, "sweep.html")?;
    let mut points: Vec<Point> = Vec::new();
    let mut tables = String::new();
    for kind in sweep::KINDS {
        for strength in sweep::STRENGTHS {
            for retries in sweep::RETRIES {
                for fleet in sweep::FLEETS {
                    points.push(sweep::point(kind, strength, retries, fleet)?);
                }
            }
        }
        let table = sweep::table(&points, kind);
        println!("{table}");
        tables.push_str(&table);
    }
    let extra = format!(
        "<h2>Where a system comes back by itself</h2><p>Rows: a fault of {:?} times longer work; columns: {:?} \
         callers.</p>{}<pre>{tables}</pre>",
        sweep::STRENGTHS,
        sweep::FLEETS,
        sweep::picture(&points)
    );
    write_page(html, &page(&[], &extra))?;
    write_json(json, &points)
}

/// Where the page and the rows go.
fn outputs(options: &Options, name: &str) -> Result<(Output, Option<Output>), Failure> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"));
    let html = options
        .html
        .clone()
        .unwrap_or_else(|| target.join("incidents").join(name));
    if let Some(folder) = html.parent().filter(|folder| *folder != Path::new("")) {
        program::folder(folder)?;
    }
    Ok((Output::open(&html)?, Output::json(options.json.as_ref())?))
}

fn write_page(html: Output, text: &str) -> Result<(), Failure> {
    let path = html.path().to_owned();
    html.write(text)?;
    println!("\n{}", path.display());
    Ok(())
}
