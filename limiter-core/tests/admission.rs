//! Admission against a plain reference model, in any order of operations and under any clock.

use limiter_core::law::Fixed;
use limiter_core::{
    Config, Limiter, MAX_LIMIT, Outcome, RejectReason, Slot, TickRate, Tickets, Timestamp,
};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
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
    ][usize::from(code % 4)]
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

fn check(ops: Vec<(Op, u64)>) -> Result<(), TestCaseError> {
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
        check(ops)?;
    }
}

fn fixed(limit: u32) -> Limiter<Fixed> {
    Limiter::new(
        Config::new(Fixed, TickRate::MICROS)
            .initial(limit)
            .max(MAX_LIMIT),
    )
}

const NOW: Timestamp = Timestamp::from_ticks(0);

#[test]
fn the_limit_is_exact_at_its_boundary() {
    for limit in [1, 2, 3, 100] {
        let limiter = fixed(limit);
        let held: Vec<_> = (0..limit)
            .map(|_| limiter.try_acquire(NOW).unwrap())
            .collect();
        let refused = limiter.try_acquire(NOW).unwrap_err();
        assert_eq!(refused.reason, RejectReason::AtLimit);
        assert_eq!((refused.inflight, refused.limit), (limit, limit));
        drop(held);
        assert_eq!(limiter.snapshot().inflight, 0);
    }
}

#[test]
fn the_largest_limit_does_not_run_into_the_waiting_bit() {
    // As many as a narrow word holds; a wide one is filled as far as memory is worth it.
    let most = MAX_LIMIT.min(40_000);
    let limiter = fixed(most);
    let held: Vec<_> = (0..most).map(|_| limiter.admit(NOW).unwrap()).collect();
    assert_eq!(
        limiter.admit(NOW).unwrap_err().reason,
        RejectReason::AtLimit
    );
    let full = limiter.snapshot();
    assert_eq!(
        (full.inflight, full.limit, full.waiting),
        (most, most, false)
    );
    limiter.set_waiting();
    for slot in held {
        assert!(limiter.release(slot).wake());
    }
    limiter.clear_waiting();
    let empty = limiter.snapshot();
    assert_eq!(
        (empty.inflight, empty.limit, empty.waiting),
        (0, most, false)
    );
}

#[test]
fn shrinking_below_what_is_in_flight_admits_when_enough_have_left() {
    let limiter = fixed(8);
    let mut held: Vec<_> = (0..3).map(|_| limiter.try_acquire(NOW).unwrap()).collect();
    limiter.set_limit(4, NOW).unwrap();
    held.push(limiter.try_acquire(NOW).expect("one of four is free"));
    assert!(limiter.try_acquire(NOW).is_err());
    limiter.set_limit(2, NOW).unwrap();
    held.pop();
    held.pop();
    assert!(limiter.try_acquire(NOW).is_err(), "two of two");
    held.pop();
    held.push(limiter.try_acquire(NOW).expect("one of two"));
    drop(held);
    assert_eq!(limiter.snapshot().inflight, 0);
}

#[test]
fn setting_the_limit_sets_the_whole_not_what_is_free() {
    let limiter = fixed(1);
    let first = limiter.try_acquire(NOW).unwrap();
    limiter.set_limit(5, NOW).unwrap();
    let rest: Vec<_> = core::iter::from_fn(|| limiter.try_acquire(NOW).ok()).collect();
    assert_eq!(rest.len(), 4);
    drop((first, rest));
}

#[test]
fn a_refusal_says_why_with_its_numbers_and_what_to_do() {
    let limiter = fixed(1);
    let _held = limiter.try_acquire(NOW).unwrap();
    let refused = limiter.try_acquire(NOW).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "at the limit; refuse the caller, do not retry here (1 in flight, limit 1)"
    );
}

#[test]
fn a_permit_moves_into_a_thread_and_keeps_its_slot() {
    let limiter = std::sync::Arc::new(fixed(1));
    let permit = Limiter::try_acquire_owned(std::sync::Arc::clone(&limiter), NOW).unwrap();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let _ = wait.recv();
        permit.finish(Outcome::Success, NOW)
    });
    assert!(limiter.try_acquire(NOW).is_err());
    drop(go);
    thread.join().unwrap();
    assert!(limiter.try_acquire(NOW).is_ok());
}

#[test]
fn a_ticket_returned_three_times_frees_one_slot() {
    let limiter = fixed(3);
    let tickets: Tickets<'_, 3, Fixed> = Tickets::new(&limiter);
    let first = tickets.try_acquire(NOW).unwrap();
    let _others = [
        tickets.try_acquire(NOW).unwrap(),
        tickets.try_acquire(NOW).unwrap(),
    ];
    assert!(tickets.finish(first, Outcome::Success, NOW).is_ok());
    for _ in 0..2 {
        let error = tickets.finish(first, Outcome::Success, NOW).unwrap_err();
        assert!(error.to_string().contains("is not out"), "{error}");
    }
    assert_eq!(limiter.snapshot().inflight, 2);
    // The entry is used again under another generation, and the old ticket still frees nothing.
    let again = tickets.try_acquire(NOW).unwrap();
    assert!(tickets.finish(first, Outcome::Success, NOW).is_err());
    assert!(tickets.finish(again, Outcome::Success, NOW).is_ok());
}

#[test]
fn a_table_without_tickets_gives_its_slot_back() {
    let limiter = fixed(9);
    let tickets: Tickets<'_, 1, Fixed> = Tickets::new(&limiter);
    let only = tickets.try_acquire(NOW).unwrap();
    let refused = tickets.try_acquire(NOW).unwrap_err();
    assert_eq!(refused.reason, RejectReason::TicketsOut);
    assert_eq!(limiter.snapshot().inflight, 1);
    assert!(tickets.finish(only, Outcome::Success, NOW).is_ok());
    assert_eq!(limiter.snapshot().inflight, 0);
}
