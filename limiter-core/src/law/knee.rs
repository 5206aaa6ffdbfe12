//! The knee of the throughput curve, found by comparing two nearby limits.

use super::math::{div_rem, isqrt, log2_q16, scale_exp2};
use super::{Decision, Law, Next, Reason, Window};
use crate::error::ConfigError;
use crate::time::Ticks;

/// Moves the limit to where more concurrency stops buying throughput. The default law.
///
/// Phases alternate between a limit a tenth above and a tenth below. From the throughput `X` and the mean
/// RTT `R` of the two it estimates the elasticity `e = dlnX / dlnL = 1 - dlnR / dlnL`: 1 while more
/// concurrency still buys throughput, 0 once it only buys queueing, negative under thrash. The limit
/// moves until `e` meets a small target. There is no baseline that could be poisoned, and a dependency
/// that gets slower but not fuller keeps its throughput, because the limit follows.
///
/// With a wall clock ([`Limiter::set_wall_offset`](crate::Limiter::set_wall_offset)) the phases are the
/// even and odd multiples of a period of UTC, so that all limiters in front of one server raise and lower
/// together and each measures the elasticity of all of them. Growing by a square root and shrinking by a
/// factor makes their shares equal (Chiu and Jain, 1989).
///
/// Needs a limit of at least 4 to see differences clearly; it works below that, coarsely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knee {
    target_q8: i32,
    spread_per_mille: u32,
}

