//! What the law has learned, in words.

use super::super::math::{log2_q16, signed_quotient};
use super::Window;

/// What one phase showed, as base-2 logarithms in Q16 (of successes per tick, of ticks, of slots in Q8).
#[derive(Clone, Copy, Default)]
pub(super) struct Phase {
    pub(super) rate: i32,
    pub(super) rtt: i32,
    pub(super) inflight: i32,
}

impl Phase {
    /// What a window showed that was full: the limit stands for what was in flight. An average over the
    /// permits that ended would vary with their number, so would the throughput, and two errors that go
    /// together look like elasticity.
    pub(super) fn of(window: &Window) -> Self {
        Self {
            rate: log2_q16(window.successes.into()) - log2_q16(window.elapsed.get().max(1)),
            rtt: log2_q16(window.rtt_mean.get().max(1)),
            inflight: log2_q16(u64::from(window.limit) << 8),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Multiplying until throughput stops following.
    Ramp,
    /// Comparing two limits far apart, to learn whether the knee is near, far above or far below.
    Search,
    /// Comparing two nearby limits.
    Track,
}

#[derive(Clone, Copy)]
pub(super) struct State {
    /// The middle of the two limits, Q8. 0 before the first window.
    pub(super) middle: u32,
    pub(super) mode: Mode,
    /// The phase that runs is the higher one.
    pub(super) high: bool,
    /// `other` is the phase before.
    pub(super) have: bool,
    /// Pairs in a row that showed room; steps of a ramp.
    pub(super) up: u32,
    /// Pairs that showed flatness, less those that did not; in a search 1 when it may not grow.
    pub(super) flat: u32,
    /// Pairs in a row that showed a queue far above the knee's.
    pub(super) bloated: u32,
    /// Full phases that may still show where the queue began.
    pub(super) onset: u32,
    /// The period is 8 s >> exponent.
    pub(super) exponent: u32,
    pub(super) other: Phase,
    pub(super) other_samples: u32,
    /// Sums of the regression of throughput on concurrency, Q16: forgetting in `Track`, plain in `Search`.
    pub(super) sxy: i32,
    pub(super) sxx: i32,
    /// log2 of the throughput while the limit is not reached and the RTT is the knee's, 0 while unknown.
    pub(super) usual_rate: i32,
    /// The last step of a search as log2 in Q16, 0 before it.
    pub(super) step: i32,
    /// log2 of the RTT seen at the knee, 0 while unknown.
    pub(super) knee_rtt: i32,
    /// How far the elasticities of pairs (Q8) are from their regression, on average.
    pub(super) noise: i32,
    /// The share of overloads that no cut lowers, per mille.
    pub(super) stray: u32,
    /// The share that the last cut answered, per mille; 0 when the next window has judged it.
    pub(super) cut: u32,
}

/// The regression's weight at which it is trusted in full, in Q16 of log2 squared.
pub(super) const TRUST: i32 = 13_600;

/// What a regression sum may be at most: far above any that phases add up to.
const SUM_MOST: i32 = 1 << 26;

/// A logarithm of anything that fits 64 bits, or of the quotient of two such: a few of them added or subtracted
/// are far from overflowing. Words that say otherwise were damaged, and must not make the arithmetic overflow.
fn log(word: u32) -> i32 {
    within(word as i32, -(64 << 16), 64 << 16)
}

/// As `clamp`, without its panic.
pub(super) fn within(value: i32, least: i32, most: i32) -> i32 {
    value.min(most).max(least)
}

pub(super) const WORDS: usize = 13;

impl State {
    pub(super) fn read(words: &[u32; WORDS]) -> Self {
        let flags = words[1];
        let nibble = |shift: u32| (flags >> shift) & 0xf;
        Self {
            middle: words[0],
            mode: match nibble(0) & 3 {
                0 => Mode::Ramp,
                1 => Mode::Search,
                _ => Mode::Track,
            },
            high: nibble(0) & 4 != 0,
            have: nibble(0) & 8 != 0,
            up: nibble(4),
            flat: nibble(8),
            bloated: nibble(12),
            exponent: within(nibble(16) as i32, 1, 6) as u32,
            onset: nibble(20),
            other: Phase {
                rate: log(words[2]),
                rtt: log(words[3]),
                inflight: log(words[4]),
            },
            other_samples: words[5],
            sxy: within(words[6] as i32, -SUM_MOST, SUM_MOST),
            sxx: within(words[7] as i32, 0, SUM_MOST),
            knee_rtt: log(words[8]),
            stray: (words[9] & 0xffff).min(1_000),
            cut: (words[9] >> 16).min(1_000),
            noise: within(words[10] as i32, 0, 1_024),
            step: within(words[11] as i32, -(8 << 16), 8 << 16),
            usual_rate: log(words[12]),
        }
    }

    pub(super) fn write(&self, words: &mut [u32; WORDS]) {
        let mode = match self.mode {
            Mode::Ramp => 0,
            Mode::Search => 1,
            Mode::Track => 2,
        };
        *words = [
            self.middle,
            mode | u32::from(self.high) << 2
                | u32::from(self.have) << 3
                | self.up.min(15) << 4
                | self.flat.min(15) << 8
                | self.bloated.min(15) << 12
                | self.exponent.min(15) << 16
                | self.onset.min(15) << 20,
            self.other.rate as u32,
            self.other.rtt as u32,
            self.other.inflight as u32,
            self.other_samples,
            self.sxy as u32,
            self.sxx as u32,
            self.knee_rtt as u32,
            self.stray.min(1_000) | self.cut.min(1_000) << 16,
            self.noise as u32,
            self.step as u32,
            self.usual_rate as u32,
        ];
    }

    /// Starts a mode with nothing compared yet.
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(super) fn start(&mut self, mode: Mode) {
        self.mode = mode;
        self.have = false;
        (self.up, self.flat, self.bloated, self.step) = (0, 0, 0, 0);
        (self.sxx, self.sxy) = (0, 0);
    }

    /// Starts to track, with a weak belief in this elasticity (Q8).
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(super) fn track(&mut self, belief_q8: i32) {
        self.start(Mode::Track);
        (self.sxx, self.sxy) = (TRUST, TRUST / 256 * belief_q8);
    }
}

/// A logarithm moved by this part of the way to another, or that one while none, 0, is known.
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(super) const fn approach(known: i32, new: i32, part: i32) -> i32 {
    match known {
        0 => new,
        known => known + signed_quotient(new - known, part),
    }
}

/// An elasticity (Q8) to believe in where nothing is known: a third.
pub(super) const THIRD: i32 = 85;
