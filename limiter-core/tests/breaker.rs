//! Breakers: against a plain reference, and the faults that people met in others.

#![cfg(not(limiter_loom))]

#[path = "breaker/model.rs"]
mod model;

use model::{LONGEST, at, breaker, end};

use core::time::Duration;
use limiter_core::{Breaker, BreakerChange, BreakerConfig, BreakerState, Outcome, TickRate, Ticks};

/// The default open time.
const OPEN: u64 = 5_000;

/// Opened at time 0, by as many failures as it takes.
fn opened(config: BreakerConfig) -> Breaker {
    let breaker = breaker(config.consecutive(Some(1)));
    fail(&breaker, 0);
    assert!(matches!(breaker.state(at(0)), BreakerState::Open { .. }));
    breaker
}

fn fail(breaker: &Breaker, now: u64) -> Option<BreakerChange> {
    end(breaker.try_pass(at(now)).unwrap(), Outcome::Failure, now)
}

fn succeed(breaker: &Breaker, now: u64) -> Option<BreakerChange> {
    end(breaker.try_pass(at(now)).unwrap(), Outcome::Success, now)
}

fn breaker_that_failed_at(now: u64) -> Breaker {
    let breaker = breaker(BreakerConfig::new().consecutive(Some(1)).probes(1));
    fail(&breaker, now);
    breaker
}

fn is_open(breaker: &Breaker, now: u64) -> bool {
    matches!(breaker.state(at(now)), BreakerState::Open { .. })
}

#[test]
fn failures_in_a_row_open_it_and_one_success_between_them_does_not() {
    let breaker = breaker(BreakerConfig::new().consecutive(Some(3)));
    fail(&breaker, 0);
    fail(&breaker, 0);
    succeed(&breaker, 0);
    fail(&breaker, 0);
    fail(&breaker, 0);
    assert_eq!(breaker.state(at(0)), BreakerState::Closed);
    assert_eq!(fail(&breaker, 0), Some(BreakerChange::Opened));
    let refused = breaker.try_pass(at(0)).unwrap_err();
    assert_eq!(refused.left, Ticks::new(OPEN));
}

#[test]
fn a_share_of_failures_opens_it_from_its_volume_on() {
    let config = BreakerConfig::new()
        .consecutive(None)
        .failure_share(Some(500))
        .volume(20);
    let breaker = breaker(config);
    for call in 0..9 {
        succeed(&breaker, call);
        fail(&breaker, call);
    }
    fail(&breaker, 10);
    assert_eq!(breaker.state(at(10)), BreakerState::Closed, "19 calls");
    assert_eq!(fail(&breaker, 10), Some(BreakerChange::Opened));
}

#[test]
fn slow_calls_open_it_though_they_succeed_and_slow_probes_keep_it_open() {
    let config = BreakerConfig::new()
        .slow_share(500, Duration::from_millis(100))
        .volume(10)
        .probes(1);
    let breaker = breaker(config);
    let slow = |begin: u64| {
        let pass = breaker.try_pass(at(begin)).unwrap();
        end(pass, Outcome::Success, begin + 101)
    };
    for call in 0..5 {
        succeed(&breaker, call);
    }
    for call in 0..4 {
        assert_eq!(slow(call), None);
    }
    assert_eq!(slow(10), Some(BreakerChange::Opened));
    assert_eq!(slow(200 + OPEN), Some(BreakerChange::Opened));
    let later = 400 + 3 * OPEN;
    assert_eq!(succeed(&breaker, later), Some(BreakerChange::Closed));
}

#[test]
fn failures_older_than_the_window_do_not_count() {
    let config = BreakerConfig::new()
        .consecutive(None)
        .volume(10)
        .window(Duration::from_secs(8));
    let breaker = breaker(config);
    for _ in 0..9 {
        fail(&breaker, 0);
    }
    for _ in 0..9 {
        fail(&breaker, 20_000);
    }
    assert_eq!(breaker.state(at(20_000)), BreakerState::Closed);
    assert_eq!(fail(&breaker, 20_000), Some(BreakerChange::Opened));
}

#[test]
fn an_overload_is_a_failure_and_the_callers_own_error_is_nothing() {
    let breaker = breaker(BreakerConfig::new().consecutive(Some(2)));
    for _ in 0..100 {
        end(breaker.try_pass(at(0)).unwrap(), Outcome::Ignored, 0);
    }
    end(breaker.try_pass(at(0)).unwrap(), Outcome::Overload, 0);
    end(breaker.try_pass(at(0)).unwrap(), Outcome::Cancelled, 0);
    assert_eq!(breaker.state(at(0)), BreakerState::Closed);
    end(breaker.try_pass(at(0)).unwrap(), Outcome::Overload, 0);
    assert!(is_open(&breaker, 0));
}

