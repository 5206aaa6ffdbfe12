//! Who calls whom: processes, and a client for each next tier that a caller or a process has.

use super::client::Client;
use super::process::Process;
use super::scenario::{Calls, Scenario};
use super::setting::Setting;
use crate::lab::random::Random;

/// Places of clients.
#[derive(Debug)]
pub(super) struct Wiring {
    /// By fleet and caller: the client for the first step.
    callers: Vec<Vec<u32>>,
    /// By process: the clients for the next tiers, each with the stations it calls.
    processes: Vec<Vec<(Vec<usize>, u32)>>,
    /// The stations of each step, by fleet.
    pub(super) steps: Vec<Vec<Vec<usize>>>,
}

impl Wiring {
    /// The client that a caller of a fleet uses.
    pub(super) fn of_caller(&self, fleet: u32, caller: u32) -> u32 {
        self.callers[fleet as usize][caller as usize]
    }

    /// The client that a process uses for these stations.
    pub(super) fn of_process(&self, process: usize, stations: &[usize]) -> Option<u32> {
        let mut known = self.processes[process].iter();
        known.find(|one| one.0 == stations).map(|one| one.1)
    }
}

/// Everything that a scenario consists of.
pub(super) fn build(
    scenario: &Scenario,
    setting: &Setting,
    random: &mut Random,
) -> (Vec<Process>, Vec<usize>, Vec<Client>, Wiring) {
    let steps: Vec<Vec<Vec<usize>>> = scenario
        .fleet
        .iter()
        .map(|fleet| scenario.steps(fleet))
        .collect();
    let before = before_watched(scenario, &steps);
    let mut clients = Vec::new();
    let mut client = |calls: &Calls, next: &[usize], ours: bool, random: &mut Random| {
        let mut client = Client::new(calls, setting.mode, ours, random);
        let other = calls.fallback.as_ref();
        let other = other.and_then(|name| scenario.station_named(name.as_ref()));
        if let Some(station) = other.filter(|station| next != [*station]) {
            let once = Calls {
                attempts: 1,
                hedge_ms: None,
                ..calls.clone()
            };
            clients.push(Client::new(&once, setting.mode, ours, random));
            client.fallback = Some((station, clients.len() as u32 - 1));
        }
        clients.push(client);
        clients.len() as u32 - 1
    };
    let callers = scenario.fleet.iter().zip(&steps).map(|(fleet, steps)| {
        let all = 0..fleet.callers;
        let next = steps.first().map(Vec::as_slice).unwrap_or_default();
        all.map(|caller| {
            client(
                &fleet.calls,
                next,
                setting.adopts(caller, fleet.callers),
                random,
            )
        })
        .collect()
    });
    let callers = callers.collect();
    let (mut processes, mut first, mut wires) = (Vec::new(), Vec::new(), Vec::new());
    for (index, station) in scenario.station.iter().enumerate() {
        first.push(processes.len());
        for instance in 0..station.instances {
            let ours = !before[index] || setting.adopts(instance, station.instances);
            processes.push(Process::new(index, station, setting.mode, ours, random));
            let mut own: Vec<(Vec<usize>, u32)> = Vec::new();
            for path in &steps {
                for pair in path.windows(2) {
                    if pair[0].contains(&index) && own.iter().all(|one| one.0 != pair[1]) {
                        own.push((
                            pair[1].clone(),
                            client(&station.calls, &pair[1], ours, random),
                        ));
                    }
                }
            }
            wires.push(own);
        }
    }
    let wiring = Wiring {
        callers,
        processes: wires,
        steps,
    };
    (processes, first, clients, wiring)
}

/// Which stations only lead to the watched one: callers of it.
fn before_watched(scenario: &Scenario, steps: &[Vec<Vec<usize>>]) -> Vec<bool> {
    let watched = scenario.watched();
    (0..scenario.station.len())
        .map(|station| {
            steps.iter().any(|path| {
                let place = |of: usize| path.iter().position(|step| step.contains(&of));
                matches!((place(station), place(watched)), (Some(own), Some(end)) if own < end)
            })
        })
        .collect()
}
