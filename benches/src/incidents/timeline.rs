//! What changes when.

use super::scenario::{Event, Scenario};
use crate::lab::queue::{NEVER, SECOND, seconds};

/// What stations and fleets are like for the moment, by their places.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// Slots of a process.
    pub slots: Vec<u32>,
    /// Mean work in ms.
    pub service: Vec<f64>,
    /// The share that fails.
    pub fails: Vec<f64>,
    /// The share of the load among alternatives.
    pub weight: Vec<f64>,
    /// Requests a second.
    pub rate: Vec<f64>,
    /// The share that cannot succeed.
    pub permanent: Vec<f64>,
}

impl Conditions {
    /// Those at the beginning.
    pub fn new(scenario: &Scenario) -> Self {
        let (stations, fleets) = (&scenario.station, &scenario.fleet);
        Self {
            slots: stations.iter().map(|one| one.slots).collect(),
            service: stations.iter().map(|one| one.service_ms).collect(),
            fails: stations.iter().map(|one| one.fail_share).collect(),
            weight: stations.iter().map(|one| one.weight).collect(),
            rate: fleets.iter().map(|one| one.rate).collect(),
            permanent: fleets.iter().map(|one| one.permanent_share).collect(),
        }
    }

    /// Goes `part` of the way from what was `before` to what `event` says.
    fn apply(&mut self, event: &Event, before: &Self, part: f64, scenario: &Scenario) {
        let between = |from: f64, to: f64| from + (to - from) * part;
        let named = |name: &Option<toml::Spanned<String>>, find: &dyn Fn(&str) -> Option<usize>| {
            name.as_ref().and_then(|name| find(name.as_ref()))
        };
        if let Some(at) = named(&event.station, &|name| scenario.station_named(name)) {
            if let Some(slots) = event.slots {
                let slots = between(before.slots[at].into(), slots.into());
                self.slots[at] = slots.round() as u32;
            }
            let numbers = [
                (&mut self.service, &before.service, event.service_ms),
                (&mut self.fails, &before.fails, event.fail_share),
                (&mut self.weight, &before.weight, event.weight),
            ];
            for (now, before, to) in numbers {
                now[at] = to.map_or(now[at], |to| between(before[at], to));
            }
        }
        if let Some(at) = named(&event.fleet, &|name| scenario.fleet_named(name)) {
            let numbers = [
                (&mut self.rate, &before.rate, event.rate),
                (
                    &mut self.permanent,
                    &before.permanent,
                    event.permanent_share,
                ),
            ];
            for (now, before, to) in numbers {
                now[at] = to.map_or(now[at], |to| between(before[at], to));
            }
        }
    }
}

/// The steps of all events, in order: those that take their time make one a second.
#[derive(Clone, Debug)]
pub struct Timeline {
    steps: Vec<(u64, usize, f64)>,
    done: usize,
    before: Vec<Option<Conditions>>,
}

impl Timeline {
    /// That of `scenario`.
    pub fn new(scenario: &Scenario) -> Self {
        let mut steps = Vec::new();
        for (index, event) in scenario.event.iter().enumerate() {
            let (at, over) = (seconds(event.at), seconds(event.over_s));
            let parts = over.div_ceil(SECOND).max(1);
            for part in 1..=parts {
                let share = part as f64 / parts as f64;
                let late = (over as f64 * (share - 1.0 / parts as f64)) as u64;
                steps.push((at + late, index, share));
            }
        }
        steps.sort_by_key(|step| step.0);
        Self {
            steps,
            done: 0,
            before: vec![None; scenario.event.len()],
        }
    }

    /// When the next step is.
    pub fn next_at(&self) -> u64 {
        self.steps.get(self.done).map_or(NEVER, |step| step.0)
    }

    /// Takes the steps that are due, and says of which fleets which share of the sessions ends.
    pub fn apply(
        &mut self,
        conditions: &mut Conditions,
        scenario: &Scenario,
        now: u64,
    ) -> Vec<(usize, f64)> {
        let mut drops = Vec::new();
        while let Some(&(_, index, part)) = self.steps.get(self.done).filter(|step| step.0 <= now) {
            self.done += 1;
            let event = &scenario.event[index];
            let first = self.before[index].is_none();
            let before = self.before[index].get_or_insert_with(|| conditions.clone());
            conditions.apply(event, before, part, scenario);
            let fleet = event.fleet.as_ref();
            let fleet = fleet.and_then(|name| scenario.fleet_named(name.as_ref()));
            if let (true, Some(fleet), Some(share)) = (first, fleet, event.drop_share) {
                drops.push((fleet, share));
            }
        }
        drops
    }
}
