//! Calls from one tier to the next, as their callers make them: the library's, and what everybody has.

use super::client::{Answer, Kind, Logical, stamp};
use super::plain::Plain;
use super::world::{Happening, Id, Job, Root, World};
use crate::lab::queue::{SECOND, seconds};
use crate::lab::random::uniform;
use limiter_core::{GiveUp, Refusal, Slot, Step};

/// A call, with its attempts that are out.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) client: u32,
    pub(super) root: Root,
    pub(super) level: u32,
    /// The job that waits for it; a caller from outside if there is none.
    parent: Option<u32>,
    /// Asked instead of the path's station.
    instead: Option<usize>,
    /// Numbers of attempts, and when they were sent.
    pub(super) live: [Option<(u32, u64)>; 2],
    pub(super) state: State,
}

#[derive(Debug)]
pub(super) enum State {
    Plain(Plain),
    Ours(Box<Logical>),
    /// In line for a slot of its dependency, until then.
    Line(Box<Logical>, u64),
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Good,
    Permanent,
    /// Somebody said no, here or there.
    Refused,
    /// No time was left.
    Late,
    Failed,
}

impl World<'_> {
    /// A call for a request begins: at step `level` of its path, for the job `parent`.
    pub(super) fn call(
        &mut self,
        client: u32,
        root: Root,
        level: u32,
        parent: Option<u32>,
        now: u64,
    ) {
        // Whoever waits for it waits no longer than this.
        let until = match parent.and_then(|job| self.jobs.current(job)) {
            Some(job) => job.deadline.min(root.deadline),
            None => root.deadline,
        };
        self.begin(client, root, level, parent, None, until, now);
    }

    #[allow(clippy::too_many_arguments, reason = "all that a call is")]
    fn begin(
        &mut self,
        index: u32,
        root: Root,
        level: u32,
        parent: Option<u32>,
        instead: Option<usize>,
        until: u64,
        now: u64,
    ) {
        let client = &self.clients[index as usize];
        let state = match &client.kind {
            Kind::Library(ours) => {
                if client.fallback.is_some() {
                    ours.deposit();
                }
                let left = until.saturating_sub(now);
                State::Ours(Box::new(ours.begin(
                    &client.calls,
                    left,
                    instead.is_some(),
                    now,
                )))
            }
            _ => State::Plain(Plain::default()),
        };
        let id = self.calls.add(Call {
            client: index,
            root,
            level,
            parent,
            instead,
            live: [None, None],
            state,
        });
        if matches!(self.clients[index as usize].kind, Kind::Library(_)) {
            self.drive(id, None, now);
        } else {
            self.begin_plain(id, now);
        }
    }

    /// Sends an attempt of a call.
    pub(super) fn send(&mut self, id: Id, number: u32, deadline: u64, now: u64) {
        let Some(call) = self.calls.get(id) else {
            return;
        };
        if let Some(free) = call.live.iter_mut().find(|live| live.is_none()) {
            *free = Some((number, now));
        }
        let (client, root, level, instead) = (call.client, call.root, call.level, call.instead);
        let path = &self.wiring.steps[root.fleet as usize];
        let (station, level) = match instead {
            // Nothing comes behind it.
            Some(station) => (station, path.len() as u32),
            None => {
                let stations = &path[level as usize];
                let draw = uniform(&mut self.random);
                let weights = stations.iter().map(|&one| self.conditions.weight[one]);
                let mut rest = draw * weights.clone().sum::<f64>();
                let mut chosen = stations.iter().zip(weights);
                let chosen = chosen.find(|(_, weight)| {
                    rest -= weight;
                    rest < 0.0
                });
                (chosen.map_or(stations[0], |one| *one.0), level)
            }
        };
        let instances = self.scenario.station[station].instances;
        let instance = (uniform(&mut self.random) * f64::from(instances)) as usize;
        // What falls back to it is no attempt of a request that needs it, and has its own budget.
        if self.alike[station] && instead.is_none() {
            super::tally::count(&mut self.tally.attempts, root.began);
        }
        let job = self.jobs.add(Job {
            call: id,
            client,
            number,
            root,
            level,
            process: (self.first[station] + instance) as u32,
            sent: now,
            deadline,
            token: super::process::Token::None,
        });
        self.queue
            .push(now + self.network, Happening::Deliver(job.0));
    }

    /// An answer is back at its caller, if that still waits.
    pub(super) fn reply(&mut self, index: u32, answer: Answer, now: u64) {
        let Some(job) = self.jobs.remove(index) else {
            return;
        };
        let Some(call) = self.calls.get(job.call) else {
            return;
        };
        let live = call.live.iter_mut();
        let Some(live) = live
            .into_iter()
            .find(|live| live.is_some_and(|one| one.0 == job.number))
        else {
            return;
        };
        *live = None;
        match &mut call.state {
            State::Plain(_) => self.answered_plain(job.call, answer, now),
            State::Ours(logical) | State::Line(logical, _) => {
                let ending = answer.ending(self.scenario.protocol);
                let Kind::Library(ours) = &self.clients[call.client as usize].kind else {
                    return;
                };
                logical.finish(job.number, ending, stamp(now), ours.word());
                self.drive(job.call, None, now);
            }
        }
    }

    pub(super) fn wake(&mut self, id: Id, now: u64) {
        let Some(call) = self.calls.get(id) else {
            return;
        };
        match &call.state {
            State::Plain(_) => self.wake_plain(id, now),
            State::Ours(_) => self.drive(id, None, now),
            State::Line(_, until) if now >= *until => {
                let client = call.client;
                self.out_of_line(id);
                if let Kind::Library(ours) = &mut self.clients[client as usize].kind {
                    ours.leave(id);
                }
                self.drive(id, None, now);
            }
            State::Line(..) => {}
        }
    }

    fn out_of_line(&mut self, id: Id) {
        if let Some(call) = self.calls.get(id) {
            let state = std::mem::replace(&mut call.state, State::Plain(Plain::default()));
            call.state = match state {
                State::Line(logical, _) => State::Ours(logical),
                other => other,
            };
        }
    }

    /// Does what a call of the library says.
    fn drive(&mut self, id: Id, mut slot: Option<Slot>, now: u64) {
        let mut wake = false;
        let Some(index) = self.calls.get(id).map(|call| call.client) else {
            return;
        };
        while let Some(call) = self.calls.get(id) {
            let (State::Ours(logical), Kind::Library(ours)) =
                (&mut call.state, &mut self.clients[index as usize].kind)
            else {
                break;
            };
            let step = match slot.take() {
                Some(slot) => logical.step_with(slot, stamp(now), ours.word()),
                None => logical.step(stamp(now), ours.word()),
            };
            wake |= logical.take_events().wake;
            match step {
                Step::Attempt(attempt) => {
                    self.send(id, attempt.number, attempt.deadline.ticks(), now);
                }
                Step::Cancel(number) => {
                    let live = call.live.iter_mut();
                    live.filter(|live| live.is_some_and(|one| one.0 == number))
                        .for_each(|live| *live = None);
                }
                Step::Running(at) | Step::Wait(at) => {
                    self.queue
                        .push(at.ticks().max(now + 1), Happening::Wake(id));
                    break;
                }
                Step::Done => {
                    self.over(id, Ended::Good, now);
                    break;
                }
                Step::GiveUp(GiveUp::Refused(Refusal::Limiter(_))) if ours.wait(id, now) => {
                    let left = logical.carried(stamp(now)).left;
                    let until = now + seconds(left.as_secs_f64()).max(1);
                    let state = std::mem::replace(&mut call.state, State::Plain(Plain::default()));
                    if let State::Ours(logical) = state {
                        call.state = State::Line(logical, until);
                    }
                    self.queue.push(until, Happening::Wake(id));
                    break;
                }
                Step::GiveUp(why) => {
                    let ended = match why {
                        GiveUp::Permanent => Ended::Permanent,
                        GiveUp::Refused(_) | GiveUp::ToldNotTo | GiveUp::Exhausted(_) => {
                            Ended::Refused
                        }
                        GiveUp::Deadline => Ended::Late,
                        _ => Ended::Failed,
                    };
                    self.over(id, ended, now);
                    break;
                }
            }
        }
        if wake {
            self.serve(index, now);
        }
    }

    /// Gives free slots to those in line.
    fn serve(&mut self, index: u32, now: u64) {
        loop {
            let Kind::Library(ours) = &mut self.clients[index as usize].kind else {
                return;
            };
            let Some((id, slot)) = ours.serve(now) else {
                return;
            };
            self.out_of_line(id);
            self.drive(id, Some(slot), now);
        }
    }

    /// A call is over: something else is tried, or whoever waits for it hears.
    pub(super) fn over(&mut self, id: Id, ended: Ended, now: u64) {
        let Some(call) = self.calls.remove(id.0) else {
            return;
        };
        let client = &self.clients[call.client as usize];
        let ours = matches!(client.kind, Kind::Library(_));
        let (root, parent) = (call.root, call.parent);
        if let (Some((station, other)), true) = (client.fallback, ended != Ended::Good) {
            let may = match &client.kind {
                Kind::Library(ours) => ended != Ended::Permanent && ours.may_fall_back(now),
                _ => !client.calls.fallback_is_new,
            };
            let until = root.deadline.max(now + SECOND / 1_000);
            if may && now < root.deadline {
                self.begin(other, root, call.level, parent, Some(station), until, now);
                return;
            }
        }
        match parent {
            None => {
                let degraded = call.instead.is_some();
                let refused = ended == Ended::Refused;
                self.conclude(root, ended == Ended::Good, refused, degraded, now);
            }
            Some(job) => {
                let answer = match ended {
                    Ended::Good => Answer::Good,
                    Ended::Permanent => Answer::Permanent,
                    // A tier with the library refuses what was refused to it.
                    Ended::Refused if ours => Answer::Refused,
                    Ended::Late if ours => Answer::Late,
                    Ended::Refused | Ended::Failed | Ended::Late => Answer::Unavailable,
                };
                self.finish_job(job, answer, now);
            }
        }
    }
}
