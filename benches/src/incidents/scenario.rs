//! A scenario as data: tiers, those who call them, and what happens when. Read by [`super::read`].

use crate::lab::random::Shape;
use serde::Deserialize;
use toml::Spanned;

/// An incident, or one of the user's own.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Its name in tables and on the command line.
    pub id: String,
    /// What happened and what it shows.
    pub about: String,
    /// How long the run lasts, in s.
    pub seconds: f64,
    /// From when it is judged, in s: before it, limits are found and latencies measured.
    #[serde(default = "warm_up")]
    pub warm_up: f64,
    /// The station whose attempts are counted.
    pub watch: Spanned<String>,
    /// What a refusal says about coming back.
    #[serde(default)]
    pub protocol: Protocol,
    /// The time between two tiers, one way, in ms.
    #[serde(default = "network")]
    pub network_ms: f64,
    /// The tiers.
    pub station: Vec<Station>,
    /// Those who call from outside.
    pub fleet: Vec<Fleet>,
    /// What happens, in order.
    #[serde(default)]
    pub event: Vec<Event>,
}

/// How a refusal by the library's layer answers by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// `RESOURCE_EXHAUSTED` with a push-back of -1: do not retry.
    #[default]
    Grpc,
    /// 503 with `Retry-After: 1`.
    Http,
}

/// A tier: `instances` processes with `slots` each, and a first-in first-out queue before them.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Station {
    /// Its name in paths.
    pub name: Spanned<String>,
    /// Processes, each with its own queue, limiter and calls.
    #[serde(default = "one")]
    pub instances: u32,
    /// What one process can work on at once.
    pub slots: u32,
    /// A fixed number of workers, set by hand, that is smaller than `slots`: an adaptive limit takes its place.
    pub workers: Option<u32>,
    /// Mean time of its own work, in ms.
    pub service_ms: f64,
    /// How that spreads.
    #[serde(default = "shape")]
    pub shape: Shape,
    /// How much longer work takes for each time that the slots are taken over again by waiting work.
    #[serde(default)]
    pub contention: f64,
    /// How many requests wait in one process; others are refused.
    #[serde(default = "queue")]
    pub queue: u32,
    /// What a refusal costs, as a share of its own work.
    #[serde(default = "refuse_cost")]
    pub refuse_cost: f64,
    /// The limit of one process that a careful team sets; half as many again as the slots if not given.
    pub by_hand_limit: Option<u32>,
    /// The share of requests that fails, after its work, and may succeed the next time.
    #[serde(default)]
    pub fail_share: f64,
    /// The share of the load among alternatives in a path.
    #[serde(default = "unit")]
    pub weight: f64,
    /// How it calls the next tier of a path.
    #[serde(default)]
    pub calls: Calls,
}

/// Callers from outside that do the same.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fleet {
    /// Its name in tables.
    pub name: Spanned<String>,
    /// How many, each with its own settings, budget and breaker.
    pub callers: u32,
    /// Requests a second of all together, arriving by chance; none for fleets with sessions.
    #[serde(default)]
    pub rate: f64,
    /// Sessions instead: each caller has one that lasts so long, in s, and connects again when it ended.
    pub session_s: Option<f64>,
    /// After so long, in s, a caller with sessions that did not get one asks again.
    #[serde(default = "again")]
    pub again_s: f64,
    /// The stations that a request goes through, each calling the next; alternatives with `|` between them.
    pub path: Spanned<Vec<String>>,
    /// How long a request is worth something, in ms.
    pub deadline_ms: f64,
    /// The share of requests that cannot succeed, whoever asks how often.
    #[serde(default)]
    pub permanent_share: f64,
    /// It did nothing wrong and calls nothing that is damaged.
    #[serde(default)]
    pub bystander: bool,
    /// How it calls the first tier.
    #[serde(default)]
    pub calls: Calls,
}

