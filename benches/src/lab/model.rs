//! A model as data: a server, the path to it and its callers, phase after phase.

use super::arrivals::Stretch;
use super::gate::Clock;
use super::queue::{MILLI, SECOND, millis, seconds};
use super::random::{Shape, stream, uniform};
use super::server::{Condition, Pauses};

/// One server and those who call it.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its name in tables and on the command line.
    pub name: String,
    /// What it shows.
    pub about: String,
    /// What happens, in order. Never empty.
    pub phases: Vec<Phase>,
    /// Who calls.
    pub callers: Callers,
    /// Requests arrive in batches of this many.
    pub batch: u32,
    /// A caller gives up after so long and takes it for an overload.
    pub deadline_ms: f64,
    /// A caller goes away after so long, which is nobody's overload.
    pub cancel_ms: Option<f64>,
    /// The server's queue.
    pub backlog: u32,
    /// The server has a limiter of its own, of the default law.
    pub guarded: bool,
    /// So noisy that a law may lose a little more.
    pub noisy: bool,
}

/// What the server and the load are like for a while. What has an `_end` moves there evenly.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its name in tables.
    pub name: String,
    /// How long it lasts.
    pub seconds: f64,
    /// Requests per second from all callers.
    pub rate: f64,
    /// Requests worked on at once.
    pub slots: u32,
    /// Where `slots` moves to.
    pub slots_end: Option<u32>,
    /// Mean service time.
    pub service_ms: f64,
    /// Where `service_ms` moves to.
    pub service_end_ms: Option<f64>,
    /// How service times spread.
    pub shape: Shape,
    /// Mean delay outside the server, log-normal with sigma 0.2.
    pub delay_ms: f64,
    /// How much longer work takes for each time that the slots are taken over again by waiting work.
    pub contention: f64,
    /// The server answers with an overload at once while so many are in it.
    pub refuse_at: Option<u32>,
    /// The share of requests that fail as an overload for no reason.
    pub stray: f64,
    /// `(every, for)` in ms: the server stands still regularly.
    pub pauses_ms: Option<(f64, f64)>,
    /// No answer arrives before the phase ends.
    pub silent: bool,
    /// It begins with a step, after which a law has to settle.
    pub step: bool,
    /// How long that may take, where it is not 10 s or 40 round trips, whichever is longer.
    pub bound_ms: Option<f64>,
}

/// Those who call, each with a limiter.
#[derive(Clone, Debug)]
pub struct Callers {
    /// How many.
    pub count: u32,
    /// Their clocks are up to this far apart.
    pub skew_ms: f64,
    /// Whether their limiters are told the wall clock.
    pub wall: bool,
    /// `(how many, when in s)`: some call from then on only.
    pub late: Option<(u32, f64)>,
    /// `(how many, ms)`: answers to some take longer.
    pub far: Option<(u32, f64)>,
    /// `(how many, what)`: some run something else.
    pub strangers: Option<(u32, Stranger)>,
}

/// What a caller may run instead of the law that is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stranger {
    /// Vegas as its authors ship it.
    Vegas,
    /// A limit that never moves.
    Fixed(u32),
}

impl Default for Phase {
    /// 16 slots of 20 ms, log-normal, at three times their capacity for a minute.
    fn default() -> Self {
        Self {
            name: String::from("steady"),
            seconds: 60.0,
            rate: 2_400.0,
            slots: 16,
            slots_end: None,
            service_ms: 20.0,
            service_end_ms: None,
            shape: Shape::LogNormal { sigma: 0.5 },
            delay_ms: 0.0,
            contention: 0.0,
            refuse_at: None,
            stray: 0.0,
            pauses_ms: None,
            silent: false,
            step: true,
            bound_ms: None,
        }
    }
}

impl Default for Model {
    /// One caller in front of the default phase, with a deadline of 25 mean service times.
    fn default() -> Self {
        Self {
            name: String::new(),
            about: String::new(),
            phases: vec![Phase::default()],
            callers: Callers::default(),
            batch: 1,
            deadline_ms: 500.0,
            cancel_ms: None,
            backlog: 10_000,
            guarded: false,
            noisy: false,
        }
    }
}

