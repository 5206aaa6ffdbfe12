//! What a run says: the figures of an incident.

use super::scenario::Scenario;
use super::setting::{Mode, Setting};
use super::tally::{Tally, at, sum};
use super::yardstick::attainable;
use serde::Serialize;

/// The figures of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The scenario's name.
    pub incident: String,
    /// `as-it-was`, `by-hand` or `library`.
    pub mode: &'static str,
    /// Share of the callers with the library: 1 everywhere, 0 at the server only; 0 in the other modes.
    pub adoption: f64,
    /// The run's seed.
    pub seed: u64,
    /// Attempts at the watched station for each request that needs it, in the worst second of the requests'
    /// beginnings after the warm-up.
    pub amplification_max: f64,
    /// The same over the fault.
    pub amplification_mean: f64,
    /// Attempts that arrived there in the worst second, over those of a second before the fault.
    pub rate_max: f64,
    /// Answers in time during the fault, as a share of what could have been served.
    pub goodput_share_fault: f64,
    /// The smallest share of its requests that a bystander was served in the fault; null without any.
    pub bystander_share_min: Option<f64>,
    /// Which one.
    pub bystander: Option<String>,
    /// In some ten seconds less than half was served of what could have been.
    pub collapsed: bool,
    /// From the end of the fault until 95 % of what could succeed did, for good, in s; until the end of the run if
    /// that never was.
    pub recover_s: f64,
    /// That happened within 30 s or 100 round trips, without anybody's hand.
    pub recovered: bool,
    /// It did happen before the run ended.
    pub recovers: bool,
    /// It collapsed again when the traffic came back.
    pub second_window: bool,
    /// Requests that were refused, as a share of all.
    pub refused_share: f64,
    /// How long it takes until a caller hears that a tier refused, 99 of 100, in round trips through all tiers;
    /// null without any.
    pub refusal_round_trips: Option<f64>,
    /// How long requests took that were not served: the median, in ms; null if all were.
    pub failed_ms: Option<f64>,
    /// The share of the work that was begun for callers who had given up.
    pub wasted_share: f64,
    /// Requests served in time over the fault by fleet, as a share of those that began.
    #[serde(skip)]
    pub fleets: Vec<(String, f64)>,
}

/// Over how many seconds a collapse is looked for, and service compared.
const COLLAPSE: usize = 10;
const STEADY: usize = 5;

/// Judges a run.
pub fn judge(scenario: &Scenario, setting: Setting, tally: &Tally) -> Row {
    let view = View::new(scenario, tally);
    let (begins, ends) = view.fault;
    let recovery = view.recovery();
    let (amplification_max, amplification_mean) = view.amplification();
    let bystanders = view.bystanders();
    let least = bystanders.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let mut failed: Vec<u32> = tally
        .fleets
        .iter()
        .flat_map(|fleet| fleet.failed_ms.iter().copied())
        .collect();
    let mut refusals = tally.refusal_us.clone();
    let begun: f64 = tally
        .fleets
        .iter()
        .map(|fleet| sum(&fleet.begun, 0, view.end))
        .sum();
    let refused: f64 = tally
        .fleets
        .iter()
        .map(|fleet| f64::from(fleet.refused))
        .sum();
    let allowed = view.allowed_to_recover();
    Row {
        incident: scenario.id.clone(),
        mode: setting.mode.name(),
        adoption: if setting.mode == Mode::Library {
            setting.adoption
        } else {
            0.0
        },
        seed: setting.seed,
        amplification_max,
        amplification_mean,
        rate_max: view.rate_max(),
        goodput_share_fault: view.goodput(begins, ends),
        bystander_share_min: least.map(|one| one.1),
        bystander: least.map(|one| one.0.clone()),
        collapsed: view.collapse_after(begins).is_some(),
        recover_s: recovery.unwrap_or(view.end - ends) as f64,
        recovered: recovery.is_some_and(|after| after as f64 <= allowed),
        recovers: recovery.is_some(),
        second_window: view.second_window(),
        refused_share: refused / begun.max(1.0),
        refusal_round_trips: quantile(&mut refusals, 99)
            .map(|us| f64::from(us) / 1e3 / view.round_trip_ms()),
        failed_ms: quantile(&mut failed, 50).map(f64::from),
        wasted_share: f64::from(tally.wasted) / f64::from(tally.worked.max(1)),
        fleets: view.fleet_shares(begins, ends),
    }
}

fn quantile(values: &mut [u32], percent: usize) -> Option<u32> {
    if values.is_empty() {
        return None;
    }
    let rank = (values.len() * percent / 100).min(values.len() - 1);
    Some(*values.select_nth_unstable(rank).1)
}

/// What was answered in time, of all fleets, by second.
pub fn good(scenario: &Scenario, tally: &Tally) -> Vec<f64> {
    let of = |second| {
        tally
            .fleets
            .iter()
            .map(|fleet| at(&fleet.good, second))
            .sum()
    };
    (0..scenario.seconds as usize).map(of).collect()
}

/// A run and its yardstick, in whole seconds.
#[derive(Debug)]
pub struct View<'a> {
    scenario: &'a Scenario,
    tally: &'a Tally,
    /// What could have been served, of all fleets, by second.
    pub attainable: Vec<f64>,
    /// What was.
    pub good: Vec<f64>,
    warm_up: usize,
    fault: (usize, usize),
    end: usize,
}

