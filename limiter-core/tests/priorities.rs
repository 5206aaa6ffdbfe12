//! Priorities and weights against a plain reference model, and the rules one by one.

use limiter_core::law::{Aimd, Fixed};
use limiter_core::{
    Config, Limiter, MAX_LIMIT, Outcome, Priority, RejectReason, Request, Shares, Slot, TickRate,
    Timestamp,
};
use proptest::prelude::*;

const NOW: Timestamp = Timestamp::from_ticks(0);

fn fixed(limit: u32, max: u32) -> Limiter<Fixed> {
    Limiter::new(Config::new(Fixed, TickRate::MICROS).initial(limit).max(max))
}

fn of(priority: Priority) -> Request {
    Request::new().priority(priority)
}

/// As many slots as a class gets, one by one, when nothing else is there.
fn filled(limiter: &Limiter<Fixed>, priority: Priority) -> (Vec<Slot>, RejectReason) {
    let mut held = Vec::new();
    loop {
        match limiter.admit_for(&of(priority), NOW) {
            Ok(slot) => held.push(slot),
            Err(refused) => return (held, refused.reason),
        }
    }
}

fn free(limiter: &Limiter<Fixed>, held: impl IntoIterator<Item = Slot>) {
    for slot in held {
        let _ = limiter.release(slot);
    }
}

#[derive(Clone, Debug)]
enum Op {
    Acquire {
        class: u8,
        weight: u32,
        retry: bool,
        waiter: bool,
    },
    Release(usize),
    SetLimit(u32),
    SetShares(u16, u16, u16),
    Wait(u8),
    NobodyWaits,
    Close,
}

fn op() -> impl Strategy<Value = Op> {
    let weight = prop_oneof![4 => 1u32..4, 1 => 0u32..14, 1 => any::<u32>()];
    prop_oneof![
        10 => (0u8..4, weight, any::<bool>(), any::<bool>()).prop_map(|(class, weight, retry, waiter)| {
            Op::Acquire { class, weight, retry, waiter }
        }),
        7 => any::<usize>().prop_map(Op::Release),
        2 => (1u32..12).prop_map(Op::SetLimit),
        1 => (0u16..1_100, 0u16..1_100, 0u16..1_100).prop_map(|(a, b, c)| Op::SetShares(a, b, c)),
        1 => (0u8..4).prop_map(Op::Wait),
        1 => Just(Op::NobodyWaits),
        1 => Just(Op::Close),
    ]
}

/// The rules, written plainly.
struct Reference {
    limit: u32,
    max: u32,
    inflight: u32,
    shares: [u32; 4],
    waits: Option<usize>,
    closed: bool,
}

impl Reference {
    fn part(whole: u32, share: u32) -> u64 {
        (u64::from(whole) * u64::from(share)).div_ceil(1_000)
    }

    fn acquire(&mut self, class: usize, weight: u32, waiter: bool) -> Result<(), RejectReason> {
        let after = u64::from(self.inflight) + u64::from(weight);
        let share = self.shares[class];
        if self.closed {
            return Err(RejectReason::Closed);
        }
        if weight == 0 {
            return Err(RejectReason::ZeroWeight);
        }
        if u64::from(weight) > Self::part(self.max, share) {
            return Err(RejectReason::TooHeavy);
        }
        let behind = !waiter && self.waits.is_some_and(|first| class <= first);
        if (after <= Self::part(self.limit, share) || self.inflight == 0) && !behind {
            self.inflight += weight;
            Ok(())
        } else if after > u64::from(self.limit) {
            Err(RejectReason::AtLimit)
        } else if after > Self::part(self.limit, share) {
            Err(RejectReason::ShareTaken)
        } else {
            Err(RejectReason::WaitersAhead)
        }
    }
}

