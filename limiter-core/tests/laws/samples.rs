//! Odd samples: refused quickly, none at all, noisy, on clocks too coarse.

use crate::drive::{Drive, baseline};
use crate::watch::Watch;
use crate::world::{MILLI, SECOND, Server, World};
use limiter_core::law::{Aimd, AnyLaw, Gradient, Knee, Law, Reason, Vegas};
use limiter_core::{Config, Limiter, Outcome, TickRate, Ticks, Timestamp};
use std::cell::RefCell;

/// 90 of 100 are refused within 0.1 ms, 10 are done in 20.
#[test]
fn quick_refusals_do_not_look_like_a_quick_service() {
    fn check<L: Law<State = [u32; N]> + Copy, const N: usize>(law: L) {
        let mut drive = Drive::measured(law, 20, 20 * MILLI);
        for _ in 0..50 {
            let before = drive.limit;
            let mut window = drive.busy(20 * MILLI);
            (window.successes, window.overloads) = (10, 90);
            drive.step(window);
            assert!(drive.limit < before || before == 1);
            assert_eq!(baseline(&drive.state), 20 * MILLI);
        }

        // What reaches the law contains no refusal's time.
        let seen = RefCell::new(Vec::new());
        let config = Config::new(Watch(law, &seen), TickRate::MICROS);
        let limiter = Limiter::try_new(config.initial(100)).expect("in range");
        for round in 0..50 {
            let start = round * 21 * MILLI;
            let at = |after| Timestamp::from_ticks(start + after);
            let mut permits: Vec<_> = (0..100)
                .filter_map(|_| limiter.try_acquire(at(0)).ok())
                .collect();
            let served = permits.split_off(permits.len() * 9 / 10);
            for permit in permits {
                permit.finish(Outcome::Overload, at(100));
            }
            for permit in served {
                permit.finish(Outcome::Success, at(20 * MILLI));
            }
        }
        assert!(limiter.snapshot().limit < 100);
        assert!(seen.borrow().iter().any(|(window, _)| window.successes > 0));
        for (window, _) in seen
            .borrow()
            .iter()
            .filter(|(window, _)| window.successes > 0)
        {
            assert_eq!(window.rtt_mean, Ticks::new(20 * MILLI));
        }
    }
    check(Vegas::new().without_ramp());
    check(Gradient::new().without_ramp());
}

/// RTTs of 16 to 25 ms that are noise, without a queue.
#[test]
fn ordinary_noise_does_not_shrink_the_limit() {
    let law = Gradient::new().tolerance(1_500).expect("in range");
    let server = Server {
        service: (16 * MILLI, 25 * MILLI),
        ..Server::new(100_000, 0)
    };
    let config = Config::new(law, TickRate::MICROS).max(100);
    let mut world = World::new(server, 500, 1, config);
    world.run(5 * SECOND);
    let steady = world.limit();
    for moved in world.run(60 * SECOND) {
        // A probe is no reaction to noise, and is moved back.
        assert!(
            moved.reason == Reason::Probing || moved.to * 10 >= steady * 9,
            "{moved:?}"
        );
    }
    assert!(steady >= 100);
}

#[test]
fn an_empty_window_changes_neither_limit_nor_baseline() {
    fn check<L: Law<State = [u32; N]>, const N: usize>(law: L) {
        let mut drive = Drive::measured(law, 20, 20 * MILLI);
        let before = drive.state;
        for elapsed in [0, 1, SECOND, u64::MAX] {
            let mut window = drive.window();
            window.inflight_peak = 20;
            window.elapsed = Ticks::new(elapsed);
            let decision = drive.step(window);
            assert_eq!(
                (decision.limit, decision.reason),
                (20, Reason::HeldTooFewSamples)
            );
            assert_eq!(drive.state, before);
        }
    }
    check(Vegas::new().without_ramp());
    check(Gradient::new().without_ramp());
    // The drain's window as well: the limit goes back, and nothing was learned.
    let mut drive = Drive::new(Vegas::new().without_ramp(), 20);
    drive.step(drive.busy(20 * MILLI));
    let decision = drive.step(drive.window());
    assert_eq!((decision.limit, decision.reason), (21, Reason::Probing));
    assert_eq!(baseline(&drive.state), 20 * MILLI);
}

/// 2.54 and 3.54 ms at a limit of 20 are a queue of 6, which is held; in whole milliseconds they would be
/// a queue of 7. Times are typed ticks with their rate, and what may be one tick is none.
#[test]
fn a_clock_of_milliseconds_does_not_make_the_queue_jump() {
    for (rate, base, rtt, expect) in [
        (
            TickRate::NANOS,
            2_540_000,
            3_540_000,
            (20, Reason::HeldSteady),
        ),
        (TickRate::MICROS, 2_540, 3_540, (20, Reason::HeldSteady)),
        (TickRate::MILLIS, 2, 3, (21, Reason::Grew)),
    ] {
        let mut drive = Drive::measured(Vegas::new().without_ramp(), 20, base);
        drive.rate = rate;
        let decision = drive.step(drive.busy(rtt));
        assert_eq!((decision.limit, decision.reason), expect);
    }
}

/// Start and end in the same tick of a coarse clock.
#[test]
fn a_round_trip_of_no_ticks_is_one_and_divides_nothing() {
    for law in [
        AnyLaw::Aimd(Aimd::new()),
        AnyLaw::Vegas(Vegas::new()),
        AnyLaw::Gradient(Gradient::new()),
        AnyLaw::Knee(Knee::new()),
    ] {
        let seen = RefCell::new(Vec::new());
        let config = Config::new(Watch(law, &seen), TickRate::MILLIS)
            .min(2)
            .max(50);
        let limiter = Limiter::try_new(config).expect("in range");
        for tick in 0..1_000 {
            let at = Timestamp::from_ticks(tick);
            let permits: Vec<_> = (0..60)
                .filter_map(|_| limiter.try_acquire(at).ok())
                .collect();
            assert!(!permits.is_empty());
            for permit in permits {
                permit.finish(Outcome::Success, at);
            }
            let limit = limiter.snapshot().limit;
            assert!((2..=50).contains(&limit), "{law:?}: {limit}");
        }
        assert!(seen.borrow().len() > 5);
        assert!(
            seen.borrow()
                .iter()
                .all(|(window, _)| window.rtt_mean == Ticks::new(0))
        );

        // A tick now and then is no queue either.
        let mut drive = Drive::new(law, 20).bounds(2, 50);
        for window in 0..1_000_u64 {
            drive.step(drive.busy(window % 7 / 6));
        }
        assert!(drive.limit >= 20, "{law:?}: {}", drive.limit);
    }
}