impl<'a> View<'a> {
    /// A run of `scenario`.
    pub fn new(scenario: &'a Scenario, tally: &'a Tally) -> Self {
        let end = scenario.seconds as usize;
        let by_fleet = attainable(scenario, tally);
        let (begins, ends) = scenario.fault();
        Self {
            attainable: (0..end)
                .map(|second| by_fleet.iter().map(|fleet| fleet[second]).sum())
                .collect(),
            good: good(scenario, tally),
            scenario,
            tally,
            warm_up: scenario.warm_up as usize,
            fault: (begins as usize, (ends.ceil() as usize).min(end)),
            end,
        }
    }

    /// Attempts for each request: the worst second, and the mean of the fault.
    fn amplification(&self) -> (f64, f64) {
        let worst = (self.warm_up..self.end)
            .filter(|&second| at(&self.tally.needs, second) >= 10.0)
            .map(|second| at(&self.tally.attempts, second) / at(&self.tally.needs, second))
            .fold(0.0, f64::max);
        let (from, to) = self.fault;
        let needs = sum(&self.tally.needs, from, to).max(1.0);
        (worst, sum(&self.tally.attempts, from, to) / needs)
    }

    fn rate_max(&self) -> f64 {
        let (from, to) = (self.warm_up, self.fault.0.max(self.warm_up + 1));
        let usual = sum(&self.tally.arrived, from, to) / (to - from) as f64;
        let seconds = self.warm_up..self.end;
        let worst = seconds
            .map(|second| at(&self.tally.arrived, second))
            .fold(0.0, f64::max);
        worst / usual.max(1.0)
    }

    /// What was served as a share of what could have been.
    fn goodput(&self, from: usize, to: usize) -> f64 {
        let possible: f64 = self.attainable[from..to].iter().sum();
        let good: f64 = self.good[from..to].iter().sum();
        (good / possible.max(1.0)).min(1.0)
    }

    /// The end of the first ten seconds from `from` on in which less than half was served.
    fn collapse_after(&self, from: usize) -> Option<usize> {
        let ends = (from + COLLAPSE)..=self.end;
        let mut ends = ends.filter(|&end| self.goodput(end - COLLAPSE, end) < 0.5);
        ends.next()
    }

    /// A collapse that begins after the traffic came back to a system that was well.
    fn second_window(&self) -> bool {
        let mut events = self.scenario.event.iter();
        let Some(back) = events
            .find(|event| event.returns)
            .map(|event| event.at as usize)
        else {
            return false;
        };
        let well = back >= COLLAPSE && self.goodput(back - STEADY, back) >= 0.5;
        well && self.collapse_after(back).is_some()
    }

    /// The share of what began in these seconds that was served in time.
    fn kept(&self, from: usize, to: usize) -> f64 {
        let fleets = self.tally.fleets.iter();
        let (kept, begun) = fleets.fold((0.0, 0.0), |all, fleet| {
            let hopeless = sum(&fleet.hopeless, from, to);
            let begun = sum(&fleet.begun, from, to) - hopeless;
            (all.0 + sum(&fleet.kept, from, to), all.1 + begun)
        });
        if begun < 1.0 { 1.0 } else { kept / begun }
    }

    /// Seconds from the end of the fault until 95 % of what could succeed did, for good.
    fn recovery(&self) -> Option<usize> {
        // Requests that begin last cannot be answered in time before the run is over.
        let longest = self
            .scenario
            .fleet
            .iter()
            .map(|fleet| fleet.deadline_ms / 1e3);
        let last = self
            .end
            .saturating_sub(longest.fold(0.0, f64::max).ceil() as usize + 1);
        let well = |from: usize| self.kept(from, from + STEADY) >= 0.95;
        let mut since = None;
        for from in (self.fault.1..last.saturating_sub(STEADY - 1)).rev() {
            if !well(from) {
                break;
            }
            since = Some(from - self.fault.1);
        }
        since
    }

    /// 30 s or 100 round trips.
    fn allowed_to_recover(&self) -> f64 {
        (self.round_trip_ms() * 100.0 / 1e3).max(30.0)
    }

    /// Through all tiers of the longest path, without waiting anywhere.
    fn round_trip_ms(&self) -> f64 {
        let paths = self.scenario.fleet.iter().map(|fleet| {
            let steps = self.scenario.steps(fleet);
            let work = steps.iter().filter_map(|step| step.first());
            work.map(|&one| self.scenario.station[one].service_ms + 2.0 * self.scenario.network_ms)
                .sum::<f64>()
        });
        paths.fold(1e-3, f64::max)
    }

    fn fleet_shares(&self, from: usize, to: usize) -> Vec<(String, f64)> {
        let fleets = self.scenario.fleet.iter().zip(&self.tally.fleets);
        fleets
            .map(|(fleet, tally)| {
                let begun = sum(&tally.begun, from, to) - sum(&tally.hopeless, from, to);
                let kept = sum(&tally.kept, from, to) / begun.max(1.0);
                (fleet.name.as_ref().clone(), kept)
            })
            .collect()
    }

    /// What each bystander kept of its service during the fault.
    fn bystanders(&self) -> Vec<(String, f64)> {
        let shares = self.fleet_shares(self.fault.0, self.fault.1).into_iter();
        let all = self.scenario.fleet.iter().zip(shares);
        all.filter(|(fleet, _)| fleet.bystander)
            .map(|(_, share)| share)
            .collect()
    }
}
