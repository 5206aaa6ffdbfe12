//! The baseline: what must not poison it, what must move it, what it may cost to measure it.

use crate::drive::{Drive, baseline};
use crate::watch::Watch;
use crate::world::{MILLI, SECOND, Server, World};
use limiter_core::law::{Gradient, Law, Reason, Vegas};
use limiter_core::{Config, TickRate, Ticks, Timestamp};
use std::cell::RefCell;
use std::time::Duration;

/// 300 ms steadily, settled at 40 slots; one sample in a thousand took 150.
#[test]
fn one_lucky_sample_does_not_pin_the_baseline() {
    fn check<L: Law + Copy>(law: L, settled_rtt: u64) {
        let mut drive = Drive::measured(law, 40, 300 * MILLI).bounds(1, 40);
        drive.busy_for(50, settled_rtt);
        assert_eq!(drive.limit, 40, "settled");
        // The ten samples of a window, one of them the lucky one; once as a drain, too.
        let lucky = (9 * settled_rtt + 150 * MILLI) / 10;
        drive.step(drive.busy(lucky));
        drive.until_probe(settled_rtt);
        let mut window = drive.busy((9 * 300 + 150) * MILLI / 10);
        window.successes = 10;
        drive.step(window);
        let limits = drive.busy_for(20, settled_rtt);
        assert!(limits.iter().all(|&limit| limit >= 36), "{limits:?}");
    }
    check(Vegas::new().without_ramp(), 340 * MILLI);
    check(Gradient::new().without_ramp(), 300 * MILLI);
}

/// Postponing a probe until the load is low by itself never measures anything under load, so the probe
/// lowers the load instead (the design's choice); what it measures counts only if the load did go.
#[test]
fn a_measurement_with_the_load_still_there_does_not_raise_the_baseline() {
    fn check<L: Law<State = [u32; N]> + Copy, const N: usize>(law: L) {
        let mut drive = Drive::measured(law, 40, 20 * MILLI).bounds(40, 40);
        for loaded in [true, false] {
            // Drains stay due while the limit is pinned, with a window in between to see it lowered.
            drive.min = 1;
            drive.until_probe(20 * MILLI);
            let mut window = drive.busy(60 * MILLI);
            if loaded {
                window.inflight_avg_q8 = 40 * 256;
            }
            drive.step(window);
            let expected = if loaded { 20 } else { 60 };
            assert_eq!(baseline(&drive.state), expected * MILLI);
        }
    }
    check(Vegas::new().without_ramp());
    check(Gradient::new().without_ramp());
}

/// 100 in flight take 20 ms each; half of them take 10.
#[test]
fn only_requests_started_after_the_probe_opened_are_measured() {
    fn check<L: Law + Copy>(law: L) {
        let seen = RefCell::new(Vec::new());
        let config = Config::new(Watch(law, &seen), TickRate::MICROS);
        let config = config.initial(100).max(100);
        let mut world = World::new(Server::new(50, 10 * MILLI), 200, 1, config);
        world.run(30 * SECOND);
        let seen = seen.borrow();
        let drains: Vec<_> = seen
            .windows(2)
            .filter(|pair| pair[0].1.reason == Reason::Probing && pair[1].0.limit < pair[0].0.limit)
            .map(|pair| pair[1].0)
            .collect();
        assert!(drains.len() >= 5, "{} drains", drains.len());
        for window in drains {
            assert_eq!(window.rtt_mean, Ticks::new(10 * MILLI), "{window:?}");
        }
    }
    check(Gradient::new().without_ramp());
    check(Vegas::new().without_ramp());
}

/// 50 ms for ten minutes, then an incident of half an hour at 5 s.
#[test]
fn a_long_incident_does_not_become_the_new_normal() {
    let law = Gradient::new().without_ramp();
    let law = law.max_rtt(Duration::from_secs(1));
    let mut drive = Drive::new(law.expect("in range"), 20).bounds(4, 200);
    for window in 0..6_000 {
        drive.step(drive.busy(50 * MILLI));
        assert!(window < 100 || drive.limit >= 100, "{}", drive.limit);
    }
    // The incident begins within a drain, at worst.
    drive.until_probe(50 * MILLI);
    let mut limits = vec![drive.step(drive.busy(5 * SECOND)).limit];
    // Windows of ten seconds: two round trips.
    for _ in 0..180 {
        limits.push(drive.step(drive.busy(5 * SECOND)).limit);
        assert!(baseline(&drive.state) <= 100 * MILLI);
    }
    assert!(
        limits.is_sorted_by(|before, after| before >= after),
        "{limits:?}"
    );
    assert!(limits[40..].iter().all(|&limit| limit == 4), "{limits:?}");
    assert!(
        limits[180] <= limits[6],
        "after half an hour as after a minute"
    );
}

#[test]
fn a_baseline_follows_when_the_service_becomes_fast_again() {
    fn check<L: Law<State = [u32; N]> + Copy, const N: usize>(law: L) {
        let mut drive = Drive::new(law, 20);
        drive.busy_for(600, 100 * MILLI);
        assert_eq!(baseline(&drive.state), 100 * MILLI);
        drive.busy_for(100, 10 * MILLI);
        assert!(baseline(&drive.state) <= 20 * MILLI);
    }
    check(Vegas::new());
    check(Gradient::new());
}

