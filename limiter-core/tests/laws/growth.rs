//! Up and down: how fast, from where, and where it ends.

use crate::drive::Drive;
use crate::world::{MILLI, SECOND, Server, World, mean_limit};
use limiter_core::law::{Aimd, AnyLaw, Gradient, Knee, Reason, Vegas};
use limiter_core::{Config, Limiter, Outcome, TickRate, Timestamp};

const ALL: [AnyLaw; 4] = [
    AnyLaw::Aimd(Aimd::new()),
    AnyLaw::Vegas(Vegas::new()),
    AnyLaw::Gradient(Gradient::new()),
    AnyLaw::Knee(Knee::new()),
];

/// The server is never the one that holds it up.
const VAST: Server = Server::new(100_000, 20 * MILLI);

/// 10,000 a second of 25 µs each are a quarter of a request at a time.
#[test]
fn a_need_below_one_does_not_collapse_to_zero_and_recovers() {
    for law in ALL {
        let mut drive = Drive::new(law, 20);
        for _ in 0..100 {
            let mut window = drive.busy(25);
            (window.inflight_peak, window.inflight_avg_q8) = (1, 64);
            drive.step(window);
            assert!(drive.limit >= 1, "{law:?}");
        }
        // However it got there, a demand of 10 lifts it.
        let mut drive = Drive::new(law, 1);
        let limits = drive.busy_for(10, 25);
        assert!(
            limits.iter().any(|&limit| limit >= 2),
            "{law:?}: {limits:?}"
        );
    }
}

#[test]
fn a_limit_falls_when_nothing_but_overload_comes_back() {
    for law in ALL {
        let mut drive = Drive::new(law, 100);
        for round in 0..10 {
            let mut window = drive.busy(0);
            (window.successes, window.overloads) = (0, 50);
            let decision = drive.step(window);
            assert!(decision.cut, "{law:?}: window {round}");
        }
        // 100 · 0.9¹⁰.
        assert!(drive.limit <= 35, "{law:?}: {}", drive.limit);

        let config = Config::new(law, TickRate::MICROS).initial(100);
        let limiter = Limiter::try_new(config).expect("in range");
        for round in 0..20 {
            let at = Timestamp::from_ticks(round * 20 * MILLI);
            let permits: Vec<_> = (0..100)
                .filter_map(|_| limiter.try_acquire(at).ok())
                .collect();
            let end = Timestamp::from_ticks((round + 1) * 20 * MILLI);
            for permit in permits {
                permit.finish(Outcome::Overload, end);
            }
        }
        let limit = limiter.snapshot().limit;
        assert!(limit <= 35, "{law:?}: {limit}");
    }
}

#[test]
fn a_limit_falls_below_where_it_started_and_stops_at_its_minimum() {
    let law = Aimd::new().without_ramp().keep(500).expect("in range");
    let mut drive = Drive::new(law, 20);
    let limits = [(); 7].map(|()| {
        let mut window = drive.busy(20 * MILLI);
        window.overloads = 50;
        drive.step(window).limit
    });
    assert_eq!(limits, [10, 5, 2, 1, 1, 1, 1]);
}

/// A probe, or a phase of the knee, is no reaction to the maximum.
#[test]
fn nothing_is_cut_at_the_maximum_while_all_is_well() {
    let at_max = |law| {
        let config = Config::new(law, TickRate::MICROS).initial(200).max(200);
        World::new(VAST, 500, 1, config)
    };
    for law in ALL {
        let mut world = at_max(law);
        for moved in world.run(2 * SECOND) {
            let cut = matches!(moved.reason, Reason::CutOverload | Reason::CutLatency);
            assert!(!cut, "{law:?}: {moved:?}");
        }
        assert!(world.limit() >= 160, "{law:?}: {}", world.limit());
        assert!(world.successes[0] > 10_000);
    }
    let moves = at_max(AnyLaw::Aimd(Aimd::new())).run(2 * SECOND);
    assert!(moves.is_empty(), "nothing moves: {moves:?}");
}

#[test]
fn a_limit_does_not_grow_while_only_a_part_of_it_is_used() {
    for law in ALL {
        let server = Server {
            service: (MILLI / 2, MILLI * 3 / 2),
            ..VAST
        };
        let mut world = World::alone(server, 2, law);
        world.run(5 * SECOND);
        assert!(world.successes[0] >= 9_500);
        assert_eq!(world.limit(), 20, "{law:?}");
        world.demand = 100;
        world.run(SECOND);
        assert!(world.limit() > 40, "{law:?}: {}", world.limit());
    }
}

