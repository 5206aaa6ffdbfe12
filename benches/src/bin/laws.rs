//! The law lab: every law against the best fixed limit of every model, in virtual time.

use benches::lab::judge::{Court, Row};
use benches::lab::laws::Contestant;
use benches::lab::model::Model;
use benches::lab::report::{summaries, table};
use benches::lab::tournament::Draw;
use benches::lab::trace::Trace;
use benches::lab::{catalogue, laws, plot, tournament};
use lexopt::prelude::*;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

const HELP: &str = "\
Measures every law against the best fixed limit of every model.

usage: laws [options]
  --model NAME    only models whose name contains NAME; may be repeated
  --law NAME      only laws whose name contains NAME; may be repeated
  --seeds N       seeds 1 to N, 3 if not given
  --phases        a table for each phase, too
  --reported      also the models that have no target
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
            Long("seeds") => options.seeds = arguments.value()?.parse()?,
            Long("phases") => options.phases = true,
            Long("reported") => options.reported = true,
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
    match options()
        .map_err(Into::into)
        .and_then(|options| run(&options))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("laws: {error}");
            ExitCode::FAILURE
        }
    }
}

fn chosen(name: &str, wanted: &[String]) -> bool {
    wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()))
}

fn run(options: &Options) -> Result<(), Box<dyn std::error::Error>> {
    if options.help {
        print!("{HELP}");
        return Ok(());
    }
    let mut models = catalogue::judged();
    if options.reported || !options.models.is_empty() {
        models.extend(catalogue::reported());
    }
    models.retain(|model| chosen(&model.name, &options.models));
    let mut laws = laws::all();
    laws.retain(|law| chosen(&law.name, &options.laws));
    if options.list {
        list(&models, &laws);
        return Ok(());
    }
    if models.is_empty() || laws.is_empty() {
        return Err("nothing has that name; --list shows them".into());
    }
    let seeds: Vec<u64> = (1..=options.seeds.max(1)).collect();
    let folder = plot_folder();
    std::fs::create_dir_all(&folder)?;
    let failed = Mutex::new(None);
    let draw = |model: &Model, law: &Contestant, court: &Court<'_>, trace: &Trace| {
        if let Err(error) = plot::draw(&folder, model, law, court, trace) {
            if let Ok(mut failed) = failed.lock() {
                *failed = Some(error.to_string());
            }
        }
    };
    let draw: &Draw<'_> = &draw;
    let rows = tournament::run(&models, &laws, &seeds, (!options.no_plots).then_some(draw));
    if let Ok(Some(error)) = failed.into_inner() {
        return Err(format!("plots in {}: {error}", folder.display()).into());
    }
    println!(
        "goodput: share of the best fixed limit's. p99: against the smallest fixed limit with 97 % of it."
    );
    println!(
        "settle: worst step; ! never, in some run. Each is the worst phase, as median / worst seed of {}.",
        seeds.len()
    );
    for model in &models {
        print_model(model, &rows, options.phases);
    }
    if let Some(path) = &options.json {
        std::fs::write(path, serde_json::to_string_pretty(&rows)?)?;
    }
    Ok(())
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

fn print_model(model: &Model, rows: &[Row], phases: bool) {
    println!("\n{}: {}", model.name, model.about);
    for line in model.parameters() {
        println!("  {line}");
    }
    let own = rows.iter().filter(|row| row.model == model.name);
    print!("{}", table(&summaries(own.clone())));
    if phases && model.phases.len() > 1 {
        for phase in &model.phases {
            println!("  - {}", phase.name);
            let of_phase = own.clone().filter(|row| row.phase == phase.name);
            print!("{}", table(&summaries(of_phase)));
        }
    }
}