impl Default for Callers {
    /// One, with a wall clock, as a server has one.
    fn default() -> Self {
        Self {
            count: 1,
            skew_ms: 0.0,
            wall: true,
            late: None,
            far: None,
            strangers: None,
        }
    }
}

/// The longest clock offset at true time 0: an hour.
const BOOT_SECONDS: f64 = 3_600.0;
/// The purpose of the callers' random numbers.
const CALLERS: u64 = 2;

impl Phase {
    /// What the server is like when `passed` (0 to 1) of the phase is over.
    pub fn condition(&self, passed: f64) -> Condition {
        let between = |from: f64, to: f64| from + (to - from) * passed;
        let slots = f64::from(self.slots);
        let slots = between(slots, self.slots_end.map_or(slots, f64::from));
        let service = between(
            self.service_ms,
            self.service_end_ms.unwrap_or(self.service_ms),
        );
        Condition {
            slots: slots.round().max(1.0) as u32,
            service: service * MILLI as f64,
            shape: self.shape,
            contention: self.contention,
            refuse_at: self.refuse_at.unwrap_or(u32::MAX),
            pauses: self.pauses_ms.map(|(every, length)| Pauses {
                every: millis(every),
                length: millis(length),
            }),
        }
    }

    /// How long a law may take to settle after its step, when a round trip takes `rtt` ns; 0 without a step.
    pub fn bound(&self, rtt: u64) -> u64 {
        match self.bound_ms {
            _ if !self.step => 0,
            Some(ms) => millis(ms),
            None => (40 * rtt).max(10 * SECOND),
        }
    }

    /// What it is asked for over what it can do.
    pub fn utilisation(&self) -> f64 {
        self.rate * self.service_ms / 1e3 / f64::from(self.slots.max(1))
    }

    /// Whether the server and the load are the same as in `other`, and stay so.
    pub fn is_like(&self, other: &Self) -> bool {
        let essence = |phase: &Self| Self {
            name: String::new(),
            seconds: 0.0,
            step: false,
            bound_ms: None,
            ..phase.clone()
        };
        !self.moves() && essence(self) == essence(other)
    }

    /// Whether the server changes while it lasts.
    pub fn moves(&self) -> bool {
        self.slots_end.is_some() || self.service_end_ms.is_some()
    }
}

impl Model {
    /// When phase `index` begins, in ns; the end for the number of phases.
    pub fn start_of(&self, index: usize) -> u64 {
        self.phases[..index]
            .iter()
            .map(|phase| seconds(phase.seconds))
            .sum()
    }

    /// When everything is over, in ns.
    pub fn end(&self) -> u64 {
        self.start_of(self.phases.len())
    }

    /// The phase at `now`, and when it ends.
    pub fn phase_at(&self, now: u64) -> (usize, u64) {
        let mut until = 0;
        for (index, phase) in self.phases.iter().enumerate() {
            until += seconds(phase.seconds);
            if now < until {
                return (index, until);
            }
        }
        (self.phases.len() - 1, until)
    }

    /// The load as the arrival process takes it.
    pub fn stretches(&self) -> Vec<Stretch> {
        self.phases
            .iter()
            .enumerate()
            .map(|(index, phase)| Stretch {
                until: self.start_of(index + 1),
                rate: phase.rate,
            })
            .collect()
    }

    /// The clocks of the callers in the run with `seed`.
    pub fn clocks(&self, seed: u64) -> Vec<Clock> {
        let mut random = stream(seed, CALLERS);
        (0..self.callers.count)
            .map(|_| {
                let boot = seconds(uniform(&mut random) * BOOT_SECONDS);
                let skew = millis(uniform(&mut random) * self.callers.skew_ms);
                Clock {
                    boot,
                    wall: self.callers.wall.then_some(skew),
                }
            })
            .collect()
    }
}
