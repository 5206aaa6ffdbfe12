//! Priorities and weights: the rules one by one, and against a plain reference model.

#[path = "priorities/model.rs"]
mod model;

use model::{NOW, fixed};

use limiter_core::law::{Aimd, Fixed};
use limiter_core::{
    Config, Limiter, MAX_LIMIT, Outcome, Priority, RejectReason, Request, Shares, Slot, TickRate,
    Timestamp,
};

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
                        (RejectReason::TooHeavy(2), 2, true),
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
    assert_eq!(reason(11), RejectReason::TooHeavy(11));
    assert_eq!(reason(u32::MAX), RejectReason::TooHeavy(u32::MAX));
    assert_eq!(reason(0), RejectReason::ZeroWeight);
    let batch = of(Priority::Batch).weight(8);
    assert_eq!(
        limiter.admit_for(&batch, NOW).unwrap_err().reason,
        RejectReason::TooHeavy(8)
    );
    let whole = limiter
        .admit_for(&Request::new().weight(10), NOW)
        .expect("10 of 10");
    assert_eq!(
        reason(11),
        RejectReason::TooHeavy(11),
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
    let refused = limiter.admit_for(&heavy, NOW).unwrap_err();
    assert_eq!(refused.reason, RejectReason::TooFewFree(5));
    let said = "fewer slots are free than it takes; refuse the caller, do not retry here \
                (1 in flight, limit 2, takes 5)";
    assert_eq!(refused.to_string(), said);
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
            "best_effort = 0: allowed are 1 to 700 (batch)",
        ),
        (
            Shares::new().interactive(1_001),
            "interactive = 1001: allowed are 1 to 1000",
        ),
        (
            Shares::new().interactive(600),
            "batch = 700: allowed are 1 to 600 (interactive)",
        ),
    ] {
        assert_eq!(limiter.set_shares(shares).unwrap_err().to_string(), text);
        let config = Config::new(Fixed, TickRate::MICROS).shares(shares);
        assert_eq!(Limiter::try_new(config).unwrap_err().to_string(), text);
    }
    assert_eq!(limiter.shares(), Shares::new());
}
