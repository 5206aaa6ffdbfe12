//! The event loop: requests from outside, calls between tiers, work, and the timeline.

use super::client::{Answer, Client};
use super::hand::Hands;
use super::process::{Process, Token};
use super::scenario::{Fleet, Scenario};
use super::setting::{Mode, Setting};
use super::slab::Slab;
use super::tally::{FleetTally, Tally, count, in_millis};
use super::timeline::{Conditions, Timeline};
use crate::lab::queue::{EventQueue, NEVER, millis, seconds};
use crate::lab::random::{Random, exponential, stream, uniform};
use rand_distr::{Distribution, StandardUniform};

/// Purposes of random numbers: what callers do outside, and everything else.
const OUTSIDE: u64 = 10;
const INSIDE: u64 = 11;

/// A call or a job: its number, and which of those that had the number.
pub(super) type Id = (u32, u32);

#[derive(Clone, Copy, Debug)]
pub(super) enum Happening {
    /// A request of a fleet arrives.
    Arrive(u32),
    /// A caller's session is over, or it asks again.
    Connect(u32, u32, u32),
    /// An attempt reaches its process.
    Deliver(u32),
    /// A process has done its own work.
    Worked(u32),
    /// An answer is back.
    Reply(u32, Answer),
    /// A call wants to be asked again.
    Wake(Id),
}

/// What a request from outside is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    pub(super) fleet: u32,
    pub(super) caller: u32,
    pub(super) began: u64,
    pub(super) deadline: u64,
    pub(super) mark: u64,
    pub(super) permanent: bool,
}

/// An attempt at a process.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) call: Id,
    /// Who sends it.
    pub(super) client: u32,
    pub(super) number: u32,
    pub(super) root: Root,
    /// Which step of the path.
    pub(super) level: u32,
    pub(super) process: u32,
    pub(super) sent: u64,
    pub(super) deadline: u64,
    pub(super) token: Token,
}

pub(super) struct World<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) conditions: Conditions,
    timeline: Timeline,
    pub(super) queue: EventQueue<Happening>,
    pub(super) random: Random,
    outside: Vec<Random>,
    pub(super) processes: Vec<Process>,
    /// The first process of each station.
    pub(super) first: Vec<usize>,
    pub(super) clients: Vec<Client>,
    pub(super) wiring: super::wiring::Wiring,
    pub(super) calls: Slab<super::calls::Call>,
    pub(super) jobs: Slab<Job>,
    /// The generation of each caller's session, by fleet.
    pub(super) sessions: Vec<Vec<u32>>,
    pub(super) watched: usize,
    /// It and its alternatives in any path.
    pub(super) alike: Vec<bool>,
    /// Whether the fleet's path goes through the watched station.
    pub(super) needs: Vec<bool>,
    pub(super) network: u64,
    pub(super) tally: Tally,
}

