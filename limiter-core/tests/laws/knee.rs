//! The knee between rest and overload: demand that fills the limit now and then, work that becomes slower, the way back.

use crate::drive::Drive;
use crate::world::{MILLI, SECOND};
use limiter_core::Ticks;
use limiter_core::law::{Knee, Law};

/// `knee` with so many in flight for a while, of 20 ms.
fn in_use(limit: u32, inflight: u32) -> Drive<Knee> {
    let mut drive = Drive::new(Knee::new(), limit);
    for _ in 0..20 {
        let mut window = drive.window();
        (window.successes, window.elapsed) = (50 * inflight, Ticks::new(SECOND));
        (window.rtt_mean, window.rtt_min) = (Ticks::new(20 * MILLI), Ticks::new(20 * MILLI));
        (window.inflight_peak, window.inflight_avg_q8) = (limit - 1, inflight * 256);
        drive.step(window);
    }
    assert_eq!(drive.limit, limit);
    drive
}

/// The limit has become full, with `successes` a second.
fn becomes_full(drive: &mut Drive<Knee>, successes: u32) -> u32 {
    let mut window = drive.busy(u64::from(drive.limit) * SECOND / u64::from(successes));
    (window.successes, window.elapsed) = (successes, Ticks::new(SECOND));
    drive.step(window);
    drive.limit
}

/// A store that became ten times slower got a limit of one, and kept it for a minute.
#[test]
fn knee_follows_work_that_becomes_slower_and_cuts_for_a_load_that_fills_the_limit() {
    // 12 in flight end 48 times a second.
    let mut slower = in_use(12, 5);
    assert!(becomes_full(&mut slower, 48) >= 24, "{}", slower.limit);
    // A little less: looked into, and no more.
    let mut little = in_use(12, 5);
    let limit = becomes_full(&mut little, 200);
    assert!((7..=16).contains(&limit), "{limit}");
    // 100 in flight end 500 times a second: twice the load, ten times the RTT.
    let mut load = in_use(100, 5);
    assert!(becomes_full(&mut load, 500) <= 60, "{}", load.limit);
}

/// So many permits of a limit in full use.
fn step(drive: &mut Drive<Knee>, successes: u32, rtt: u64) {
    let mut window = drive.busy(rtt);
    window.successes = successes;
    window.elapsed = Ticks::new(rtt * u64::from(successes) / u64::from(drive.limit));
    drive.step(window);
}

/// An outage cut it to two. A phase of ten permits, whose mean RTT varies by a fifth, says nothing about a step.
#[test]
fn knee_comes_back_to_a_quarter_of_what_was_usual_whatever_a_few_samples_say() {
    let mut drive = in_use(60, 40);
    drive.law.on_set(&mut drive.state, 2);
    drive.limit = 2;
    for rtt in [18, 26, 20, 27] {
        step(&mut drive, 10, rtt * MILLI);
    }
    assert!(drive.limit >= 10, "{}", drive.limit);
    // Above that a step that buys nothing ends it.
    for _ in 0..4 {
        let rtt = u64::from(drive.limit) * 2 * MILLI;
        step(&mut drive, 100, rtt);
    }
    assert!(drive.limit <= 20, "{}", drive.limit);
}

/// A load a little above the capacity fills the limit now and then. Multiplied each time, it came to 245 in front of
/// 40 slots, and everybody waited for those before.
#[test]
fn knee_does_not_follow_a_queue_that_fills_the_limit_now_and_then() {
    let mut drive = in_use(50, 30);
    for _ in 0..6 {
        step(&mut drive, 100, 27 * MILLI);
        let mut between = drive.busy(24 * MILLI);
        (between.inflight_peak, between.inflight_avg_q8) = (drive.limit - 1, drive.limit * 160);
        drive.step(between);
    }
    assert!(drive.limit <= 66, "{}", drive.limit);
}

/// Callers whose limiters were cut at the higher limit kept below it, and both stayed at 0.6 of the capacity.
#[test]
fn knee_gives_room_to_a_demand_between_its_two_limits() {
    // Sixteen slots at three times their capacity.
    let mut drive = Drive::new(Knee::new(), 10);
    for _ in 0..200 {
        let rtt = u64::from(drive.limit.max(16)) * 20 * MILLI / 16;
        step(&mut drive, 400, rtt);
    }
    let one = drive.limit;
    step(&mut drive, 400, 20 * MILLI);
    let demand = (one + drive.limit) / 2;
    assert!(one.min(drive.limit) < demand, "{one} and {}", drive.limit);
    // Then enough slots for all that is asked for.
    let mut limits = [0; 40];
    for limit in &mut limits {
        let mut window = drive.busy(20 * MILLI);
        window.elapsed = Ticks::new(SECOND);
        window.inflight_peak = drive.limit.min(demand);
        window.inflight_avg_q8 = window.inflight_peak * 256;
        window.successes = window.inflight_peak * 50;
        *limit = drive.step(window).limit;
    }
    let refused = limits[20..].iter().filter(|&&limit| limit < demand);
    assert_eq!(refused.count(), 0, "{demand}: {limits:?}");
    assert!(limits.iter().all(|&limit| limit < 2 * demand));
}

/// A slot of 20 ms that is asked for 150 times a second stands empty a quarter of the time; two are nearly enough, and
/// twice the RTT says that the second was for nothing.
#[test]
fn knee_does_not_keep_to_a_single_slot_that_stands_empty_between_arrivals() {
    let mut drive = Drive::new(Knee::new(), 2);
    let mut alone = 0;
    for round in 0..400 {
        let (successes, rtt, inflight_q8) = match drive.limit {
            1 => (375, 20, 192),
            2 => (460, 37, 440),
            limit => (500, u64::from(limit) * 20 - 4, limit * 256 - 48),
        };
        let mut window = drive.busy(rtt * MILLI);
        (window.successes, window.elapsed) = (successes, Ticks::new(10 * SECOND));
        window.inflight_avg_q8 = inflight_q8;
        alone += u32::from(round >= 200 && drive.limit == 1);
        drive.step(window);
    }
    assert_eq!(alone, 0, "of 200");
}
