//! The law lab: every law against the best fixed limit of every model, in virtual time.

use benches::lab::judge::{Court, Row};
use benches::lab::laws::Contestant;
use benches::lab::model::Model;
use benches::lab::report::{Summary, summaries, table};
use benches::lab::tournament::Draw;
use benches::lab::trace::Trace;
use benches::lab::{catalogue, config, laws, plot, tournament, variants, verdict};
use benches::program::{self, Failure, Output, write_json};
use lexopt::prelude::*;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

const HELP: &str = "\
Measures every law against the best fixed limit of every model.

usage: laws [options]
  --model NAME    only the model NAME, or those whose names contain it; may be repeated
  --law NAME      only the law NAME, or those whose names contain it; may be repeated
  --seeds N       seeds 1 to N, 3 if not given, 1,000 at most
  --phases        a table for each phase, too
  --reported      also the models that have no target
  --robust        the default law with its parameters halved and doubled, instead of all laws
  --config FILE   the model of FILE, and its limiter as the law `yours`
  --no-plots      no pictures in target/laws, which show the runs with the first seed
  --json PATH     a flat object for each model, law, phase and seed
  --list          names of models and laws
";

#[derive(Debug, Default)]
struct Options {
    models: Vec<String>,
    laws: Vec<String>,
    seeds: u64,
    phases: bool,
    reported: bool,
    robust: bool,
    config: Option<PathBuf>,
    no_plots: bool,
    json: Option<PathBuf>,
    list: bool,
    help: bool,
}

fn options() -> Result<Options, lexopt::Error> {
    let mut options = Options {
        seeds: 3,
        ..Options::default()
    };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("model") => options.models.push(arguments.value()?.string()?),
            Long("law") => options.laws.push(arguments.value()?.string()?),
            Long("seeds") => options.seeds = program::seeds(&arguments.value()?)?,
            Long("phases") => options.phases = true,
            Long("reported") => options.reported = true,
            Long("robust") => options.robust = true,
            Long("config") => options.config = Some(arguments.value()?.into()),
            Long("no-plots") => options.no_plots = true,
            Long("json") => options.json = Some(arguments.value()?.into()),
            Long("list") => options.list = true,
            Long("help") | Short('h') => options.help = true,
            other => return Err(other.unexpected()),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    program::end(
        "laws",
        options()
            .map_err(Into::into)
            .and_then(|options| run(&options)),
    )
}

/// Keeps those that are wanted: by their whole name, or by a part where no whole name is meant.
fn choose<T>(
    all: &mut Vec<T>,
    name: impl Fn(&T) -> &str,
    wanted: &[String],
) -> Result<(), Failure> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut keep = vec![false; all.len()];
    for part in wanted {
        let exact = all.iter().any(|one| name(one) == part);
        let mut found = false;
        for (keep, one) in keep.iter_mut().zip(&*all) {
            let is = if exact {
                name(one) == part
            } else {
                name(one).contains(part.as_str())
            };
            *keep |= is;
            found |= is;
        }
        if !found {
            return Err(format!("nothing has {part} in its name; --list shows all names").into());
        }
    }
    let mut keep = keep.into_iter();
    all.retain(|_| keep.next().unwrap_or(false));
    Ok(())
}

