//! Exact answers at the boundaries: one below, at, one above.

use crate::drive::{Drive, baseline};
use limiter_core::law::{Aimd, AnyLaw, Gradient, Law, Reason, Vegas, Window};
use limiter_core::{TickRate, Ticks, Timestamp};
use std::time::Duration;

const BASE: u64 = 10_000;

/// What `law` with a measured baseline of 10 ms at a limit of 20 answers to a busy window, changed.
#[track_caller]
fn check<L: Law>(law: L, change: impl FnOnce(&mut Window), expect: (u32, Reason)) {
    let mut drive = Drive::measured(law, 20, BASE);
    let mut window = drive.busy(BASE);
    change(&mut window);
    let decision = drive.step(window);
    assert_eq!((decision.limit, decision.reason), expect);
}

fn rtt(ticks: u64) -> impl FnOnce(&mut Window) {
    move |window| window.rtt_mean = Ticks::new(ticks)
}

#[test]
fn a_window_is_judged_from_its_least_number_of_samples_on() {
    let laws = [
        AnyLaw::Aimd(Aimd::new()),
        AnyLaw::Vegas(Vegas::new()),
        AnyLaw::Gradient(Gradient::new()),
    ];
    for law in laws {
        for (successes, expect) in [
            (0, (20, Reason::HeldTooFewSamples)),
            (9, (20, Reason::HeldTooFewSamples)),
            (10, (40, Reason::Grew)),
            (11, (40, Reason::Grew)),
        ] {
            let mut drive = Drive::new(law, 20);
            let mut window = drive.busy(BASE);
            window.successes = successes;
            let decision = drive.step(window);
            assert_eq!((decision.limit, decision.reason), expect, "{law:?}");
        }
    }
}

#[test]
fn a_window_is_limited_when_the_last_slot_was_taken() {
    let held = (20, Reason::HeldNotLimited);
    for (peak, vegas, gradient) in [
        (19, held, held),
        (20, (21, Reason::Grew), (24, Reason::Grew)),
        (21, (21, Reason::Grew), (24, Reason::Grew)),
    ] {
        check(
            Vegas::new().without_ramp(),
            |w| w.inflight_peak = peak,
            vegas,
        );
        check(
            Gradient::new().without_ramp(),
            |w| w.inflight_peak = peak,
            gradient,
        );
    }
}

#[test]
fn vegas_grows_below_alpha_and_shrinks_above_beta() {
    // queue = 20 - 200,000 / rtt, and a tick is none.
    for (ticks, expect) in [
        (10_001, (21, Reason::Grew)),
        // Below 2; above, rounded up to 3.
        (11_112, (21, Reason::Grew)),
        (11_113, (20, Reason::HeldSteady)),
        // Below 6; above, rounded up to 7.
        (14_287, (20, Reason::HeldSteady)),
        (14_288, (19, Reason::CutLatency)),
        (u64::MAX, (19, Reason::CutLatency)),
    ] {
        check(Vegas::new().without_ramp(), rtt(ticks), expect);
    }
}

#[test]
fn vegas_steps_by_the_decimal_logarithm() {
    for (limit, step) in [(9, 1), (10, 1), (99, 1), (100, 2), (999, 2), (1_000, 3)] {
        let mut drive = Drive::measured(Vegas::new().without_ramp(), limit, BASE);
        drive.max = 10_000;
        assert_eq!(drive.step(drive.busy(BASE)).limit, limit + step);
    }
}

#[test]
fn gradient_tolerates_a_quarter_more_than_the_baseline_and_no_tick_beyond() {
    for (ticks, expect) in [
        (10_000, (24, Reason::Grew)),
        (12_501, (24, Reason::Grew)),
        // A hundredth of the limit is not a slot yet, but no headroom any more.
        (12_600, (19, Reason::CutLatency)),
        // g = 5/8, 1/2 and less.
        (20_001, (18, Reason::CutLatency)),
        (25_001, (17, Reason::CutLatency)),
    ] {
        check(Gradient::new().without_ramp(), rtt(ticks), expect);
    }
}

#[test]
fn gradient_shrinks_above_its_absolute_bound() {
    for hz in [100, 32_768, 1_000_000, 1_000_000_000, u32::MAX] {
        let rate = TickRate::hz(hz).expect("100 or more");
        let law = Gradient::new()
            .without_ramp()
            .max_rtt(Duration::from_secs(1));
        let law = law.expect("in range");
        for (ticks, reason) in [
            (u64::from(hz) - 1, Reason::Grew),
            (u64::from(hz), Reason::Grew),
            (u64::from(hz) + 1, Reason::CutLatency),
            (u64::MAX, Reason::CutLatency),
        ] {
            // The relative signal alone sees nothing wrong.
            let mut drive = Drive::measured(law, 20, BASE);
            drive.state[1] = u32::MAX;
            drive.rate = rate;
            assert_eq!(
                drive.step(drive.busy(ticks)).reason,
                reason,
                "{ticks} at {hz}"
            );
        }
    }
}