/// 500 requests of 10 ms within a tenth of a second, then nothing for the rest of it.
#[test]
fn what_the_throughput_needs_is_taken_over_the_whole_window() {
    let seen = RefCell::new(Vec::new());
    let config = Config::new(Watch(Vegas::new(), &seen), TickRate::MICROS).initial(50);
    let second = Duration::from_secs(1);
    let config = config.windows(second, second);
    let limiter = limiter_core::Limiter::try_new(config).expect("in range");
    for burst in 0..10 {
        let at = burst * 10 * MILLI;
        let permits: Vec<_> = (0..50)
            .map(|_| {
                limiter
                    .try_acquire(Timestamp::from_ticks(at))
                    .expect("50 slots")
            })
            .collect();
        for permit in permits {
            permit.finish(
                limiter_core::Outcome::Success,
                Timestamp::from_ticks(at + 10 * MILLI),
            );
        }
    }
    let permit = limiter
        .try_acquire(Timestamp::from_ticks(SECOND))
        .expect("50 slots");
    permit.finish(
        limiter_core::Outcome::Success,
        Timestamp::from_ticks(SECOND + 100),
    );
    let (window, _) = seen.borrow()[0];
    assert_eq!((window.successes, window.inflight_peak), (501, 50));
    // 500 a second times 10 ms.
    let average = f64::from(window.inflight_avg_q8) / 256.0;
    assert!((4.9..5.1).contains(&average), "{average}");
}

/// A server of 20 slots that is always full.
#[test]
fn probes_cost_less_than_a_twentieth_of_the_goodput_and_leave_half_of_the_limit() {
    fn check<L: Law + Copy>(law: L, aligned: bool, service: (u64, u64)) {
        let mut server = Server::new(20, 0);
        server.service = service;
        let mut world = World::alone(server, 500, law);
        if aligned {
            world.limiters[0].set_wall_offset(Ticks::new(0));
        }
        // 1,000 and 3,000 round trips without a queue.
        let mean = (service.0 + service.1) / 2;
        world.run(1_000 * mean);
        let before = world.successes[0];
        let moves = world.run(3_000 * mean);
        let goodput = (world.successes[0] - before) as f64 / (20.0 * 3_000.0);
        assert!(goodput > 0.95, "{goodput}");
        let mut probes = moves.iter().filter(|moved| moved.reason == Reason::Probing);
        assert!(probes.clone().count() >= 8, "it did probe");
        assert!(probes.all(|moved| moved.to >= moved.from / 2 && moved.to >= 3));
    }
    for service in [(20 * MILLI, 20 * MILLI), (5 * MILLI, 35 * MILLI)] {
        check(Vegas::new(), true, service);
        check(Gradient::new(), true, service);
    }
    for service in [(MILLI, MILLI), (100, 900), (50 * MILLI, 350 * MILLI)] {
        check(Vegas::new(), false, service);
        check(Gradient::new(), false, service);
    }
}

#[test]
fn a_service_that_became_slower_for_good_does_not_keep_the_limit_at_its_floor() {
    fn check<L: Law + Copy>(law: L, floor: u32) {
        let mut drive = Drive::measured(law, floor, 10 * MILLI).bounds(floor, 1_000);
        let updates = drive.until_probe(30 * MILLI);
        assert!(updates <= 5, "{updates}");
        assert_eq!(drive.limit, floor);
        // The probe, and the first update after it.
        drive.step(drive.busy(30 * MILLI));
        drive.step(drive.busy(30 * MILLI));
        assert!(drive.limit > floor);
    }
    for floor in [1, 2, 10, 100] {
        check(Gradient::new().without_ramp(), floor);
    }
    // Below, a queue of 6 is tolerated anyway.
    for floor in [10, 100] {
        check(Vegas::new().without_ramp(), floor);
    }
}

/// Three times slower at once. Waiting for the next probe, the law would shrink the limit to nothing.
#[test]
fn a_limit_that_lost_half_without_relief_measures_again() {
    fn check<L: Law<State = [u32; N]> + Copy, const N: usize>(law: L) {
        let mut drive = Drive::measured(law, 40, 20 * MILLI);
        drive.until_probe(60 * MILLI);
        drive.step(drive.busy(60 * MILLI));
        assert_eq!(baseline(&drive.state), 60 * MILLI);
        assert!((18..=20).contains(&drive.limit), "{}", drive.limit);
    }
    check(Vegas::new().without_ramp());
    check(Gradient::new().without_ramp());
}

/// A clock on which no time passes would make each window the one that begins the drain.
#[test]
fn a_wall_clock_that_stands_still_in_a_drain_causes_one_only() {
    let mut drive = Drive::measured(Gradient::new().without_ramp(), 40, 20 * MILLI);
    let mut probes = 0;
    for _ in 0..200 {
        let before = drive.limit;
        let mut window = drive.busy(20 * MILLI);
        window.wall = Some(Timestamp::from_ticks(16 * SECOND));
        let decision = drive.step(window);
        probes += u32::from(decision.reason == Reason::Probing && decision.limit < before);
    }
    assert_eq!(probes, 1);
}

/// Twelve callers of one server: each alone would measure the queue of the others.
#[test]
fn drains_in_step_keep_many_callers_near_what_the_server_can_do() {
    let server = Server {
        service: (10 * MILLI, 30 * MILLI),
        ..Server::new(64, 0)
    };
    let config = Config::new(Gradient::new(), TickRate::MICROS).initial(5);
    let mut world = World::new(server, 2_000, 12, config);
    for (caller, limiter) in (0..).zip(&world.limiters) {
        // Clocks up to 55 ms apart.
        limiter.set_wall_offset(Ticks::new(caller * 5 * MILLI));
    }
    for slots in [64, 24, 64] {
        world.server.slots = slots;
        world.run(40 * SECOND);
        let mut mean = 0;
        for _ in 0..20 {
            world.run(SECOND);
            mean += world.total() / 20;
        }
        assert!(mean < slots as u32 * 2, "{mean} for {slots} slots");
    }
}
