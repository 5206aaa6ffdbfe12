//! The RTT without load, and the drains that measure it: shared by the laws that compare with a baseline.
//!
//! An RTT measured under load contains the queue that the law is there to find. So the baseline rises only
//! by a drain: the limit is halved for a moment, what was admitted before is skipped, and the mean of what
//! came after counts, if the load did go. Otherwise it only falls, slowly, and only in windows that were
//! limited: without demand the mix of requests is another.
//!
//! With a wall clock all limiters drain in the same instants, the first half second of its cycle of
//! [`WALL_SECONDS`]: many limiters in front of one server would else measure one another's queue. Alone,
//! after [`WAIT`] round trips, or when half of the limit is gone since the last.

use super::math::{div_rem, narrow};
use super::{Decision, Next, Reason, WALL_SECONDS, Window};
use crate::time::{TickRate, Ticks, Timestamp};

/// Between two drains of one's own, in sixteenths of the RTT spent at the limit: 120 round trips. A drain
/// takes 4 to 12 of them at half the limit, so it costs less than 5 % of the goodput.
const WAIT: u32 = 120 * 16;
/// What one window counts for at most: drains are at least 30 windows apart (as in Netflix's Vegas, whose
/// probes are `30 · limit` samples apart).
const WAIT_WINDOW: u32 = 4 * 16;
/// A drain's mean over so many successes counts in full, one over fewer in proportion: the mean of 24
/// exponential times is within a fifth in two of three cases.
const FULL_MEASURE: u32 = 24;
/// Round trips that a drain waits for that many successes at most.
const MEASURE_ROUND_TRIPS: u32 = 8;
/// Windows that want less than the smallest limit before the baseline is taken for stale, as in Envoy's
/// adaptive concurrency.
const FLOOR_WINDOWS: u32 = 5;

/// The state of the baseline: four words of a law's state.
#[derive(Clone, Copy)]
pub(super) struct Baseline {
    /// In ticks, 0 while unknown.
    pub(super) rtt: u64,
    /// The limit that the last drain went back to, or the one that runs will.
    resume: u32,
    /// A drain runs.
    draining: bool,
    /// Slow start is over.
    pub(super) ramped: bool,
    /// This cycle of the wall clock has had its drain.
    drained: bool,
    /// The baseline comes from a drain.
    measured: bool,
    /// Windows in a row that wanted less than the smallest limit.
    floor: u32,
    /// Until the next drain of one's own, in sixteenths of the RTT.
    wait: u32,
}

impl Baseline {
    pub(super) const WORDS: usize = 4;

    pub(super) fn read(&[low, high, resume, flags]: &[u32; Self::WORDS]) -> Self {
        Self {
            rtt: u64::from(high) << 32 | u64::from(low),
            resume,
            ramped: flags & 1 != 0,
            drained: flags & 2 != 0,
            measured: flags & 4 != 0,
            draining: flags & 8 != 0,
            floor: flags >> 8 & 0xff,
            wait: flags >> 16,
        }
    }

    pub(super) fn words(&self) -> [u32; Self::WORDS] {
        let flags = u32::from(self.ramped)
            | u32::from(self.drained) << 1
            | u32::from(self.measured) << 2
            | u32::from(self.draining) << 3
            | self.floor.min(0xff) << 8
            | self.wait.min(0xffff) << 16;
        [self.rtt as u32, (self.rtt >> 32) as u32, self.resume, flags]
    }

    /// Ends a drain without a result, if one runs; returns the limit to go on from.
    pub(super) fn abandon(&mut self, limit: u32) -> u32 {
        if core::mem::take(&mut self.draining) {
            self.wait = WAIT;
            self.resume
        } else {
            limit
        }
    }

    /// The limit was set by hand: a drain that runs is none any more.
    pub(super) fn set(&mut self, limit: u32) {
        self.draining = false;
        self.resume = limit;
    }