fn check(ops: Vec<Op>) -> Result<(), TestCaseError> {
    let limiter = fixed(8, 12);
    let mut reference = Reference {
        limit: 8,
        max: 12,
        inflight: 0,
        shares: [500, 700, 900, 1_000],
        waits: None,
        closed: false,
    };
    let mut held: Vec<(Slot, u32)> = Vec::new();
    for op in ops {
        match op {
            Op::Acquire {
                class,
                weight,
                retry,
                waiter,
            } => {
                let class = usize::from(class);
                let request = Request::new()
                    .priority(Priority::ALL[class])
                    .weight(weight)
                    .attempt(if retry { 2 } else { 1 });
                let class = class.saturating_sub(usize::from(retry));
                prop_assert_eq!(request.class(), Priority::ALL[class]);
                let got = if waiter {
                    limiter.admit_waiter_for(&request, NOW)
                } else {
                    limiter.admit_for(&request, NOW)
                };
                let before = reference.inflight;
                let expected = reference.acquire(class, weight, waiter);
                prop_assert_eq!(got.as_ref().map(|_| ()).map_err(|r| r.reason), expected);
                match got {
                    Ok(slot) => held.push((slot, weight)),
                    Err(refused) => prop_assert_eq!(refused.inflight, before),
                }
            }
            Op::Release(which) if !held.is_empty() => {
                let (slot, weight) = held.swap_remove(which % held.len());
                reference.inflight -= weight;
                prop_assert_eq!(limiter.release(slot).wake(), reference.waits.is_some());
            }
            Op::Release(_) => {}
            Op::SetLimit(limit) => {
                prop_assert!(limiter.set_limit(limit, NOW).is_ok());
                reference.limit = limit;
            }
            Op::SetShares(interactive, batch, best_effort) => {
                let allowed = (1..=1_000).contains(&interactive)
                    && (1..=interactive).contains(&batch)
                    && (1..=batch).contains(&best_effort);
                let shares = Shares::new()
                    .interactive(interactive)
                    .batch(batch)
                    .best_effort(best_effort);
                prop_assert_eq!(limiter.set_shares(shares).is_ok(), allowed);
                if allowed {
                    reference.shares = [best_effort, batch, interactive, 1_000].map(u32::from);
                    prop_assert_eq!(limiter.shares(), shares);
                }
            }
            Op::Wait(class) => {
                limiter.set_waiting_from(Priority::ALL[usize::from(class)]);
                reference.waits = Some(class.into());
            }
            Op::NobodyWaits => {
                limiter.clear_waiting();
                reference.waits = None;
            }
            Op::Close => {
                limiter.close();
                reference.closed = true;
            }
        }
        prop_assert_eq!(limiter.snapshot().inflight, reference.inflight);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn priorities_and_weights_agree_with_the_plain_rules(ops in prop::collection::vec(op(), 1..80)) {
        check(ops)?;
    }
}

#[test]
fn each_class_is_let_in_up_to_its_share_rounded_up() {
    // Limit, and what best effort, batch, interactive and critical may use of it.
    for (limit, rooms) in [
        (1, [1, 1, 1, 1]),
        (2, [1, 2, 2, 2]),
        (3, [2, 3, 3, 3]),
        (10, [5, 7, 9, 10]),
        (101, [51, 71, 91, 101]),
    ] {
        for (priority, room) in Priority::ALL.into_iter().zip(rooms) {
            let limiter = fixed(limit, limit);
            let (held, reason) = filled(&limiter, priority);
            assert_eq!(held.len(), room, "{priority:?} at {limit}");
            let full = room == limit as usize;
            let expected = if full {
                RejectReason::AtLimit
            } else {
                RejectReason::ShareTaken
            };
            assert_eq!(reason, expected);
            free(&limiter, held);
        }
    }
}

#[test]
fn no_class_is_shut_out_by_rounding_at_the_smallest_limits_and_shares() {
    for limit in [1, 2] {
        let limiter = fixed(limit, limit);
        let least = Shares::new().interactive(1).batch(1).best_effort(1);
        limiter.set_shares(least).unwrap();
        for priority in Priority::ALL {
            // Also for a request that no share of this limit would hold.
            for weight in [1, limit] {
                let request = of(priority).weight(weight);
                match limiter.admit_for(&request, NOW) {
                    Ok(slot) => free(&limiter, [slot]),
                    Err(refused) => assert_eq!(
                        (refused.reason, weight, priority < Priority::Critical),
                        (RejectReason::TooHeavy, 2, true),
                    ),
                }
            }
        }
    }
}

#[test]
fn a_lower_class_leaves_room_that_higher_ones_find() {
    let limiter = fixed(10, 10);
    let mut held = Vec::new();
    for (priority, more) in Priority::ALL.into_iter().zip([5, 2, 2, 1]) {
        let (slots, _) = filled(&limiter, priority);
        assert_eq!(slots.len(), more, "{priority:?}");
        held.extend(slots);
    }
    assert_eq!(limiter.snapshot().inflight, 10);
    free(&limiter, held);
}

#[test]
fn a_retry_is_let_in_one_class_lower_than_a_first_attempt() {
    let limiter = fixed(10, 10);
    let (held, _) = filled(&limiter, Priority::Batch);
    let interactive = of(Priority::Interactive);
    let refused = limiter.admit_for(&interactive.attempt(2), NOW).unwrap_err();
    assert_eq!(refused.reason, RejectReason::ShareTaken);
    let first = limiter.admit_for(&interactive.attempt(1), NOW).unwrap();
    free(&limiter, held.into_iter().chain([first]));
}

#[test]
fn a_plain_acquire_is_of_the_highest_class() {
    let limiter = fixed(10, 10);
    let (held, _) = filled(&limiter, Priority::Interactive);
    let last = limiter.admit(NOW).expect("one of ten is left");
    assert_eq!(
        limiter.admit(NOW).unwrap_err().reason,
        RejectReason::AtLimit
    );
    free(&limiter, held.into_iter().chain([last]));
}

#[test]
fn newcomers_pass_those_who_wait_in_lower_classes_only() {
    let limiter = fixed(10, 10);
    limiter.set_waiting_from(Priority::Batch);
    for priority in Priority::ALL {
        let got = limiter.admit_for(&of(priority), NOW);
        assert_eq!(got.is_ok(), priority > Priority::Batch, "{priority:?}");
        free(&limiter, got.ok());
    }
    assert_eq!(
        limiter.admit(NOW).unwrap_err().reason,
        RejectReason::WaitersAhead,
        "who does not say what it is passes nobody"
    );
    limiter.clear_waiting();
    assert!(limiter.try_acquire(NOW).is_ok());
}

#[test]
fn shares_change_while_requests_are_in_flight_and_move_what_is_let_in_next() {
    let limiter = fixed(10, 10);
    let (mut held, _) = filled(&limiter, Priority::Batch);
    assert_eq!(held.len(), 7);
    assert_eq!(limiter.set_shares(Shares::new().batch(500)), Ok(false));
    free(&limiter, held.drain(..2));
    assert!(
        limiter.admit_for(&of(Priority::Batch), NOW).is_err(),
        "5 of 5"
    );
    assert_eq!(limiter.set_shares(Shares::new().batch(600)), Ok(false));
    held.push(
        limiter
            .admit_for(&of(Priority::Batch), NOW)
            .expect("5 of 6"),
    );
    free(&limiter, held);
    limiter.set_waiting();
    assert_eq!(
        limiter.set_shares(Shares::new()),
        Ok(true),
        "somebody waits"
    );
}

#[test]
fn a_weight_counts_as_many_slots_until_it_is_given_back_on_every_path() {
    let limiter = fixed(10, 10);
    let heavy = Request::new().weight(4);
    let drop_it = |limiter: &Limiter<Fixed>| drop(limiter.try_acquire_for(heavy, NOW).unwrap());
    let finish = |limiter: &Limiter<Fixed>| {
        limiter
            .try_acquire_for(heavy, NOW)
            .unwrap()
            .finish(Outcome::Success, NOW);
    };
    let from_isr = |limiter: &Limiter<Fixed>| {
        limiter
            .try_acquire_for(heavy, NOW)
            .unwrap()
            .finish_from_isr(Outcome::Failure, NOW);
    };
    let settle = |limiter: &Limiter<Fixed>| {
        let slot = limiter.admit_waiter_for(&heavy, NOW).unwrap();
        assert_eq!(limiter.snapshot().inflight, 8);
        let _ = limiter.settle(slot, Outcome::Overload, NOW);
    };
    let forget = |limiter: &Limiter<Fixed>| limiter.try_acquire_for(heavy, NOW).unwrap().forget();
    type Path<'a> = &'a dyn Fn(&Limiter<Fixed>);
    let paths: [Path<'_>; 5] = [&drop_it, &finish, &from_isr, &settle, &forget];
    for path in paths {
        let held = limiter.admit_for(&heavy, NOW).unwrap();
        assert_eq!(limiter.snapshot().inflight, 4);
        path(&limiter);
        assert_eq!(limiter.snapshot().inflight, 4);
        let _ = limiter.release(held);
        assert_eq!(limiter.snapshot().inflight, 0);
    }
}

#[test]
fn an_impossible_weight_is_refused_at_once_with_its_own_reason() {
    let limiter = fixed(10, 10);
    let reason = |weight| {
        limiter
            .admit_for(&Request::new().weight(weight), NOW)
            .unwrap_err()
            .reason
    };
    assert_eq!(reason(11), RejectReason::TooHeavy);
    assert_eq!(reason(u32::MAX), RejectReason::TooHeavy);
    assert_eq!(reason(0), RejectReason::ZeroWeight);
    let batch = of(Priority::Batch).weight(8);
    assert_eq!(
        limiter.admit_for(&batch, NOW).unwrap_err().reason,
        RejectReason::TooHeavy
    );
    let whole = limiter
        .admit_for(&Request::new().weight(10), NOW)
        .expect("10 of 10");
    assert_eq!(
        reason(11),
        RejectReason::TooHeavy,
        "also when nothing is free"
    );
    assert_eq!(reason(1), RejectReason::AtLimit);
    free(&limiter, [whole]);
}

#[test]
fn what_is_heavier_than_the_limit_of_the_moment_is_let_in_alone() {
    let limiter = fixed(2, 10);
    let heavy = Request::new().weight(5);
    let other = limiter.admit(NOW).unwrap();
    assert_eq!(
        limiter.admit_for(&heavy, NOW).unwrap_err().reason,
        RejectReason::AtLimit
    );
    free(&limiter, [other]);
    let alone = limiter
        .admit_for(&heavy, NOW)
        .expect("nothing else is in flight");
    assert_eq!(limiter.admit(NOW).unwrap_err().inflight, 5);
    free(&limiter, [alone]);
    limiter.close();
    assert_eq!(
        limiter.admit_for(&heavy, NOW).unwrap_err().reason,
        RejectReason::Closed
    );
}

#[test]
fn the_heaviest_weight_does_not_run_into_the_waiting_bit() {
    let limiter = fixed(1, MAX_LIMIT);
    let slot = limiter
        .admit_for(&Request::new().weight(MAX_LIMIT), NOW)
        .unwrap();
    let seen = limiter.snapshot();
    assert_eq!(
        (seen.inflight, seen.limit, seen.waiting),
        (MAX_LIMIT, 1, false)
    );
    free(&limiter, [slot]);
    assert_eq!(limiter.snapshot().inflight, 0);
}

/// Heavy requests never fill the limit to the last slot, and their limit has to grow all the same.
#[test]
fn a_limit_that_only_heavy_requests_meet_grows() {
    let config = Config::new(Aimd::new(), TickRate::MICROS)
        .initial(8)
        .max(100);
    let limiter = Limiter::new(config);
    let heavy = Request::new().weight(3);
    let mut now = 0;
    for _ in 0..2_000 {
        let at = Timestamp::from_ticks(now);
        let held: Vec<_> = core::iter::from_fn(|| limiter.admit_for(&heavy, at).ok()).collect();
        now += 10_000;
        for slot in held {
            let _ = limiter.settle(slot, Outcome::Success, Timestamp::from_ticks(now));
        }
    }
    assert!(limiter.snapshot().limit >= 20, "{:?}", limiter.snapshot());
}

#[test]
fn wrong_shares_are_refused_with_the_field_and_change_nothing() {
    let limiter = fixed(10, 10);
    for (shares, text) in [
        (
            Shares::new().best_effort(0),
            "best_effort = 0: allowed are 1 to 700",
        ),
        (
            Shares::new().interactive(1_001),
            "interactive = 1001: allowed are 1 to 1000",
        ),
        (
            Shares::new().interactive(600),
            "batch = 700: allowed are 1 to 600",
        ),
    ] {
        assert_eq!(limiter.set_shares(shares).unwrap_err().to_string(), text);
        let config = Config::new(Fixed, TickRate::MICROS).shares(shares);
        assert_eq!(Limiter::try_new(config).unwrap_err().to_string(), text);
    }
    assert_eq!(limiter.shares(), Shares::new());
}
