//! A breaker against a plain one, and under clocks that no clock should have.

use core::time::Duration;
use limiter_core::{
    Breaker, BreakerChange, BreakerConfig, BreakerState, Outcome, Pass, TickRate, Ticks, Timestamp,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

/// A random word for which the open time is as long as it may be.
pub(crate) const LONGEST: u32 = u32::MAX;

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_ticks(millis)
}

pub(crate) fn breaker(config: BreakerConfig) -> Breaker {
    Breaker::new(config, TickRate::MILLIS)
}

pub(crate) fn end(pass: Pass<&Breaker>, outcome: Outcome, now: u64) -> Option<BreakerChange> {
    pass.finish(outcome, at(now), LONGEST)
}

/// A plain breaker with a list of calls.
#[derive(Debug)]
struct Model {
    state: State,
    generation: u32,
    row: u32,
    calls: Vec<(u64, bool)>,
    reopened: u32,
}

#[derive(Debug, PartialEq)]
enum State {
    Closed,
    Open { until: u64 },
    HalfOpen { out: u32, good: u32, until: u64 },
}

const ROW: u32 = 4;
const PROBES: u32 = 3;
const VOLUME: usize = 8;

impl Model {
    fn open(&mut self, now: u64, reopened: u32) {
        self.reopened = reopened;
        let length = (1_000u64 << reopened.min(10)).min(8_000);
        self.state = State::Open {
            until: now + length,
        };
        self.generation += 1;
    }

    fn enter(&mut self, now: u64) -> Option<(u32, bool)> {
        match &mut self.state {
            State::Closed => return Some((self.generation, false)),
            State::Open { until } if now < *until => return None,
            State::Open { .. } => {
                self.generation += 1;
                self.state = State::HalfOpen {
                    out: 1,
                    good: 0,
                    until: now + 2_000,
                };
            }
            State::HalfOpen { out, good, until } => {
                if *out + *good < PROBES {
                    *out += 1;
                } else if now >= *until {
                    self.generation += 1;
                    *out = 1;
                } else {
                    return None;
                }
                *until = now + 2_000;
            }
        }
        Some((self.generation, true))
    }

    fn settle(&mut self, (generation, _): (u32, bool), outcome: Outcome, now: u64) {
        if generation != self.generation {
            return;
        }
        let bad = matches!(outcome, Outcome::Failure | Outcome::Overload);
        match &mut self.state {
            State::Closed if matches!(outcome, Outcome::Ignored | Outcome::Cancelled) => {}
            State::Closed => {
                self.calls.push((now, bad));
                self.row = if bad { self.row + 1 } else { 0 };
                // Eight buckets of 1,024 ms.
                let oldest = (now >> 10).saturating_sub(7);
                self.calls.retain(|(at, _)| at >> 10 >= oldest);
                let failed = self.calls.iter().filter(|(_, bad)| *bad).count();
                let share = self.calls.len() >= VOLUME && failed * 2 >= self.calls.len();
                if bad && (self.row >= ROW || share) {
                    self.open(now, 0);
                }
            }
            State::Open { .. } => {}
            State::HalfOpen { .. } if bad => self.open(now, self.reopened + 1),
            State::HalfOpen { out, good, .. } => {
                *out -= 1;
                *good += u32::from(outcome == Outcome::Success);
                if *good == PROBES {
                    self.state = State::Closed;
                    self.generation += 1;
                    self.row = 0;
                    self.calls.clear();
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Enter,
    Settle(usize, Outcome),
    Drop(usize),
}

fn ops() -> impl Strategy<Value = Op> {
    let outcome = prop_oneof![
        3 => Just(Outcome::Success),
        3 => Just(Outcome::Failure),
        1 => Just(Outcome::Overload),
        1 => Just(Outcome::Ignored),
        1 => Just(Outcome::Cancelled),
    ];
    prop_oneof![
        4 => Just(Op::Enter),
        4 => (any::<usize>(), outcome).prop_map(|(index, outcome)| Op::Settle(index, outcome)),
        1 => any::<usize>().prop_map(Op::Drop),
    ]
}

fn small() -> BreakerConfig {
    BreakerConfig::new()
        .consecutive(Some(ROW))
        .failure_share(Some(500))
        .volume(VOLUME as u32)
        .window(Duration::from_millis(8_192))
        .open(Duration::from_secs(1), Duration::from_secs(8))
        .probes(PROBES)
        .probe_time(Duration::from_secs(2))
}

/// A breaker against the plain one, time passing before each operation.
pub(crate) fn is_the_plain_breaker(start: u64, work: Vec<(Op, u64)>) -> TestCaseResult {
    let breaker = breaker(small());
    let mut model = Model {
        state: State::Closed,
        generation: 0,
        row: 0,
        calls: Vec::new(),
        reopened: 0,
    };
    let (mut now, mut out) = (start, Vec::new());
    for (op, passed) in work {
        now += passed;
        match op {
            Op::Enter => {
                let (pass, expected) = (breaker.try_pass(at(now)), model.enter(now));
                prop_assert_eq!(
                    pass.as_ref().ok().map(Pass::is_probe),
                    expected.map(|(_, probe)| probe)
                );
                out.extend(pass.ok().zip(expected));
            }
            Op::Settle(index, outcome) if !out.is_empty() => {
                let (pass, lease) = out.swap_remove(index % out.len());
                end(pass, outcome, now);
                model.settle(lease, outcome, now);
            }
            Op::Drop(index) if !out.is_empty() => {
                let (pass, lease) = out.swap_remove(index % out.len());
                drop(pass);
                model.settle(lease, Outcome::Ignored, now);
            }
            _ => {}
        }
        let expected = match &model.state {
            State::Closed => BreakerState::Closed,
            State::Open { until } if now < *until => BreakerState::Open {
                left: Ticks::new(until - now),
            },
            _ => BreakerState::HalfOpen,
        };
        prop_assert_eq!(breaker.state(at(now)), expected);
    }
    Ok(())
}

/// Whether it closes in the end, whatever the clock showed and the random word was at each operation.
pub(crate) fn closes_in_the_end(work: Vec<(Op, u64, u32)>) -> TestCaseResult {
    let breaker = breaker(small());
    let mut out = Vec::new();
    for (op, now, random) in work {
        match op {
            Op::Enter => out.extend(breaker.try_pass(at(now)).ok()),
            Op::Settle(index, outcome) if !out.is_empty() => {
                out.swap_remove(index % out.len())
                    .finish(outcome, at(now), random);
            }
            Op::Drop(index) if !out.is_empty() => drop(out.swap_remove(index % out.len())),
            _ => {}
        }
    }
    drop(out);
    // From any state, with an honest clock from now on, it closes.
    let mut now = 1u64 << 40;
    for _ in 0..100 {
        now += 1_000;
        if let Ok(pass) = breaker.try_pass(at(now)) {
            end(pass, Outcome::Success, now);
        }
    }
    prop_assert_eq!(breaker.state(at(now)), BreakerState::Closed);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn at_an_honest_clock_it_is_the_plain_breaker(
        start in 1u64..10_000_000_000,
        work in prop::collection::vec((ops(), prop_oneof![4 => 0u64..200, 1 => 0u64..5_000]), 1..300),
    ) {
        is_the_plain_breaker(start, work)?;
    }

    #[test]
    fn no_clock_wedges_it(
        work in prop::collection::vec((ops(), any::<u64>(), any::<u32>()), 1..200),
    ) {
        closes_in_the_end(work)?;
    }
}
