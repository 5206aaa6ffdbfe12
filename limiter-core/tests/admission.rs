//! Admission against a plain reference model, in any order of operations and under any clock.

#[path = "admission/model.rs"]
mod model;

use limiter_core::law::Fixed;
use limiter_core::{
    Config, Limiter, MAX_LIMIT, Outcome, RejectReason, TickRate, Tickets, Timestamp,
};

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
fn utilisation_is_of_the_limit_also_where_that_shrank_below_what_is_in_flight_or_was_closed() {
    let limiter = fixed(10);
    let seen = || limiter.snapshot().utilisation();
    assert_eq!(seen(), 0);
    let held: Vec<_> = (0..5).map(|_| limiter.try_acquire(NOW).unwrap()).collect();
    assert_eq!(seen(), 500);
    limiter.set_limit(1, NOW).unwrap();
    assert_eq!(seen(), 5_000);
    let _ = limiter.close();
    assert_eq!(seen(), 1_000);
    drop(held);
    assert_eq!(seen(), 1_000);
}

#[test]
fn a_ticket_of_another_limiter_is_an_error_and_frees_nothing() {
    let limiters = [fixed(9), fixed(9)];
    let [here, there] = limiters.each_ref().map(Tickets::<'_, 3, Fixed>::new);
    let (mine, others) = [&here, &there]
        .map(|table| table.try_acquire(NOW).unwrap())
        .into();
    assert!(here.finish(others, Outcome::Success, NOW).is_err());
    assert!(there.finish(mine, Outcome::Success, NOW).is_err());
    assert_eq!(
        limiters
            .each_ref()
            .map(|limiter| limiter.snapshot().inflight),
        [1, 1]
    );
    assert!(here.finish(mine, Outcome::Success, NOW).is_ok());
    assert!(there.finish(others, Outcome::Success, NOW).is_ok());
}

#[test]
fn a_table_without_tickets_gives_its_slot_back() {
    let limiter = fixed(9);
    let tickets: Tickets<'_, 1, Fixed> = Tickets::new(&limiter);
    let only = tickets.try_acquire(NOW).unwrap();
    let refused = tickets.try_acquire(NOW).unwrap_err();
    assert_eq!(refused.reason, RejectReason::TicketsOut);
    // It took no slot, which it would have had to give back to whoever waits.
    assert_eq!(limiter.snapshot().inflight_peak, 1);
    assert_eq!(limiter.snapshot().inflight, 1);
    assert!(tickets.finish(only, Outcome::Success, NOW).is_ok());
    assert_eq!(limiter.snapshot().inflight, 0);
}
