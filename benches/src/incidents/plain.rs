//! Calls without the library: time-outs, hedges, retries; by hand with a budget, a breaker and back-off.

use super::calls::{Ended, State};
use super::client::{Answer, Kind};
use super::world::{Happening, Id, World};
use crate::lab::queue::{MILLI, NEVER, SECOND, millis};
use crate::lab::random::uniform;

/// Where such a call is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    attempts: u32,
    hedged: bool,
    /// When the next attempt is due.
    due: u64,
}

impl Default for Plain {
    fn default() -> Self {
        Self {
            attempts: 0,
            hedged: false,
            due: NEVER,
        }
    }
}

/// Back-off by hand: full jitter in a window that doubles, as in the SDKs of AWS.
const FIRST: u64 = 100 * MILLI;
const LONGEST: u64 = 20 * SECOND;

impl World<'_> {
    fn plain(&mut self, id: Id) -> Option<(&mut Plain, u32)> {
        let call = self.calls.get(id)?;
        match &mut call.state {
            State::Plain(plain) => Some((plain, call.client)),
            _ => None,
        }
    }

    pub(super) fn begin_plain(&mut self, id: Id, now: u64) {
        let Some((_, client)) = self.plain(id) else {
            return;
        };
        if let Kind::ByHand(hand) = &self.clients[client as usize].kind {
            hand.deposit();
        }
        self.attempt_plain(id, now);
    }

    /// Sends the next attempt.
    fn attempt_plain(&mut self, id: Id, now: u64) {
        let Some((plain, client)) = self.plain(id) else {
            return;
        };
        plain.attempts += 1;
        plain.due = NEVER;
        let number = plain.attempts;
        let client = &self.clients[client as usize];
        if let Kind::ByHand(hand) = &client.kind {
            if !hand.permits() {
                self.over(id, Ended::Refused, now);
                return;
            }
        }
        let deadline = now + millis(client.calls.timeout_ms);
        let hedge = client.calls.hedge_ms.map(|ms| now + millis(ms));
        self.send(id, number, deadline, now);
        self.queue.push(deadline, Happening::Wake(id));
        if let Some(at) = hedge.filter(|&at| at < deadline) {
            self.queue.push(at, Happening::Wake(id));
        }
    }

    pub(super) fn wake_plain(&mut self, id: Id, now: u64) {
        let Some((plain, client)) = self.plain(id) else {
            return;
        };
        if now >= plain.due {
            self.attempt_plain(id, now);
            return;
        }
        let hedged = plain.hedged;
        let client = &self.clients[client as usize];
        let timeout = millis(client.calls.timeout_ms);
        let hedge = client.calls.hedge_ms.map(millis).filter(|_| !hedged);
        let Some(call) = self.calls.get(id) else {
            return;
        };
        let mut late = false;
        for live in &mut call.live {
            if live.is_some_and(|one| now - one.1 >= timeout) {
                *live = None;
                late = true;
            }
        }
        let alone = call.live.iter().flatten().count() == 1;
        let old = |after| call.live.iter().flatten().any(|one| now - one.1 >= after);
        let hedges = alone && hedge.is_some_and(old);
        if late {
            self.failed_plain(id, false, now);
        } else if hedges {
            if let Some((plain, _)) = self.plain(id) {
                plain.hedged = true;
            }
            self.attempt_plain(id, now);
        }
    }

    pub(super) fn answered_plain(&mut self, id: Id, answer: Answer, now: u64) {
        let Some((_, client)) = self.plain(id) else {
            return;
        };
        let client = &self.clients[client as usize];
        match answer {
            Answer::Good => {
                if let Kind::ByHand(hand) = &client.kind {
                    hand.ended(true);
                }
                self.over(id, Ended::Good, now);
            }
            Answer::Permanent => {
                let again = client.calls.retries_permanent;
                if let Kind::ByHand(hand) = &client.kind {
                    // The dependency works: it says that the request is wrong.
                    hand.ended(true);
                    self.over(id, Ended::Permanent, now);
                } else if again {
                    self.failed_plain(id, false, now);
                } else {
                    self.over(id, Ended::Permanent, now);
                }
            }
            Answer::Refused | Answer::Away => self.failed_plain(id, true, now),
            Answer::Failure | Answer::Unavailable | Answer::Late => {
                self.failed_plain(id, false, now)
            }
        }
    }

    /// An attempt failed or lasted too long: the next one, unless another is still out.
    fn failed_plain(&mut self, id: Id, refused: bool, now: u64) {
        let Some(call) = self.calls.get(id) else {
            return;
        };
        let out = call.live.iter().any(Option::is_some);
        let deadline = call.root.deadline;
        let Some((plain, index)) = self.plain(id) else {
            return;
        };
        let attempts = plain.attempts;
        let client = &self.clients[index as usize];
        if let Kind::ByHand(hand) = &client.kind {
            hand.ended(false);
        }
        if out {
            return;
        }
        let ended = if refused {
            Ended::Refused
        } else {
            Ended::Failed
        };
        if attempts >= client.attempts() {
            self.over(id, ended, now);
            return;
        }
        let wait = match &client.kind {
            Kind::ByHand(hand) => {
                let window = FIRST
                    .saturating_mul(1 << (attempts - 1).min(16))
                    .min(LONGEST);
                let wait = (uniform(&mut self.random) * window as f64) as u64;
                // A careful team does not try for longer than anybody waits.
                if now + wait >= deadline || !hand.withdraw() {
                    self.over(id, ended, now);
                    return;
                }
                wait
            }
            _ => millis(client.calls.backoff_ms),
        };
        if let Some((plain, _)) = self.plain(id) {
            plain.due = now + wait.max(1);
            let due = plain.due;
            self.queue.push(due, Happening::Wake(id));
        }
    }
}