#[test]
fn open_becomes_half_open_by_time_alone_and_looking_changes_nothing() {
    let breaker = opened(BreakerConfig::new());
    for now in (0..OPEN).chain((0..20_000).rev()) {
        let _ = breaker.state(at(now));
    }
    assert!(is_open(&breaker, OPEN - 1));
    assert_eq!(breaker.state(at(OPEN)), BreakerState::HalfOpen);
    assert!(breaker.try_pass(at(OPEN)).unwrap().is_probe());
}

#[test]
fn an_ignored_probe_gives_its_lease_back() {
    let breaker = opened(BreakerConfig::new().probes(1));
    end(breaker.try_pass(at(OPEN)).unwrap(), Outcome::Ignored, OPEN);
    assert!(breaker.try_pass(at(OPEN)).is_ok());
}

#[test]
fn a_dropped_probe_gives_its_lease_back_and_a_decision_is_reached() {
    let breaker = opened(BreakerConfig::new().probes(10));
    let mut probes: Vec<_> = (0..10)
        .map(|_| breaker.try_pass(at(OPEN)).unwrap())
        .collect();
    assert!(breaker.try_pass(at(OPEN)).is_err());
    drop(probes.pop());
    for probe in probes {
        assert_eq!(end(probe, Outcome::Success, OPEN), None);
    }
    assert_eq!(succeed(&breaker, OPEN), Some(BreakerChange::Closed));
}

#[test]
fn a_probe_that_is_never_heard_of_is_lost_after_its_time() {
    let breaker = opened(BreakerConfig::new().probes(1));
    let hanging = breaker.try_pass(at(OPEN)).unwrap();
    assert!(breaker.try_pass(at(OPEN + 9_999)).is_err());
    let next = breaker.try_pass(at(OPEN + 10_000)).unwrap();
    // What the lost one says is of an older generation.
    assert_eq!(end(hanging, Outcome::Failure, OPEN + 10_001), None);
    assert_eq!(
        end(next, Outcome::Success, OPEN + 10_002),
        Some(BreakerChange::Closed)
    );
}

#[test]
fn of_a_thousand_at_the_half_open_moment_three_pass_however_long_those_hang() {
    let breaker = opened(BreakerConfig::new().probes(3));
    let passes: Vec<_> = (0..1_000).map(|_| breaker.try_pass(at(OPEN))).collect();
    assert_eq!(passes.iter().filter(|pass| pass.is_ok()).count(), 3);
    for now in OPEN..OPEN + 10_000 {
        assert!(breaker.try_pass(at(now)).is_err());
    }
}

#[test]
fn a_result_of_an_earlier_period_changes_nothing() {
    let breaker = breaker(BreakerConfig::new().consecutive(Some(2)).probes(2));
    let old: Vec<_> = (0..6).map(|_| breaker.try_pass(at(0)).unwrap()).collect();
    fail(&breaker, 0);
    fail(&breaker, 0);
    let probe = breaker.try_pass(at(OPEN)).unwrap();
    let mut old = old.into_iter();
    // While half open: neither closes nor opens it, nor frees a lease.
    for outcome in [Outcome::Success, Outcome::Success, Outcome::Failure] {
        assert_eq!(end(old.next().unwrap(), outcome, OPEN), None);
    }
    let second = breaker.try_pass(at(OPEN)).unwrap();
    assert!(breaker.try_pass(at(OPEN)).is_err());
    end(probe, Outcome::Success, OPEN);
    end(second, Outcome::Success, OPEN);
    // While closed again: no row of failures.
    for pass in old {
        assert_eq!(end(pass, Outcome::Failure, OPEN), None);
    }
    assert_eq!(breaker.state(at(OPEN)), BreakerState::Closed);
}

#[test]
fn a_failed_probe_opens_it_at_once_and_three_successes_after_it_do_not_close_it() {
    let breaker = opened(BreakerConfig::new().probes(4));
    let probes: Vec<_> = (0..4)
        .map(|_| breaker.try_pass(at(OPEN)).unwrap())
        .collect();
    let mut probes = probes.into_iter();
    assert_eq!(
        end(probes.next().unwrap(), Outcome::Failure, OPEN),
        Some(BreakerChange::Opened)
    );
    for probe in probes {
        assert_eq!(end(probe, Outcome::Success, OPEN), None);
    }
    // For twice as long.
    assert!(is_open(&breaker, OPEN + 2 * OPEN - 1));
    assert_eq!(breaker.state(at(OPEN + 2 * OPEN)), BreakerState::HalfOpen);
}