/// How the next tier is called, as it was.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Calls {
    /// Attempts at most; 0 for ever.
    pub attempts: u32,
    /// Attempts at most by hand; 4 (three retries) if not given.
    pub by_hand_attempts: Option<u32>,
    /// Attempts at most with the library; its default if not given.
    pub library_attempts: Option<u32>,
    /// How long an attempt may last, in ms.
    pub timeout_ms: f64,
    /// The wait before the next one, in ms.
    pub backoff_ms: f64,
    /// A second attempt goes beside one that lasts so long, in ms.
    pub hedge_ms: Option<f64>,
    /// Also errors that cannot go away are tried again.
    pub retries_permanent: bool,
    /// The station that is asked instead when all attempts failed.
    pub fallback: Option<Spanned<String>>,
    /// How many of a thousand calls may fall back with the library: what the other can bear.
    pub fallback_per_mille: u32,
    /// Callers without the library have none: it had not been built.
    pub fallback_is_new: bool,
}

/// What happens at a time. What it does not name stays as it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Event {
    /// When, in s.
    pub at: f64,
    /// What, for plots.
    pub what: String,
    /// Whether the fault begins, goes on differently, or ends with it.
    pub fault: Option<Fault>,
    /// Traffic is brought back with it.
    pub returns: bool,
    /// The station that changes.
    pub station: Option<Spanned<String>>,
    /// The fleet that changes.
    pub fleet: Option<Spanned<String>>,
    /// What has numbers moves there evenly for so long, in s.
    pub over_s: f64,
    /// New slots of a process.
    pub slots: Option<u32>,
    /// New mean work.
    pub service_ms: Option<f64>,
    /// New share that fails.
    pub fail_share: Option<f64>,
    /// New share of the load.
    pub weight: Option<f64>,
    /// New requests a second.
    pub rate: Option<f64>,
    /// New share that cannot succeed.
    pub permanent_share: Option<f64>,
    /// This share of the sessions ends now.
    pub drop_share: Option<f64>,
}

/// What an event is to the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// It begins.
    Begins,
    /// It ends.
    Ends,
}

impl Default for Calls {
    /// One attempt of at most a second.
    fn default() -> Self {
        Self {
            attempts: 1,
            by_hand_attempts: None,
            library_attempts: None,
            timeout_ms: 1_000.0,
            backoff_ms: 0.0,
            hedge_ms: None,
            retries_permanent: false,
            fallback: None,
            fallback_per_mille: 100,
            fallback_is_new: false,
        }
    }
}

impl Scenario {
    /// When the fault begins and ends, in s: the whole judged run where no event says so.
    pub fn fault(&self) -> (f64, f64) {
        let when = |fault| {
            let mut events = self.event.iter();
            events.find(|event| event.fault == Some(fault))
        };
        let begins = when(Fault::Begins).map_or(self.warm_up, |event| event.at);
        let ends = when(Fault::Ends).map_or(self.seconds, |event| event.at + event.over_s);
        (begins, ends)
    }

    /// The station of this name.
    pub fn station_named(&self, name: &str) -> Option<usize> {
        let mut stations = self.station.iter();
        stations.position(|station| station.name.as_ref() == name)
    }

    /// The fleet of this name.
    pub fn fleet_named(&self, name: &str) -> Option<usize> {
        self.fleet
            .iter()
            .position(|fleet| fleet.name.as_ref() == name)
    }

    /// The stations of each step of a fleet's path; names that nothing has are left out.
    pub fn steps(&self, fleet: &Fleet) -> Vec<Vec<usize>> {
        let steps = fleet.path.as_ref().iter();
        steps
            .map(|step| {
                let names = step.split('|').map(str::trim);
                names.filter_map(|name| self.station_named(name)).collect()
            })
            .collect()
    }

    /// The place of the watched station.
    pub fn watched(&self) -> usize {
        self.station_named(self.watch.as_ref()).unwrap_or_default()
    }
}

fn warm_up() -> f64 {
    20.0
}

fn network() -> f64 {
    0.5
}

fn one() -> u32 {
    1
}

fn unit() -> f64 {
    1.0
}

fn again() -> f64 {
    30.0
}

fn shape() -> Shape {
    Shape::LogNormal { sigma: 0.5 }
}

fn queue() -> u32 {
    1_000
}

fn refuse_cost() -> f64 {
    0.05
}