/// The models and laws that the options ask for.
fn field(options: &Options) -> Result<(Vec<Model>, Vec<Contestant>), Failure> {
    let mut models = catalogue::judged();
    if options.reported || options.list || !options.models.is_empty() {
        models.extend(catalogue::reported());
    }
    choose(&mut models, |model| &model.name, &options.models)?;
    let mut laws = if options.robust {
        variants::all()?
    } else {
        laws::all()
    };
    choose(&mut laws, |law| &law.name, &options.laws)?;
    if let Some(path) = &options.config {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let configured =
            config::read(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        models = vec![configured.model];
        laws.splice(0..0, configured.law);
    }
    Ok((models, laws))
}

fn run(options: &Options) -> Result<(), Failure> {
    if options.help {
        print!("{HELP}");
        return Ok(());
    }
    if options.config.is_some() {
        let others = [
            ("--model", !options.models.is_empty()),
            ("--reported", options.reported),
        ];
        program::alone("--config", &others)?;
    }
    let (models, laws) = field(options)?;
    if options.list {
        list(&models, &laws);
        return Ok(());
    }
    let json = Output::json(options.json.as_ref())?;
    let seeds: Vec<u64> = (1..=options.seeds).collect();
    let rows = play(&models, &laws, &seeds, options)?;
    print_head(seeds.len());
    for model in &models {
        print_model(model, &rows, options.phases);
    }
    if options.robust {
        println!("\nThe least share of the best goodput, median over seeds:");
        for line in verdict::least_goodput(&models, &rows) {
            println!("  {line}");
        }
    } else {
        print_beaten(&models, &rows);
    }
    write_json(json, &rows)
}

fn play(
    models: &[Model],
    laws: &[Contestant],
    seeds: &[u64],
    options: &Options,
) -> Result<Vec<Row>, Failure> {
    if options.no_plots || options.robust {
        return Ok(tournament::run(models, laws, seeds, None));
    }
    let folder = plot_folder();
    program::folder(&folder)?;
    let failed = Mutex::new(None);
    let draw = |model: &Model, law: &Contestant, court: &Court<'_>, trace: &Trace| {
        if let Err(error) = plot::draw(&folder, model, law, court, trace) {
            if let Ok(mut failed) = failed.lock() {
                *failed = Some(error.to_string());
            }
        }
    };
    let draw: &Draw<'_> = &draw;
    let rows = tournament::run(models, laws, seeds, Some(draw));
    match failed.into_inner() {
        Ok(Some(error)) => Err(format!("plots in {}: {error}", folder.display()).into()),
        _ => Ok(rows),
    }
}

/// `laws` in the target folder.
fn plot_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"));
    target.join("laws")
}

fn list(models: &[Model], laws: &[Contestant]) {
    for model in models {
        println!("model {:<28} {}", model.name, model.about);
    }
    for law in laws {
        println!("law {}", law.name);
    }
}

fn print_head(seeds: usize) {
    println!("Each figure is the worst phase's, as median / worst of {seeds} seeds.");
    println!("  goodput   share of the best fixed limit's, once settled");
    println!(
        "  p99       against the smallest fixed limit with 97 % of that goodput, once settled"
    );
    println!("  settling  time after a step over what is allowed; ! never, in some run");
    println!("  misses    what a default law has to reach and this one does not, by the medians");
}

fn print_model(model: &Model, rows: &[Row], phases: bool) {
    println!("\n{}: {}", model.name, model.about);
    for line in model.parameters() {
        println!("  {line}");
    }
    let own = rows.iter().filter(|row| row.model == model.name);
    let misses = |summary: &Summary| {
        let of_law = own.clone().filter(|row| row.law == summary.law);
        verdict::misses(model, summary, of_law).join(" ")
    };
    print!("{}", table(&summaries(own.clone()), misses));
    if phases && model.phases.len() > 1 {
        for phase in &model.phases {
            let of_phase = own.clone().filter(|row| row.phase == phase.name);
            let limits = of_phase
                .clone()
                .next()
                .map(|row| (row.oracle_lean, row.oracle_best));
            let (lean, best) = limits.unwrap_or_default();
            println!("  - {}, best fixed limits {lean} to {best}", phase.name);
            print!("{}", table(&summaries(of_phase), |_| String::new()));
        }
    }
}

fn print_beaten(models: &[Model], rows: &[Row]) {
    let lines = verdict::beaten(models, rows);
    if rows.iter().any(|row| row.default) {
        println!(
            "\nThe default law is beaten by more than 2 % of goodput at an equal or better p99"
        );
        if lines.is_empty() {
            println!("  nowhere");
        }
    }
    for line in lines {
        println!("  {line}");
    }
}