/// After the start, where doubling is the purpose. `Gradient` adds its headroom, the square root of the
/// limit, which its design names.
#[test]
fn a_burst_that_ends_together_adds_one_round_trip() {
    for (law, most) in [
        (AnyLaw::Aimd(Aimd::new().without_ramp()), 21),
        (AnyLaw::Vegas(Vegas::new().without_ramp()), 21),
        (AnyLaw::Gradient(Gradient::new().without_ramp()), 24),
    ] {
        let config = Config::new(law, TickRate::MICROS).initial(20);
        let limiter = Limiter::try_new(config).expect("in range");
        let start = Timestamp::from_ticks(0);
        let permits: Vec<_> = (0..20)
            .map(|_| limiter.try_acquire(start).expect("20 slots"))
            .collect();
        for permit in permits {
            permit.finish(Outcome::Success, Timestamp::from_ticks(20 * MILLI));
            let limit = limiter.snapshot().limit;
            assert!(limit <= most, "{law:?}: {limit}");
        }
    }
}

/// The server refuses what is above ten, the demand is 100.
#[test]
fn refusals_steer_the_limit_to_where_they_begin_without_swings() {
    for law in ALL {
        let server = Server {
            refuses_above: 10,
            ..Server::new(100_000, 20 * MILLI)
        };
        let mut world = World::alone(server, 100, law);
        let first = world.run(60 * SECOND);
        let (start, limit) = (world.now, world.limit());
        let moves = world.run(240 * SECOND);
        let all = || first.iter().chain(&moves);
        assert!(all().all(|moved| moved.to <= 20), "{law:?}");
        let mean = mean_limit(&moves, start, 240 * SECOND, limit);
        // The higher of the two limits of a search is what the server refuses: the mean is a step below.
        let least = if matches!(law, AnyLaw::Knee(_)) {
            7.0
        } else {
            8.0
        };
        assert!((least..=12.0).contains(&mean), "{law:?}: {mean}");
    }
}

#[test]
fn all_of_the_initial_limit_is_admitted_and_few_samples_do_not_change_it() {
    for law in ALL {
        let config = Config::new(law, TickRate::MICROS).initial(100);
        let limiter = Limiter::try_new(config).expect("in range");
        let start = Timestamp::from_ticks(0);
        let mut permits: Vec<_> = (0..100)
            .map(|_| limiter.try_acquire(start).expect("100 slots"))
            .collect();
        assert!(limiter.try_acquire(start).is_err());
        // One less than it takes to judge, until the longest window has passed.
        for permit in permits.drain(..9) {
            permit.finish(Outcome::Success, Timestamp::from_ticks(20 * MILLI));
        }
        assert_eq!(limiter.snapshot().reason, Reason::Initial);
        let late = Timestamp::from_ticks(2 * SECOND);
        permits
            .pop()
            .expect("one of 91")
            .finish(Outcome::Failure, late);
        let after = limiter.snapshot();
        assert_eq!(after.limit, 100, "{law:?}");
        assert_ne!(after.reason, Reason::Initial, "the window did close");
    }
}

/// From 20 to 320, where one more each round trip would take 300 of them.
#[test]
fn the_start_doubles() {
    let ramp = [
        AnyLaw::Aimd(Aimd::new()),
        AnyLaw::Vegas(Vegas::new()),
        AnyLaw::Gradient(Gradient::new()),
    ];
    for law in ramp {
        let mut drive = Drive::new(law, 20);
        assert_eq!(drive.busy_for(4, 20 * MILLI), [40, 80, 160, 320], "{law:?}");
    }
    // Overload is seen within a round trip, a queue takes windows of two to be seen; three times what was
    // in flight on average, which lags, ends the growth of a window of Gradient.
    for (law, round_trips) in ramp.into_iter().zip([5, 8, 10]) {
        let mut world = World::alone(VAST, 500, law);
        world.run(round_trips * 20 * MILLI + MILLI);
        assert!(world.limit() >= 320, "{law:?}: {}", world.limit());
    }
}

/// From one slot, ten seconds of a service time: with windows of a second at most, no window would ever have
/// the successes that it takes to judge, and what an incident had cut would stay so for ever.
#[test]
fn a_limit_in_full_use_grows_however_slow_the_permits_are() {
    for law in [
        AnyLaw::Aimd(Aimd::new()),
        AnyLaw::Vegas(Vegas::new()),
        AnyLaw::Gradient(Gradient::new()),
    ] {
        for service in [120 * MILLI, SECOND, 10 * SECOND] {
            let config = Config::new(law, TickRate::MICROS).initial(1);
            let mut world = World::new(Server::new(50, service), 200, 1, config);
            world.run(service * 200);
            assert!(world.limit() >= 8, "{law:?}, {service}: {}", world.limit());
        }
    }
}
