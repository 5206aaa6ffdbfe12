//! Any order of operations under any clock, against the rules, written plainly.

use limiter_core::law::Fixed;
use limiter_core::{Config, Limiter, Outcome, RejectReason, Slot, TickRate, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Acquire,
    AcquireWaiter,
    Finish(usize, u8),
    Release(usize),
    SetLimit(u32),
    SetBounds(u32, u32),
    SetWaiting(bool),
    Close,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => Just(Op::Acquire),
        2 => Just(Op::AcquireWaiter),
        6 => (any::<usize>(), any::<u8>()).prop_map(|(i, o)| Op::Finish(i, o)),
        2 => any::<usize>().prop_map(Op::Release),
        2 => (0u32..12).prop_map(Op::SetLimit),
        1 => (0u32..12, 0u32..12).prop_map(|(a, b)| Op::SetBounds(a, b)),
        1 => any::<bool>().prop_map(Op::SetWaiting),
        1 => Just(Op::Close),
    ]
}

fn outcome(code: u8) -> Outcome {
    [
        Outcome::Success,
        Outcome::Overload,
        Outcome::Failure,
        Outcome::Ignored,
        Outcome::Cancelled,
    ][usize::from(code % 5)]
}

/// The rules, written plainly.
struct Reference {
    limit: u32,
    min: u32,
    max: u32,
    inflight: u32,
    waiting: bool,
    closed: bool,
}

impl Reference {
    fn acquire(&mut self, newcomer: bool) -> Result<(), RejectReason> {
        if self.closed {
            Err(RejectReason::Closed)
        } else if self.inflight >= self.limit {
            Err(RejectReason::AtLimit)
        } else if newcomer && self.waiting {
            Err(RejectReason::WaitersAhead)
        } else {
            self.inflight += 1;
            Ok(())
        }
    }

    fn shown_limit(&self) -> u32 {
        if self.closed { 0 } else { self.limit }
    }
}

/// The limiter against the plain rules, each operation at a time of its own.
pub(crate) fn follows_the_rules(ops: Vec<(Op, u64)>) -> TestCaseResult {
    let limiter = Limiter::new(
        Config::new(Fixed, TickRate::NANOS)
            .initial(4)
            .min(1)
            .max(10),
    );
    let mut reference = Reference {
        limit: 4,
        min: 1,
        max: 10,
        inflight: 0,
        waiting: false,
        closed: false,
    };
    let mut held: Vec<Slot> = Vec::new();
    for (op, ticks) in ops {
        let now = Timestamp::from_ticks(ticks);
        match op {
            Op::Acquire | Op::AcquireWaiter => {
                let newcomer = matches!(op, Op::Acquire);
                let got = if newcomer {
                    limiter.admit(now)
                } else {
                    limiter.admit_waiter(now)
                };
                let expected = reference.acquire(newcomer);
                prop_assert_eq!(got.as_ref().map(|_| ()).map_err(|r| r.reason), expected);
                match got {
                    Ok(slot) => held.push(slot),
                    Err(refused) => {
                        prop_assert_eq!(refused.inflight, reference.inflight);
                        prop_assert_eq!(refused.limit, reference.shown_limit());
                    }
                }
            }
            Op::Finish(which, code) if !held.is_empty() => {
                let slot = held.swap_remove(which % held.len());
                let settled = limiter.settle(slot, outcome(code), now);
                reference.inflight -= 1;
                prop_assert_eq!(settled.wake(), reference.waiting);
                prop_assert_eq!(settled.change(), None, "a fixed limit does not move");
            }
            Op::Release(which) if !held.is_empty() => {
                let settled = limiter.release(held.swap_remove(which % held.len()));
                reference.inflight -= 1;
                prop_assert_eq!(settled.wake(), reference.waiting);
            }
            Op::Finish(..) | Op::Release(_) => {}
            Op::SetLimit(limit) => {
                let allowed = (reference.min..=reference.max).contains(&limit);
                prop_assert_eq!(limiter.set_limit(limit, now).is_ok(), allowed);
                if allowed {
                    reference.limit = limit;
                }
            }
            Op::SetBounds(min, max) => {
                let allowed = min >= 1 && min <= max;
                prop_assert_eq!(limiter.set_bounds(min, max, now).is_ok(), allowed);
                if allowed {
                    (reference.min, reference.max) = (min, max);
                    reference.limit = reference.limit.clamp(min, max);
                }
            }
            Op::SetWaiting(waiting) => {
                if waiting {
                    limiter.set_waiting();
                } else {
                    limiter.clear_waiting();
                }
                reference.waiting = waiting;
            }
            Op::Close => {
                limiter.close();
                reference.closed = true;
            }
        }
        let seen = limiter.snapshot();
        prop_assert_eq!(seen.limit, reference.shown_limit());
        prop_assert_eq!(seen.inflight, reference.inflight);
        prop_assert_eq!(seen.waiting, reference.waiting);
        prop_assert_eq!(seen.closed, reference.closed);
        prop_assert_eq!((seen.min, seen.max), (reference.min, reference.max));
        prop_assert_eq!(seen, limiter.snapshot(), "looking changes nothing");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn admission_agrees_with_the_plain_rules(
        ops in prop::collection::vec((op(), prop_oneof![any::<u64>(), 0u64..1_000_000]), 1..80),
    ) {
        follows_the_rules(ops)?;
    }
}
