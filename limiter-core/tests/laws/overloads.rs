//! What overloads do: from which share on, and how much.

use crate::drive::Drive;
use limiter_core::law::{Aimd, AnyLaw, Gradient, Knee, Law, Reason, Vegas};

const BASE: u64 = 10_000;

/// 20 of 1,000 are tolerated, and what chance adds to them: two standard deviations are 8.9.
#[test]
fn overloads_are_tolerated_up_to_their_share_and_the_noise_of_it() {
    for (overloads, reason) in [
        (20, Reason::Grew),
        (28, Reason::Grew),
        (29, Reason::CutOverload),
        (30, Reason::CutOverload),
    ] {
        let mut drive = Drive::new(Aimd::new().without_ramp(), 20);
        let mut window = drive.busy(BASE);
        (window.successes, window.overloads) = (1_000 - overloads, overloads);
        assert_eq!(drive.step(window).reason, reason, "{overloads} of 1,000");
        window.tolerance = 0;
        assert_eq!(drive.step(window).reason, Reason::CutOverload);
        window.tolerance = 1_000;
        assert_ne!(drive.step(window).reason, Reason::CutOverload);
    }
}

#[test]
fn overload_takes_the_larger_of_the_share_and_what_the_rtt_would_take() {
    fn check<L: Law>(law: L, limit: u32, rtt: u64, expect: u32) {
        let mut drive = Drive::measured(law, limit, BASE);
        drive.max = 10_000;
        let mut window = drive.busy(rtt);
        window.overloads = 50;
        let decision = drive.step(window);
        assert_eq!(
            (decision.limit, decision.reason),
            (expect, Reason::CutOverload)
        );
    }
    let vegas = Vegas::new().without_ramp();
    check(vegas, 1_000, BASE, 900);
    check(vegas.keep(999).expect("in range"), 1_000, BASE, 997);
    let gradient = Gradient::new().without_ramp();
    check(gradient, 40, BASE, 36);
    check(gradient.keep(999).expect("in range"), 40, BASE, 39);
    // g is a half: an eighth.
    check(gradient.keep(999).expect("in range"), 40, 10 * BASE, 35);
    check(gradient.keep(500).expect("in range"), 40, 10 * BASE, 20);
}

/// Both start a search, whose higher limit has to fit below the maximum.
#[test]
fn of_two_cuts_at_the_maximum_the_deeper_one_does_not_end_higher() {
    let limits = [320, 400, 600].map(|overloads| {
        let mut drive = Drive::new(Knee::new(), 1_000);
        let mut window = drive.busy(BASE);
        (window.successes, window.overloads) = (1_000 - overloads, overloads);
        let decision = drive.step(window);
        assert_eq!(decision.reason, Reason::CutOverload);
        decision.limit
    });
    assert!(limits.is_sorted_by(|less, more| less >= more), "{limits:?}");
}

#[test]
fn the_first_overload_takes_back_the_last_doubling() {
    for law in [
        AnyLaw::Aimd(Aimd::new()),
        AnyLaw::Vegas(Vegas::new()),
        AnyLaw::Gradient(Gradient::new()),
    ] {
        let mut drive = Drive::new(law, 20);
        let limits = [0, 0, 50, 50].map(|overloads| {
            let mut window = drive.busy(BASE);
            window.overloads = overloads;
            drive.step(window).limit
        });
        assert_eq!(limits, [40, 80, 40, 36], "{law:?}");
    }
}