    /// Takes the result of the drain, if this window was one: the limit goes back to what it was.
    /// `healthy` is false when the RTT is known to be wrong, whatever the load.
    pub(super) fn end_drain(&mut self, window: &Window, healthy: bool) -> Option<Decision> {
        if !self.draining {
            return None;
        }
        let resume = self.abandon(0).min(window.max).max(window.min);
        // Half more than the limit, and one: what Little's law shows of a short window is rough.
        let most_q8 = u64::from(window.limit) * 384 + 256;
        let went = u64::from(window.inflight_avg_q8) <= most_q8;
        let rtt = window.rtt_mean.get();
        if went && healthy && !window.few() {
            self.measure(rtt, window.successes);
            self.floor = 0;
        }
        // The last digits of a mean keep limiters that started together from draining together, where
        // that is not wanted.
        self.wait = WAIT + (rtt as u32 & 127);
        let rtt = rtt.max(self.rtt);
        Some(Decision::new(resume, Reason::Probing).then(Next {
            settle: Ticks::new(rtt),
            length: Ticks::new(rtt.saturating_mul(2)),
            samples: window.min_samples,
        }))
    }

    fn measure(&mut self, rtt: u64, successes: u32) {
        let off = self.rtt.abs_diff(rtt);
        if !self.measured || self.stale() {
            self.rtt = rtt;
        } else {
            // Of 32; both are rounded up.
            let full = if off > self.noise() { 32 } else { 8 };
            let weight = u64::from((successes.min(FULL_MEASURE) * full).div_ceil(FULL_MEASURE));
            let step = (off >> 5) * weight + (((off & 31) * weight + 31) >> 5);
            if rtt > self.rtt {
                self.rtt += step;
            } else {
                self.rtt -= step;
            }
        }
        self.measured = true;
    }

    /// What a mean may be off by without a reason: an eighth. Followed at once, or downwards only, noise
    /// would be taken for a queue, which starves large limits.
    fn noise(&self) -> u64 {
        self.rtt >> 3
    }

    /// Lets the baseline fall by an eighth of the way to an RTT below it: one lucky window does not capture
    /// it. The first RTT stands in until the first drain.
    pub(super) fn lower(&mut self, rtt: u64) {
        if self.rtt == 0 {
            self.rtt = rtt;
        } else if self.rtt.saturating_sub(rtt) > self.noise() {
            self.rtt -= (self.rtt - rtt).div_ceil(8);
        }
    }

    /// Counts a window that wants less than the smallest limit (or not). After some of them the service is
    /// taken to have become slower for good, and measured again: without lowering the limit, for the least
    /// load that is allowed is all there is.
    pub(super) fn count_floor(&mut self, pinned: bool) {
        self.floor = if pinned { self.floor + 1 } else { 0 };
    }

    fn stale(&self) -> bool {
        self.floor >= FLOOR_WINDOWS
    }

    /// The law's decision, or a drain in its place, which leads to it. None while not `healthy`.
    pub(super) fn plan(&mut self, decision: Decision, window: &Window, healthy: bool) -> Decision {
        let rtt = window.rtt_mean.get().max(self.rtt);
        let ready = self.ramped && window.limited() && !window.few() && healthy;
        if ready {
            self.wait = self.wait.saturating_sub(round_trips_q4(window));
        }
        let own = Next {
            settle: Ticks::new(rtt.saturating_mul(2)),
            length: Ticks::new(rtt.saturating_mul(2)),
            samples: window.min_samples.max(if self.stale() {
                FULL_MEASURE
            } else {
                FULL_MEASURE.min(low(window).saturating_mul(MEASURE_ROUND_TRIPS))
            }),
        };
        let slot = window
            .wall
            .and_then(|wall| Slot::at(wall, rtt, window.rate));
        let Some(slot) = slot else {
            // Half of it gone, and still too much: rather the baseline is wrong.
            let halved = decision.limit <= self.resume / 2;
            let due = ready && (self.wait == 0 || halved || self.stale());
            return self.drain(due, own, decision, window);
        };
        if slot.position >= slot.length {
            self.drained = false;
            let due = ready && !self.measured && self.wait == 0;
            let decision = self.drain(due, own, decision, window);
            if self.draining || slot.ahead > usual_length(window, rtt).saturating_mul(2) {
                return decision;
            }
            // The last window before the drain ends with it.
            return decision.then(Next {
                settle: Ticks::new(0),
                length: Ticks::new(slot.ahead),
                samples: 0,
            });
        }
        let left = slot.length - slot.position;
        // Three eighths, for clocks that differ, and a round trip at least.
        let settle = left.saturating_sub(slot.length / 8 * 5);
        let settle = settle.max(rtt);
        let due = ready && !self.drained && left >= settle.saturating_add(rtt);
        let next = Next {
            settle: Ticks::new(settle),
            length: Ticks::new(left.saturating_sub(settle)),
            samples: if self.stale() { window.min_samples } else { 0 },
        };
        let decision = self.drain(due, next, decision, window);
        self.drained |= self.draining;
        decision
    }