impl Knee {
    /// Target elasticity 0.12, limits a tenth above and below.
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
        if let Err(error) = ConfigError::check("knee target", per_mille as u64, 10, 900) {
            return Err(error);
        }
        self.target_q8 = (per_mille * 256 / 1000) as i32;
        Ok(self)
    }

    /// How far the two limits are from the middle, per mille, 20 to 300.
    ///
    /// # Errors
    ///
    /// Outside that range.
    pub const fn spread(mut self, per_mille: u32) -> Result<Self, ConfigError> {
        if let Err(error) = ConfigError::check("knee spread", per_mille as u64, 20, 300) {
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

/// What one phase showed, as base-2 logarithms in Q16 (of ticks, of successes per tick, of slots).
#[derive(Clone, Copy, Default)]
struct Phase {
    rate: i32,
    rtt: i32,
    inflight: i32,
}

/// The learned state, as the limiter stores it.
#[derive(Clone, Copy)]
struct State {
    /// The middle of the two limits, Q8. 0 before the first window.
    middle: u32,
    /// Flags, counters and the period's exponent.
    high: bool,
    ramping: bool,
    have: bool,
    up: u32,
    bad: u32,
    /// The period is 2⁻ᵉ seconds.
    exponent: u32,
    /// The ramp's last step, or the other phase of the pair.
    other: Phase,
    other_samples: u32,
    /// Forgetting sums of the regression of throughput on concurrency, Q16.
    sxy: i32,
    sxx: i32,
    /// log2 of the RTT seen at the knee, 0 while unknown.
    knee_rtt: i32,
}

/// A period is 8 s >> exponent. From half a second, which clocks 100 ms apart still share, to 4 s; alone,
/// without a wall clock, down to an eighth of a second.
const LONGEST: u32 = 1;
const FIRST: u32 = 4;
const SHORTEST_ALONE: u32 = 6;

/// log2 of 1.02 in Q16: two phases whose concurrency differed by less say nothing.
const DELTA_LEAST: i32 = 1_872;
/// log2 of 2.2 in Q16: what one pair of phases may claim at most.
const CLAIM_MOST: i32 = 75_600;
/// The regression's weight at which it is trusted in full, in Q16 of log2 squared.
const TRUST: i32 = 13_600;
/// Successes that make a phase count fully.
const FULL_PHASE: u32 = 60;
/// Fewer successes than this are no phase.
const LEAST_PHASE: u32 = 6;

impl State {
    fn read(words: &[u32; 9]) -> Self {
        let flags = words[1];
        Self {
            middle: words[0],
            high: flags & 1 != 0,
            ramping: flags & 2 != 0,
            have: flags & 4 != 0,
            up: (flags >> 8) & 0xff,
            bad: (flags >> 16) & 0xff,
            exponent: flags >> 24,
            other: Phase {
                rate: words[2] as i32,
                rtt: words[3] as i32,
                inflight: words[4] as i32,
            },
            other_samples: words[5],
            sxy: words[6] as i32,
            sxx: words[7] as i32,
            knee_rtt: words[8] as i32,
        }
    }

    fn write(&self, words: &mut [u32; 9]) {
        words[0] = self.middle;
        words[1] = u32::from(self.high)
            | u32::from(self.ramping) << 1
            | u32::from(self.have) << 2
            | self.up.min(0xff) << 8
            | self.bad.min(0xff) << 16
            | self.exponent << 24;
        words[2] = self.other.rate as u32;
        words[3] = self.other.rtt as u32;
        words[4] = self.other.inflight as u32;
        words[5] = self.other_samples;
        words[6] = self.sxy as u32;
        words[7] = self.sxx as u32;
        words[8] = self.knee_rtt as u32;
    }
}

impl Law for Knee {
    type State = [u32; 9];

    fn on_window(&self, words: &mut [u32; 9], window: &Window) -> Decision {
        let mut state = State::read(words);
        let reason = if state.middle == 0 {
            state.begin(window);
            Reason::Probing
        } else {
            state.learn(self, window)
        };
        let floor = window.min.saturating_mul(256);
        let ceiling = window.max.saturating_mul(256);
        state.middle = state.middle.clamp(floor, ceiling);
        let decision = state.next_phase(self, window, reason);
        state.write(words);
        decision
    }

    fn on_set(&self, words: &mut [u32; 9], limit: u32) {
        let mut state = State::read(words);
        if state.middle != 0 {
            state.middle = limit.saturating_mul(256);
            state.have = false;
            state.write(words);
        }
    }
}

impl State {
    fn begin(&mut self, window: &Window) {
        self.middle = window.limit.saturating_mul(256);
        self.ramping = true;
        self.exponent = FIRST;
        self.forget();
    }

    /// Starts the regression anew, with a weak belief in an elasticity of a third.
    fn forget(&mut self) {
        self.sxx = TRUST;
        self.sxy = TRUST / 3;
        self.have = false;
    }

    /// Takes what the closed window showed into the middle.
    fn learn(&mut self, law: &Knee, window: &Window) -> Reason {
        if window.overloaded() {
            // Half of the share that was refused is taken off, at most 30 %.
            let off = window.overload_share().min(600) / 2;
            self.middle = scale_per_mille(self.middle, 1_000 - off);
            self.ramping = false;
            self.have = false;
            return Reason::CutOverload;
        }
        if window.successes < LEAST_PHASE {
            return Reason::HeldTooFewSamples;
        }
        // Three quarters of the limit, on average.
        if u64::from(window.inflight_avg_q8) * 4 < u64::from(window.limit) * 256 * 3 {
            self.have = false;
            return Reason::HeldNotLimited;
        }
        self.choose_period(window);
        let phase = Phase {
            rate: log2_q16(window.successes.into()) - log2_q16(window.elapsed.get().max(1)),
            rtt: log2_q16(window.rtt_mean.get().max(1)),
            inflight: log2_q16(window.inflight_avg_q8.max(1).into()),
        };
        if self.ramping {
            self.ramp(phase, window)
        } else {
            self.compare(law, phase, window)
        }
    }

    /// Multiplies until throughput stops following.
    fn ramp(&mut self, phase: Phase, window: &Window) -> Reason {
        if self.have {
            let grown = phase
                .inflight
                .saturating_sub(self.other.inflight)
                .max(4_700);
            let gained = phase.rate.saturating_sub(self.other.rate);
            if gained < grown / 2 {
                self.ramping = false;
                // Little's law at the last step's RTT: what the throughput needs without the new queue.
                let needed = scale_exp2(
                    window.inflight_avg_q8,
                    self.other.rtt.saturating_sub(phase.rtt),
                );
                let last = scale_exp2(256, self.other.inflight - (8 << 16));
                self.middle = scale_per_mille(needed, 1_100)
                    .max(scale_per_mille(last, 700))
                    .min(self.middle);
                self.knee_rtt = self.other.rtt;
                self.forget();
                return Reason::CutLatency;
            }
        }
        self.other = phase;
        self.have = true;
        self.middle = scale_per_mille(self.middle, 1_600).max(self.middle.saturating_add(256));
        Reason::Grew
    }

    /// Compares the phase with the one before it.
    fn compare(&mut self, law: &Knee, phase: Phase, window: &Window) -> Reason {
        if !self.have {
            self.other = phase;
            self.other_samples = window.successes;
            self.have = true;
            return Reason::Probing;
        }
        self.have = false;
        let (high, low) = if self.high {
            (phase, self.other)
        } else {
            (self.other, phase)
        };
        let grown = high.inflight.saturating_sub(low.inflight);
        if grown < DELTA_LEAST {
            return Reason::Probing;
        }
        let gained = high.rate.saturating_sub(low.rate);
        let unqueued = grown.saturating_sub(high.rtt.saturating_sub(low.rtt));
        let claim = (gained / 2 + unqueued / 2).clamp(-CLAIM_MOST, CLAIM_MOST);
        let weight_q8 =
            window.successes.min(self.other_samples).min(4 * FULL_PHASE) * 256 / FULL_PHASE;
        self.sxy = forget_and_add(self.sxy, grown, claim, weight_q8);
        self.sxx = forget_and_add(self.sxx, grown, grown, weight_q8);
        let elasticity = (self.sxy.saturating_mul(16) / (self.sxx / 16).max(1)).clamp(-256, 307);
        self.step(law, elasticity, phase.rtt)
    }

    /// Moves the middle by the elasticity (Q8).
    fn step(&mut self, law: &Knee, elasticity: i32, rtt: i32) -> Reason {
        let before = self.middle;
        self.up = if elasticity > 180 { self.up + 1 } else { 0 };
        let bloated = self.knee_rtt != 0 && elasticity < 64 && rtt > self.knee_rtt + 38_336;
        self.bad = if bloated { self.bad + 1 } else { 0 };
        if elasticity > 51 && elasticity < 205 {
            self.knee_rtt = if self.knee_rtt == 0 {
                rtt
            } else {
                self.knee_rtt + (rtt - self.knee_rtt) / 7
            };
        } else if elasticity < 26 && rtt < self.knee_rtt {
            self.knee_rtt = rtt;
        }
        if self.bad >= 2 {
            // Far above the knee's RTT without any gain: back to what the throughput needs, by Little's law.
            self.bad = 0;
            let needed = scale_exp2(self.middle, self.knee_rtt - rtt);
            self.middle = needed
                .max(scale_per_mille(self.middle, 300))
                .min(self.middle);
            self.forget();
            return Reason::CutLatency;
        }
        let trust = (self.sxx / 64).min(TRUST / 64);
        let error = (elasticity - law.target_q8) * trust / (TRUST / 64);
        if self.up >= 2 {
            self.middle = self
                .middle
                .saturating_add(scale_per_mille(self.middle, 300).max(256));
        } else if error > 0 {
            // 0.9 √L per unit of elasticity: by the root, so that small shares catch up.
            let root_q8 = isqrt(self.middle) * 16;
            let most = scale_per_mille(self.middle, 150).max(179);
            let step = (root_q8 / 64).saturating_mul(error as u32) * 9 / 40;
            self.middle = self.middle.saturating_add(step.min(most));
        } else {
            // 0.4 L per unit: by a factor.
            let off = scale_per_mille(self.middle, (-error) as u32 * 400 / 256);
            self.middle -= off.min(scale_per_mille(self.middle, 150));
        }
        match self.middle.cmp(&before) {
            core::cmp::Ordering::Greater => Reason::Grew,
            core::cmp::Ordering::Less => Reason::CutLatency,
            core::cmp::Ordering::Equal => Reason::HeldSteady,
        }
    }

    /// A period of 5 to 14 round trips, by powers of two.
    fn choose_period(&mut self, window: &Window) {
        let rtt = window.rtt_mean.get();
        let period = (u64::from(window.rate.get()) * 8) >> self.exponent;
        let shortest = if window.wall.is_some() {
            FIRST
        } else {
            SHORTEST_ALONE
        };
        if period < rtt.saturating_mul(5) && self.exponent > LONGEST {
            self.exponent -= 1;
            self.have = false;
        } else if period > rtt.saturating_mul(14) && self.exponent < shortest {
            self.exponent += 1;
            self.have = false;
        }
    }

    /// The limit and the length of the next phase.
    fn next_phase(&mut self, law: &Knee, window: &Window, reason: Reason) -> Decision {
        let rtt = window.rtt_mean.get();
        if self.ramping {
            let limit = self.middle >> 8;
            return Decision::new(limit, reason).then(Next {
                settle: Ticks::new(rtt),
                length: Ticks::new(rtt.saturating_mul(2)),
                samples: limit.max(window.min_samples * 3),
            });
        }
        let hz = window.rate.get();
        let period = (u64::from(hz) * 8) >> self.exponent;
        let (settle, length) = match window.wall {
            None => {
                self.high = !self.high;
                (period * 3 / 10, period - period * 3 / 10)
            }
            Some(wall) => {
                let (index, left) = wall_phase(wall.ticks(), hz, self.exponent);
                if left > period / 2 {
                    self.high = index & 1 == 0;
                    let settle = (left * 2).saturating_sub(period) * 3 / 10;
                    (settle, left - settle)
                } else {
                    // Too late for this phase: wait for the next.
                    self.high = index & 1 == 1;
                    (left + period * 3 / 10, period - period * 3 / 10)
                }
            }
        };
        let least = if self.middle < 5 * 256 { 128 } else { 256 };
        let spread = scale_per_mille(self.middle, law.spread_per_mille).max(least);
        let limit = if self.high {
            (self.middle.saturating_add(spread) >> 8).max((self.middle >> 8) + 1)
        } else {
            (self.middle.saturating_sub(spread) >> 8).max(1)
        };
        Decision::new(limit, reason).then(Next {
            settle: Ticks::new(settle),
            length: Ticks::new(length),
            samples: 0,
        })
    }
}

/// The index of the phase that `wall` is in, and the ticks left of it.
fn wall_phase(wall: u64, hz: u32, exponent: u32) -> (u32, u64) {
    let (_, eighth) = div_rem(wall >> 3, hz);
    let (index, rest) = div_rem(u64::from(eighth) << exponent, hz);
    (index as u32, (u64::from(hz - rest) << 3) >> exponent)
}

fn scale_per_mille(value: u32, per_mille: u32) -> u32 {
    // 1,049 / 2²⁰ is 1 / 1,000 within 0.04 %.
    let scaled = (u64::from(value) * u64::from(per_mille) * 1_049) >> 20;
    u32::try_from(scaled).unwrap_or(u32::MAX)
}

/// `sum · 0.8 + a · b · weight`, in Q16.
fn forget_and_add(sum: i32, a: i32, b: i32, weight_q8: u32) -> i32 {
    let product = (i64::from(a) * i64::from(b)) >> 16;
    let added = (product * i64::from(weight_q8)) >> 8;
    let kept = sum - sum / 5;
    kept.saturating_add(added.clamp(i32::MIN.into(), i32::MAX.into()) as i32)
}