#[test]
fn gradient_grows_to_three_times_what_the_throughput_needs_without_a_queue() {
    // 4 in flight on average, at bursts up to the limit: 3 · 4 + 1. Powers of two, for exact logarithms.
    for (limit, grown) in [(2, 3), (9, 12), (12, 13), (13, 13), (14, 14), (40, 40)] {
        let mut drive = Drive::measured(Gradient::new().without_ramp(), limit, 8_192);
        // The throughput seen before.
        drive.state[4] = 0;
        let mut window = drive.busy(8_192);
        window.inflight_avg_q8 = 4 * 256;
        assert_eq!(drive.step(window).limit, grown, "from {limit}");
        // Congested, it goes back to that at once.
        let mut drive = Drive::measured(Gradient::new().without_ramp(), 100, 8_192);
        drive.state[4] = 0;
        let mut window = drive.busy(3 * 8_192);
        window.inflight_avg_q8 = 12 * 256;
        assert_eq!(drive.step(window).limit, 13);
    }
}

/// By half in 64 windows: what was possible once does not bound the limit for ever.
#[test]
fn gradient_forgets_the_greatest_throughput() {
    // Pinned: no probe comes in between.
    let mut drive = Drive::measured(Gradient::new().without_ramp(), 64, 8_192).bounds(64, 64);
    drive.step(drive.busy(8_192));
    for (windows, limit) in [(10, 56), (117, 49), (64, 25), (64, 13), (64, 12)] {
        for _ in 0..windows {
            let mut window = drive.busy(8_192);
            window.inflight_avg_q8 = 4 * 256;
            drive.step(window);
        }
        let mut congested = drive.bounds(1, 64);
        let mut window = congested.busy(3 * 8_192);
        window.inflight_avg_q8 = 4 * 256;
        congested.step(window);
        if congested.limit == 32 {
            // A probe on the way.
            congested.step(congested.busy(8_192));
        }
        assert_eq!(congested.limit, limit);
    }
}

#[test]
fn a_limit_set_by_hand_has_no_fraction() {
    let law = Gradient::new().without_ramp();
    let mut drive = Drive::measured(law, 20, BASE);
    // 24.47.
    drive.step(drive.busy(BASE));
    law.on_set(&mut drive.state, 3);
    drive.limit = 3;
    // 3 and 1.73; with the fraction it would be 5.2.
    assert_eq!(drive.step(drive.busy(BASE)).limit, 4);
}

#[test]
fn a_probe_halves_the_limit_but_leaves_three() {
    for (limit, low) in [
        (2, 1),
        (3, 2),
        (4, 3),
        (5, 3),
        (6, 3),
        (7, 4),
        (100, 50),
        (101, 51),
    ] {
        let mut drive = Drive::new(Vegas::new().without_ramp(), limit);
        let decision = drive.step(drive.busy(BASE));
        assert_eq!((decision.limit, decision.reason), (low, Reason::Probing));
        let next = decision.next.expect("a window of its own");
        assert_eq!(next.settle, Ticks::new(2 * BASE));
    }
}

#[test]
fn a_drain_counts_only_when_the_load_went() {
    // 10 slots: half more, and one.
    for (average_q8, measured) in [(4_095, true), (4_096, true), (4_097, false)] {
        let mut drive = Drive::new(Vegas::new().without_ramp(), 20);
        drive.step(drive.busy(20_000));
        assert_eq!((drive.limit, baseline(&drive.state)), (10, 20_000));
        let mut window = drive.busy(10_000);
        window.inflight_avg_q8 = average_q8;
        drive.step(window);
        let expected = if measured { 10_000 } else { 20_000 };
        assert_eq!(baseline(&drive.state), expected, "{average_q8}");
    }
}

#[test]
fn with_a_wall_clock_a_drain_begins_with_every_eighth_second() {
    const MS: u64 = 1_000;
    // Milliseconds of the wall clock; whether a drain begins, and else how long the next window is.
    for (wall, drains, length) in [
        (7_940, false, None),
        (7_961, false, Some(39)),
        (7_999, false, Some(1)),
        (8_000, true, None),
        (8_001, true, None),
        (8_479, true, None),
        (8_481, false, None),
        (8_500, false, None),
        (16_000, true, None),
    ] {
        let mut drive = Drive::measured(Vegas::new().without_ramp(), 20, BASE);
        let mut window = drive.busy(BASE);
        window.wall = Some(Timestamp::from_ticks(wall * MS));
        let decision = drive.step(window);
        assert_eq!(decision.reason == Reason::Probing, drains, "at {wall} ms");
        let Some(next) = decision.next else {
            assert_eq!(length, None, "at {wall} ms");
            continue;
        };
        if drains {
            let end = wall * MS + next.settle.get() + next.length.get();
            assert_eq!(end % 8_000_000, 500_000, "it ends with the half second");
            assert!(next.settle.get() >= BASE);
        } else {
            assert_eq!(Some(next.length.get() / MS), length, "at {wall} ms");
        }
    }
}