    /// Lowers the limit in force until the next window closes, where that is possible.
    fn drain(&mut self, due: bool, next: Next, decision: Decision, window: &Window) -> Decision {
        let low = low(window);
        let resume = decision.limit.clamp(window.min, window.max.max(window.min));
        // Without lowering it a drain shows something only of a limit of 1, which has no queue of its own,
        // and where all else fails.
        let lowers = low < resume || (low == resume && (resume == 1 || self.stale()));
        if !due || !lowers {
            return decision;
        }
        (self.draining, self.resume) = (true, resume);
        Decision::new(low, Reason::Probing).then(next)
    }
}

/// The limit while a drain runs: half, and at least 3 where that is less than all.
fn low(window: &Window) -> u32 {
    let three = window.limit.saturating_sub(1).min(3);
    window.limit.div_ceil(2).max(three).max(window.min)
}

/// The wall clock against the instant of the common drain.
struct Slot {
    /// Since the last drain began.
    position: u64,
    /// Until the next begins.
    ahead: u64,
    /// How long a drain lasts: half a second, which clocks 100 ms apart still share, or one.
    length: u64,
}

impl Slot {
    /// `None` for RTTs so long that a drain of three of them were too large a part of the cycle.
    fn at(wall: Timestamp, rtt: u64, rate: TickRate) -> Option<Self> {
        let hz = rate.get();
        let second = u64::from(hz);
        let need = rtt.saturating_mul(3);
        let length = match need {
            _ if need <= second / 2 => second / 2,
            _ if need <= second => second,
            _ => return None,
        };
        const { assert!(WALL_SECONDS == 8, "the lowest three bits pass through") };
        let (_, eighth) = div_rem(wall.ticks() >> 3, hz);
        let position = u64::from(eighth) << 3 | wall.ticks() & 7;
        Some(Self {
            position,
            ahead: second * 8 - position,
            length,
        })
    }
}

/// How long the window was, in sixteenths of its RTT, at most what one window counts for.
fn round_trips_q4(window: &Window) -> u32 {
    let (elapsed, rtt) = narrow(window.elapsed.get(), window.rtt_mean.get(), 28);
    let sixteenths = (elapsed * 16).checked_div(rtt);
    sixteenths.unwrap_or(WAIT_WINDOW).min(WAIT_WINDOW)
}

fn usual_length(window: &Window, rtt: u64) -> u64 {
    window.elapsed.get().max(rtt.saturating_mul(2))
}

/// `limit` within the bounds, and the reason when they hold it.
pub(super) fn pinned(limit: u64, reason: Reason, window: &Window) -> Decision {
    if limit < u64::from(window.min) {
        Decision::new(window.min, Reason::PinnedAtMin)
    } else if limit > u64::from(window.max) {
        Decision::new(window.max, Reason::PinnedAtMax)
    } else {
        Decision::new(limit as u32, reason)
    }
}
