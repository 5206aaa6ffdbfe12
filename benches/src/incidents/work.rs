//! What processes do with attempts.

use super::client::Answer;
use super::tally::count;
use super::world::{Happening, World};
use crate::lab::random::uniform;
use limiter_core::Outcome;

impl World<'_> {
    /// An attempt reaches its process, which lets it in or not.
    pub(super) fn deliver(&mut self, index: u32, now: u64) {
        let Some(job) = self.jobs.current(index) else {
            return;
        };
        let place = job.process as usize;
        let process = &mut self.processes[place];
        let station = process.station;
        let late = process.reads_deadlines() && job.deadline <= now;
        if station == self.watched {
            count(&mut self.tally.arrived, now);
        }
        let token = if late {
            None
        } else {
            process.admit(job.client, now)
        };
        match token {
            Some(token) => {
                job.token = token;
                process.enter(index);
                self.start_waiting(place, now);
            }
            None => {
                let answer = process.refused(self.conditions.service[station] * 1e6, now);
                let heard = (now + self.network - job.sent) / 1_000;
                let heard = u32::try_from(heard).unwrap_or(u32::MAX);
                self.tally.refusal_us.push(heard);
                self.queue
                    .push(now + self.network, Happening::Reply(index, answer));
            }
        }
    }

    /// Starts what waits, as long as there are slots.
    pub(super) fn start_waiting(&mut self, place: usize, now: u64) {
        let station = self.processes[place].station;
        while let Some(index) = self.processes[place].next() {
            let Some(job) = self.jobs.current(index) else {
                continue;
            };
            let process = &mut self.processes[place];
            if job.deadline <= now && process.reads_deadlines() {
                // Nobody waits for it any more, and its work is not begun.
                let token = std::mem::take(&mut job.token);
                process.settle(token, Outcome::Cancelled, now);
                self.queue
                    .push(now + self.network, Happening::Reply(index, Answer::Failure));
                continue;
            }
            self.tally.worked += 1;
            self.tally.wasted += u32::from(job.deadline <= now);
            let mark = job.root.mark ^ (u64::from(job.number) << 32) ^ (station as u64) << 48;
            let service = self.conditions.service[station];
            let takes = process.start(&self.scenario.station[station], service, mark, now);
            self.queue.push(now + takes, Happening::Worked(index));
        }
    }

    /// A process has done its own work on an attempt: the next tier, or an answer.
    pub(super) fn worked(&mut self, index: u32, now: u64) {
        let Some(job) = self.jobs.current(index) else {
            return;
        };
        let (root, level, place) = (job.root, job.level as usize, job.process as usize);
        let station = self.processes[place].station;
        let fails = self.conditions.fails[station];
        if fails > 0.0 && uniform(&mut self.random) < fails {
            self.finish_job(index, Answer::Failure, now);
            return;
        }
        let path = &self.wiring.steps[root.fleet as usize];
        match path.get(level + 1) {
            Some(next) => match self.wiring.of_process(place, next) {
                Some(client) => self.call(client, root, level as u32 + 1, Some(index), now),
                None => self.finish_job(index, Answer::Failure, now),
            },
            None if root.permanent => self.finish_job(index, Answer::Permanent, now),
            None => self.finish_job(index, Answer::Good, now),
        }
    }

    /// A process is done with an attempt, with everything behind it.
    pub(super) fn finish_job(&mut self, index: u32, answer: Answer, now: u64) {
        let Some(job) = self.jobs.current(index) else {
            return;
        };
        let (place, token) = (job.process as usize, std::mem::take(&mut job.token));
        let outcome = match answer {
            Answer::Good => Outcome::Success,
            // The work was done: the request was wrong.
            Answer::Permanent => Outcome::Ignored,
            _ => Outcome::Failure,
        };
        let process = &mut self.processes[place];
        process.leave();
        process.settle(token, outcome, now);
        self.queue
            .push(now + self.network, Happening::Reply(index, answer));
        self.start_waiting(place, now);
    }
}
