//! The knee of the throughput curve, found by comparing two nearby limits.

mod overload;
mod phase;
mod search;
mod state;
mod track;

use super::{Decision, Law, Reason, Window, math};
use crate::error::ConfigError;
use state::{Mode, Phase, State, THIRD, WORDS, approach};

/// Moves the limit to where more concurrency stops buying throughput. The default law.
///
/// Phases alternate between a limit a little above and a little below: a tenth at a limit of 16, by the
/// square root of the limit. From the throughput `X` and the mean RTT `R` of the two it estimates the
/// elasticity `e = dlnX / dlnL = 1 - dlnR / dlnL`: 1 while more concurrency still buys throughput, 0 once it
/// only buys queueing, negative under thrash. The limit moves until `e` meets a small target. There is no
/// baseline that could be poisoned, and a dependency that gets slower but not fuller keeps its throughput,
/// because the limit follows.
///
/// With a wall clock ([`Limiter::set_wall_offset`](crate::Limiter::set_wall_offset)) the phases are the
/// even and odd multiples of a period of UTC, so that all limiters in front of one server raise and lower
/// together and each measures the elasticity of all of them. Of two, the one with the smaller share moves by
/// the larger part of its own, sees more room, and gains on the other until their shares are equal.
///
/// Overloads cut the limit by half of their share. A share up to a tenth that a cut does not lower is not
/// of the limit's making: it is tolerated from then on.
///
/// Needs a limit of at least 4 to see differences clearly; it works below that, coarsely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knee {
    target_q8: i32,
    spread_per_mille: u32,
}

impl Knee {
    /// Target elasticity 0.12, spread a tenth.
    pub const fn new() -> Self {
        Self {
            target_q8: 31,
            spread_per_mille: 100,
        }
    }

    /// The elasticity at which the limit rests, per mille, 10 to 900: more gives shorter queues and less
    /// throughput.
    ///
    /// # Errors
    ///
    /// Outside that range.
    pub const fn target(mut self, per_mille: u32) -> Result<Self, ConfigError> {
        if let Err(error) = ConfigError::check("knee.target", per_mille as u64, 10, 900) {
            return Err(error);
        }
        self.target_q8 = ((per_mille * 256 + 500) / 1000) as i32;
        Ok(self)
    }

    /// How far the two limits are from the middle when that is 16, per mille, 20 to 300; at other limits by
    /// the square root.
    ///
    /// # Errors
    ///
    /// Outside that range.
    pub const fn spread(mut self, per_mille: u32) -> Result<Self, ConfigError> {
        if let Err(error) = ConfigError::check("knee.spread", per_mille as u64, 20, 300) {
            return Err(error);
        }
        self.spread_per_mille = per_mille;
        Ok(self)
    }
}

impl Default for Knee {
    fn default() -> Self {
        Self::new()
    }
}

impl Law for Knee {
    type State = [u32; WORDS];

    fn on_window(&self, words: &mut [u32; WORDS], window: &Window) -> Decision {
        let mut state = State::read(words);
        if state.middle == 0 {
            state.begin(window);
        }
        let before = state.middle;
        let reason = match state.overloads(self, window) {
            Some(cut) => cut,
            None => state.learn(self, window),
        };
        let floor = window.min.saturating_mul(256);
        let ceiling = window.max.saturating_mul(256);
        // The higher limit has to fit below the maximum, or there would be nothing to compare: also the spread of the
        // maximum, or of two cuts the deeper one could end higher.
        let most = ceiling.saturating_sub(state.spread_at(ceiling, self));
        state.middle = state.middle.min(most).max(floor);
        let (limit, next) = state.next_phase(self, window);
        // Whichever phase is next: a cut is never up, and demand that did not reach the limit needs no more.
        let limit = if reason == Reason::CutOverload {
            let below = window.limit.saturating_sub(1).max(window.min);
            (state.middle >> 8).min(below).max(1)
        } else if window.limited() {
            limit
        } else {
            limit.min(window.limit)
        };
        let reason = said(reason, before, state.middle, window.limit, limit);
        state.write(words);
        Decision::new(limit, reason).then(next)
    }

    fn on_set(&self, words: &mut [u32; WORDS], limit: u32) {
        let mut state = State::read(words);
        if state.middle != 0 {
            state.middle = limit.saturating_mul(256);
            // Nobody knows where the knee is from there: a breaker that closes starts from a quarter.
            state.start(Mode::Ramp);
            state.write(words);
        }
    }
}

/// The alternation moves the limit too: a reason that names a direction is given only when the limit went
/// that way.
fn said(reason: Reason, before: u32, middle: u32, from: u32, to: u32) -> Reason {
    match reason {
        Reason::Grew if middle < before || to < from => Reason::Probing,
        Reason::CutLatency if middle > before || to > from => Reason::Probing,
        Reason::HeldSteady | Reason::HeldNotLimited | Reason::HeldTooFewSamples if to != from => {
            Reason::Probing
        }
        reason => reason,
    }
}

impl State {
    fn begin(&mut self, window: &Window) {
        self.middle = window.limit.saturating_mul(256);
        self.exponent = phase::FIRST;
        self.start(Mode::Ramp);
    }

    /// Takes what the closed window showed into the middle.
    fn learn(&mut self, law: &Knee, window: &Window) -> Reason {
        if window.successes < LEAST_PHASE {
            return Reason::HeldTooFewSamples;
        }
        // Three quarters of the limit, on average, but for a quarter of a slot: a single one that is asked
        // for all the time stands empty between two arrivals.
        let slots = math::quotient(window.inflight_avg_q8.saturating_add(64), 192);
        let full = slots >= window.limit;
        let phase = Phase::of(window);
        if !full || !window.limited() {
            return self.idle(window, phase);
        }
        if let Some(reason) = self.onset(law, phase) {
            return reason;
        }
        self.choose_period(window);
        match self.mode {
            Mode::Ramp => self.ramp(phase, window.successes),
            Mode::Search if self.step == 0 && self.is_way_back(phase) => {
                self.have = false;
                self.multiply()
            }
            _ => self.compare(law, phase, window),
        }
    }

    /// A phase that was not full teaches nothing about the knee.
    fn idle(&mut self, window: &Window, phase: Phase) -> Reason {
        let rtt = phase.rtt;
        // The lower limit before this one was full.
        let between = self.have && phase.inflight > self.other.inflight;
        self.have = false;
        if rtt < self.knee_rtt + QUEUE {
            self.usual_rate = approach(self.usual_rate, phase.rate, 4);
        }
        self.onset = ONSET;
        if self.mode == Mode::Search {
            self.track(THIRD);
        }
        let wanted = if window.limited() {
            // Peaks were refused on average far below the limit: more room for peaks.
            !window.few()
        } else {
            // Without a queue of our own making: what the knee's RTT will be about.
            self.knee_rtt = approach(self.knee_rtt, rtt, 4);
            // Demand between the two limits: the lower one refuses, and no pair will ever show what that costs.
            between
        };
        if wanted && !self.bloat(phase) {
            self.middle = self.middle.saturating_add(math::isqrt(self.middle) * 4);
            return Reason::Grew;
        }
        Reason::HeldNotLimited
    }
}

/// So many full phases after one that was not may show where the queue began.
const ONSET: u32 = 2;
/// log2 of 1.15 in Q16: an RTT above the knee's by more is a queue.
const QUEUE: i32 = 13_215;
/// Fewer successes than this are no phase.
const LEAST_PHASE: u32 = 6;