#[test]
fn the_open_time_doubles_up_to_its_most_and_starts_anew_after_closing() {
    let breaker = opened(BreakerConfig::new().probes(1));
    let (mut now, mut lengths) = (0, Vec::new());
    for _ in 0..30 {
        let BreakerState::Open { left } = breaker.state(at(now)) else {
            panic!("not open");
        };
        lengths.push(left.get());
        now += left.get();
        fail(&breaker, now);
    }
    assert_eq!(lengths[..5], [5_000, 10_000, 20_000, 20_000, 20_000]);
    assert!(lengths[5..].iter().all(|&length| length == 20_000));
    now += 20_000;
    succeed(&breaker, now);
    fail(&breaker, now);
    assert_eq!(
        breaker.state(at(now)),
        BreakerState::Open {
            left: Ticks::new(OPEN)
        }
    );
}

#[test]
fn breakers_that_opened_together_do_not_probe_together() {
    let mut lengths: Vec<_> = (0..100u32)
        .map(|index| {
            let breaker = breaker(BreakerConfig::new().consecutive(Some(1)));
            let pass = breaker.try_pass(at(0)).unwrap();
            pass.finish(Outcome::Failure, at(0), index.wrapping_mul(u32::MAX / 100));
            match breaker.state(at(0)) {
                BreakerState::Open { left } => left.get(),
                other => panic!("{other:?}"),
            }
        })
        .collect();
    assert!(
        lengths
            .iter()
            .all(|length| (OPEN / 2..=OPEN).contains(length))
    );
    lengths.dedup();
    assert!(lengths.len() > 90);
}

#[test]
fn it_opens_and_half_opens_over_the_wrap_of_stamps_as_without_it() {
    let wrap = 1 << 32;
    let breaker = breaker(BreakerConfig::new().consecutive(Some(1)).probes(1));
    fail(&breaker, wrap - 2_000);
    assert!(is_open(&breaker, wrap + 2_999));
    assert_eq!(breaker.state(at(wrap + 3_000)), BreakerState::HalfOpen);

    let other = breaker_that_failed_at(wrap - OPEN - 1);
    let _hanging = other.try_pass(at(wrap - 1)).unwrap();
    assert!(other.try_pass(at(wrap + 9_998)).is_err());
    assert!(other.try_pass(at(wrap + 9_999)).is_ok());
}

#[test]
fn no_idle_time_and_no_clock_that_was_set_back_keep_it_open() {
    for idle in [
        86_400_000u64,
        365 * 86_400_000,
        (1 << 32) - 1_000_000,
        u64::MAX / 3,
    ] {
        let breaker = opened(BreakerConfig::new());
        assert_eq!(breaker.state(at(idle)), BreakerState::HalfOpen, "{idle}");
        assert!(breaker.try_pass(at(idle)).is_ok());
    }
    // At a whole turn of the stamps it may look open once more, for no longer than it was.
    let turned = opened(BreakerConfig::new());
    assert_eq!(turned.state(at((1 << 32) + OPEN)), BreakerState::HalfOpen);
    let breaker = breaker(BreakerConfig::new().consecutive(Some(1)));
    fail(&breaker, 3_600_000_000);
    assert!(breaker.try_pass(at(10)).is_ok(), "set back by a month");
}

#[test]
fn a_thread_with_a_slightly_older_time_does_not_void_the_leases() {
    let breaker = opened(BreakerConfig::new().probes(1));
    let _probe = breaker.try_pass(at(OPEN + 500)).unwrap();
    assert!(breaker.try_pass(at(OPEN + 499)).is_err());
    assert!(breaker.try_pass(at(OPEN)).is_err());
}

#[test]
fn configurations_that_cannot_work_are_errors() {
    let config = BreakerConfig::new();
    let second = Duration::from_secs(1);
    for wrong in [
        config.consecutive(Some(0)),
        config.consecutive(Some(4_096)),
        config.failure_share(Some(0)),
        config.failure_share(Some(1_001)),
        config.slow_share(0, second),
        config.volume(0),
        config.window(Duration::ZERO),
        config.open(Duration::ZERO, second),
        config.open(second * 2, second),
        config.open(second, Duration::MAX),
        config.probes(0),
        config.probes(64),
        config.probe_time(Duration::ZERO),
    ] {
        assert!(
            Breaker::try_new(wrong, TickRate::MILLIS).is_err(),
            "{wrong:?}"
        );
    }
}

#[test]
fn a_pass_that_owns_its_handle_ends_in_another_thread_and_its_lease_comes_back_from_there() {
    let breaker = std::sync::Arc::new(opened(BreakerConfig::new().probes(1)));
    let pass = || Breaker::try_pass_owned(std::sync::Arc::clone(&breaker), at(OPEN + 1));
    let lost = pass().expect("half open");
    assert!(pass().is_err(), "one probe at a time");
    std::thread::spawn(move || drop(lost)).join().unwrap();
    let probe = pass().expect("the lost lease came back");
    let ended = std::thread::spawn(move || probe.finish(Outcome::Success, at(OPEN + 2), LONGEST));
    assert_eq!(ended.join().unwrap(), Some(BreakerChange::Closed));
}