/// Runs a scenario.
///
/// # Errors
///
/// When the operating system gives no runtime for the clocks of others.
pub fn run(scenario: &Scenario, setting: Setting) -> std::io::Result<Tally> {
    if setting.mode == Mode::ByHand {
        super::hand::with_clocks(|hands| World::new(scenario, setting).run(Some(hands)))
    } else {
        Ok(World::new(scenario, setting).run(None))
    }
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario, setting: Setting) -> Self {
        let mut random = stream(setting.seed, INSIDE);
        let (processes, first, clients, wiring) =
            super::wiring::build(scenario, &setting, &mut random);
        let watched = scenario.watched();
        let fleets = scenario.fleet.iter();
        let needs = wiring.steps.iter();
        let needs = needs
            .map(|steps| steps.iter().flatten().any(|&station| station == watched))
            .collect();
        let alike = (0..scenario.station.len())
            .map(|station| {
                let mut steps = wiring.steps.iter().flatten();
                steps.any(|step| step.contains(&watched) && step.contains(&station))
            })
            .collect();
        let outside = (0_u64..).zip(fleets.clone());
        Self {
            conditions: Conditions::new(scenario),
            timeline: Timeline::new(scenario),
            queue: EventQueue::with_capacity(4096),
            random,
            outside: outside
                .map(|(index, _)| stream(setting.seed, OUTSIDE + 16 * (index + 1)))
                .collect(),
            processes,
            first,
            clients,
            wiring,
            calls: Slab::default(),
            jobs: Slab::default(),
            sessions: fleets
                .clone()
                .map(|fleet| vec![0; fleet.callers as usize])
                .collect(),
            watched,
            alike,
            needs,
            network: millis(scenario.network_ms),
            tally: Tally {
                fleets: fleets.map(|_| FleetTally::default()).collect(),
                ..Tally::default()
            },
            scenario,
        }
    }

    fn run(mut self, mut hands: Option<Hands<'_>>) -> Tally {
        let end = seconds(self.scenario.seconds);
        self.open();
        loop {
            let now = self.queue.next_at().min(self.timeline.next_at());
            if now >= end || now == NEVER {
                return self.tally;
            }
            if let Some(hands) = &mut hands {
                hands.advance(now);
            }
            if now == self.timeline.next_at() {
                self.change(now);
            } else if let Some((_, happening)) = self.queue.pop() {
                self.happen(happening, now);
            }
        }
    }

    fn happen(&mut self, happening: Happening, now: u64) {
        match happening {
            Happening::Arrive(fleet) => self.arrive(fleet, now),
            Happening::Connect(fleet, caller, generation) => {
                if self.sessions[fleet as usize][caller as usize] == generation {
                    self.connect(fleet, caller, now);
                }
            }
            Happening::Deliver(job) => self.deliver(job, now),
            Happening::Worked(job) => self.worked(job, now),
            Happening::Reply(job, answer) => self.reply(job, answer, now),
            Happening::Wake(call) => self.wake(call, now),
        }
    }

    /// The first arrivals, and the ends of the sessions that there are at the beginning.
    fn open(&mut self) {
        for (index, fleet) in (0_u32..).zip(&self.scenario.fleet) {
            match fleet.session_s {
                None => self.next_arrival(index, 0),
                Some(length) => {
                    for caller in 0..fleet.callers {
                        self.session(index, caller, length, 0);
                    }
                }
            }
        }
    }

    fn next_arrival(&mut self, fleet: u32, now: u64) {
        let rate = self.conditions.rate[fleet as usize];
        // A fleet that stands still is looked at again soon.
        let (gap, real) = if rate > 0.0 {
            (exponential(&mut self.outside[fleet as usize]) / rate, true)
        } else {
            (0.05, false)
        };
        if real || self.timeline.next_at() != NEVER {
            self.queue
                .push(now + seconds(gap), Happening::Arrive(fleet));
        }
    }

    fn arrive(&mut self, index: u32, now: u64) {
        let here = index as usize;
        if self.conditions.rate[here] > 0.0 && now > 0 {
            let callers = self.scenario.fleet[here].callers;
            let caller = (uniform(&mut self.outside[here]) * f64::from(callers)) as u32;
            self.request(index, caller.min(callers - 1), now);
        }
        self.next_arrival(index, now);
    }

    /// A session begins, and ends after a while.
    fn session(&mut self, fleet: u32, caller: u32, mean: f64, now: u64) {
        let length = mean * exponential(&mut self.outside[fleet as usize]);
        self.connect_after(fleet, caller, length, now);
    }

    fn connect_after(&mut self, fleet: u32, caller: u32, length: f64, now: u64) {
        let generation = &mut self.sessions[fleet as usize][caller as usize];
        *generation += 1;
        let connect = Happening::Connect(fleet, caller, *generation);
        self.queue.push(now + seconds(length), connect);
    }

    fn connect(&mut self, fleet: u32, caller: u32, now: u64) {
        // Nothing else of this caller is due until this one is over.
        self.sessions[fleet as usize][caller as usize] += 1;
        self.request(fleet, caller, now);
    }

    fn request(&mut self, index: u32, caller: u32, now: u64) {
        let here = index as usize;
        let fleet = &self.scenario.fleet[here];
        let random = &mut self.outside[here];
        let root = Root {
            fleet: index,
            caller,
            began: now,
            deadline: now + millis(fleet.deadline_ms),
            mark: StandardUniform.sample(random),
            permanent: uniform(random) < self.conditions.permanent[here],
        };
        let tally = &mut self.tally.fleets[here];
        count(&mut tally.begun, now);
        if root.permanent {
            count(&mut tally.hopeless, now);
        }
        if self.needs[here] {
            count(&mut self.tally.needs, now);
        }
        let client = self.wiring.of_caller(index, caller);
        self.call(client, root, 0, None, now);
    }

    /// A request from outside is over.
    pub(super) fn conclude(
        &mut self,
        root: Root,
        good: bool,
        refused: bool,
        degraded: bool,
        now: u64,
    ) {
        let here = root.fleet as usize;
        let tally = &mut self.tally.fleets[here];
        let in_time = good && now <= root.deadline;
        if in_time {
            count(&mut tally.good, now);
            count(&mut tally.kept, root.began);
        } else {
            tally.failed_ms.push(in_millis(now - root.began));
            tally.refused += u32::from(refused);
        }
        let fleet: &Fleet = &self.scenario.fleet[here];
        if let Some(length) = fleet.session_s {
            if good && !degraded {
                self.session(root.fleet, root.caller, length, now);
            } else {
                // Not all at the same time.
                let spread = 0.5 + uniform(&mut self.outside[here]);
                self.connect_after(root.fleet, root.caller, fleet.again_s * spread, now);
            }
        }
    }

    fn change(&mut self, now: u64) {
        let drops = self
            .timeline
            .apply(&mut self.conditions, self.scenario, now);
        for process in &mut self.processes {
            process.set_slots(self.conditions.slots[process.station]);
        }
        for index in 0..self.processes.len() {
            self.start_waiting(index, now);
        }
        for (fleet, share) in drops {
            for caller in 0..self.scenario.fleet[fleet].callers {
                if uniform(&mut self.outside[fleet]) < share {
                    self.connect_after(fleet as u32, caller, 0.0, now);
                }
            }
        }
    }
}
