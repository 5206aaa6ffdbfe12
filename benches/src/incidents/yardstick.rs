//! What a damaged system could have served at best: the yardstick, worked out from the scenario alone.

use super::scenario::Scenario;
use super::tally::{Tally, at};
use super::timeline::{Conditions, Timeline};
use crate::lab::queue::seconds;
use std::collections::VecDeque;

/// Requests a second that could have been answered well and in time, by fleet and second.
///
/// Work flows: in each second every station does at most `slots / work` of what needs it, oldest first, in equal
/// shares of every fleet, nothing that is older than its deadline, and what fails there fails. What a station
/// could not do, a fallback that existed does. Refusing costs nothing here.
pub fn attainable(scenario: &Scenario, tally: &Tally) -> Vec<Vec<f64>> {
    let mut conditions = Conditions::new(scenario);
    let mut timeline = Timeline::new(scenario);
    let length = scenario.seconds.ceil() as usize;
    let steps: Vec<_> = scenario
        .fleet
        .iter()
        .map(|fleet| scenario.steps(fleet))
        .collect();
    let mut waiting = vec![VecDeque::<(usize, f64)>::new(); scenario.fleet.len()];
    let mut out = vec![Vec::with_capacity(length); scenario.fleet.len()];
    for second in 0..length {
        // What changes within a second counts from its middle on.
        timeline.apply(&mut conditions, scenario, seconds(second as f64 + 0.5));
        for (index, fleet) in scenario.fleet.iter().enumerate() {
            let tally = &tally.fleets[index];
            let begun = at(&tally.begun, second) - at(&tally.hopeless, second);
            waiting[index].push_back((second, begun));
            let patience = (fleet.deadline_ms / 1e3) as usize;
            while waiting[index]
                .front()
                .is_some_and(|one| one.0 + patience < second)
            {
                waiting[index].pop_front();
            }
        }
        let wanted: Vec<f64> = waiting
            .iter()
            .map(|all| all.iter().map(|one| one.1).sum())
            .collect();
        let mut left: Vec<f64> = (0..scenario.station.len())
            .map(|station| capacity(scenario, &conditions, station))
            .collect();
        let shares = shares(&steps, &conditions, &wanted, &left);
        for (index, fleet) in scenario.fleet.iter().enumerate() {
            let mut served = wanted[index] * shares[index];
            for &station in steps[index].iter().flatten() {
                left[station] -= served * part(&steps[index], &conditions, station);
            }
            for step in &steps[index] {
                served *= succeeds(step, &conditions);
            }
            let calls = std::iter::once(&fleet.calls).chain(
                steps[index]
                    .iter()
                    .flatten()
                    .map(|&one| &scenario.station[one].calls),
            );
            for calls in calls.filter(|calls| !calls.fallback_is_new) {
                let name = calls.fallback.as_ref();
                if let Some(other) = name.and_then(|name| scenario.station_named(name.as_ref())) {
                    let more = (wanted[index] - served).min(left[other]).max(0.0);
                    left[other] -= more;
                    served += more * (1.0 - conditions.fails[other]);
                }
            }
            out[index].push(served);
            take(&mut waiting[index], served);
        }
    }
    out
}

/// How many requests a second a station can do.
fn capacity(scenario: &Scenario, conditions: &Conditions, station: usize) -> f64 {
    let one = f64::from(conditions.slots[station]) / conditions.service[station].max(1e-6) * 1e3;
    one * f64::from(scenario.station[station].instances)
}

/// Which part of a path's requests meets a station.
fn part(steps: &[Vec<usize>], conditions: &Conditions, station: usize) -> f64 {
    let own = steps.iter().filter(|step| step.contains(&station));
    own.map(|step| mean(step, conditions, |one| f64::from(u8::from(one == station))))
        .sum()
}

/// The share of each fleet's wishes that every station on its path can do.
fn shares(
    steps: &[Vec<Vec<usize>>],
    conditions: &Conditions,
    wanted: &[f64],
    capacity: &[f64],
) -> Vec<f64> {
    let load = |station: usize| -> f64 {
        let all = steps.iter().zip(wanted);
        all.map(|(steps, wanted)| wanted * part(steps, conditions, station))
            .sum()
    };
    let scale: Vec<f64> = (0..capacity.len())
        .map(|station| {
            let load = load(station);
            if load > capacity[station] {
                capacity[station] / load
            } else {
                1.0
            }
        })
        .collect();
    steps
        .iter()
        .map(|steps| {
            let of_step = |step: &Vec<usize>| mean(step, conditions, |one| scale[one]);
            steps.iter().map(of_step).fold(1.0, f64::min)
        })
        .collect()
}

fn succeeds(step: &[usize], conditions: &Conditions) -> f64 {
    mean(step, conditions, |one| 1.0 - conditions.fails[one])
}

/// The mean of a step's stations by their weights, 0 where they have none.
fn mean(step: &[usize], conditions: &Conditions, of: impl Fn(usize) -> f64) -> f64 {
    let weight = |one: usize| conditions.weight[one];
    let all: f64 = step.iter().map(|&one| weight(one)).sum();
    let sum: f64 = step.iter().map(|&one| weight(one) * of(one)).sum();
    if all > 0.0 { sum / all } else { 0.0 }
}

/// Takes so many requests away, the oldest first.
fn take(waiting: &mut VecDeque<(usize, f64)>, mut many: f64) {
    while let Some(first) = waiting.front_mut() {
        if first.1 > many {
            first.1 -= many;
            return;
        }
        many -= first.1;
        waiting.pop_front();
    }
}
