//! The laws of the table, by name.

use super::arrivals::Arrivals;
use super::gate::{Clock, Either, Gate, Planned, Shipped};
use super::model::{Model, Stranger};
use super::peers::{Classic, aimd, congestion, drain, gradient2, vegas, window};
use super::queue::NEVER;
use super::trace::Trace;
use super::world::{Span, run};
use limiter_core::law::{Aimd, Gradient, Knee, Law, Vegas};
use limiter_core::{Config, ConfigError, TickRate};

type Run = dyn Fn(&Model, u64, &Arrivals, Span, &mut Trace) + Send + Sync;

/// A law that can be tried.
pub struct Contestant {
    /// Its name in tables and on the command line.
    pub name: String,
    /// Whether this project ships it.
    pub ours: bool,
    /// Whether it is what a limiter has when nothing else was said.
    pub default: bool,
    run: Box<Run>,
}

impl std::fmt::Debug for Contestant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contestant")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Contestant {
    /// A law as it is shipped, in limiters from `config`.
    ///
    /// # Errors
    ///
    /// When the configuration is wrong.
    pub fn shipped<L>(name: &str, config: Config<L>) -> Result<Self, ConfigError>
    where
        L: Law + Copy + Send + Sync + 'static,
    {
        config.check()?;
        Shipped::new(config, Clock::default())?;
        let make = move |_, clock| match Shipped::new(config, clock) {
            Ok(gate) => gate,
            Err(error) => unreachable!("checked above: {error}"),
        };
        Ok(Self {
            ours: true,
            ..Self::other(name, make)
        })
    }

    /// Anything else: `make` builds the limiter of a caller from a seed and its clock.
    pub fn other<G: Gate>(
        name: &str,
        make: impl Fn(u64, Clock) -> G + Send + Sync + 'static,
    ) -> Self {
        let run = move |model: &Model, seed: u64, arrivals: &Arrivals, span, trace: &mut Trace| {
            let gates = (0..).zip(model.clocks(seed));
            let gates = gates.map(|(index, clock)| (index, make(seed * 1_000 + index, clock)));
            with_strangers(model, seed, arrivals, gates, span, trace);
        };
        Self {
            name: name.to_owned(),
            ours: false,
            default: false,
            run: Box::new(run),
        }
    }

    /// Runs it through `span` of `model` with the random numbers of `seed`.
    pub fn run(
        &self,
        model: &Model,
        seed: u64,
        arrivals: &Arrivals,
        span: Span,
        trace: &mut Trace,
    ) {
        (self.run)(model, seed, arrivals, span, trace);
    }
}

fn with_strangers<G: Gate>(
    model: &Model,
    seed: u64,
    arrivals: &Arrivals,
    gates: impl Iterator<Item = (u64, G)>,
    span: Span,
    trace: &mut Trace,
) {
    let Some((count, stranger)) = model.callers.strangers else {
        return run(model, arrivals, gates.map(|(_, gate)| gate), span, trace);
    };
    let mixed = gates.map(|(index, gate)| match stranger {
        _ if index >= u64::from(count) => Either::One(gate),
        Stranger::Vegas => {
            let rule = vegas::Vegas::new(seed * 1_000 + index);
            Either::Other(Either::One(Classic::new(rule)))
        }
        Stranger::Fixed(limit) => Either::Other(Either::Other(Planned::new(vec![(NEVER, limit)]))),
    });
    run(model, arrivals, mixed, span, trace);
}

/// Every law of the table.
pub fn all() -> Vec<Contestant> {
    let mut laws = Vec::new();
    let rate = TickRate::NANOS;
    let knee = Contestant::shipped("knee", Config::new(Knee::new(), rate));
    laws.extend(knee.map(|law| Contestant {
        default: true,
        ..law
    }));
    laws.extend(Contestant::shipped(
        "gradient",
        Config::new(Gradient::new(), rate),
    ));
    laws.extend(Contestant::shipped(
        "vegas",
        Config::new(Vegas::new(), rate),
    ));
    laws.extend(Contestant::shipped("aimd", Config::new(Aimd::new(), rate)));
    laws.push(Contestant::other("classic-aimd", |_, _| {
        Classic::new(aimd::Aimd::default())
    }));
    laws.push(Contestant::other("classic-vegas", |seed, _| {
        Classic::new(vegas::Vegas::new(seed))
    }));
    laws.push(Contestant::other("classic-vegas-window", |seed, _| {
        Classic::new(window::Window::new(vegas::Vegas::new(seed)))
    }));
    laws.push(Contestant::other("classic-gradient2", |_, _| {
        Classic::new(window::Window::new(gradient2::Gradient2::default()))
    }));
    laws.push(Contestant::other("drain-gradient", |seed, _| {
        Classic::new(drain::Drain::new(seed))
    }));
    laws.push(Contestant::other("congestion-aimd", |_, _| {
        congestion::aimd()
    }));
    laws.push(Contestant::other("congestion-vegas", |_, _| {
        congestion::vegas()
    }));
    laws.push(Contestant::other("congestion-gradient", |_, _| {
        congestion::gradient()
    }));
    laws
}
