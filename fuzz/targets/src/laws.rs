//! Every law, with every parameter, from every state, over any windows.

use crate::input::Input;
use core::time::Duration;
use limiter_core::law::{Aimd, AnyLaw, Fixed, Gradient, Knee, Law, Vegas, Window};
use limiter_core::{MAX_LIMIT, TickRate, Ticks, Timestamp};

#[allow(dead_code, reason = "the laws' own tests use more of it")]
#[path = "../../../limiter-core/tests/laws/drive.rs"]
mod drive;

use drive::Drive;

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let law = law(&mut input);
    let (min, initial, max) = bounds(&mut input);
    let mut drive = Drive::new(law, initial).bounds(min, max);
    drive.rate = rate(&mut input);
    if input.any() {
        // Whatever a law may have been left with.
        drive.state = input.any();
    }
    while !input.is_empty() {
        if input.upto(31) == 0 {
            drive.limit = input.between(min, max);
            law.on_set(&mut drive.state, drive.limit);
        }
        let window = window(&mut input, &drive);
        let raw = law.on_window(&mut drive.state.clone(), &window);
        assert!(raw.limit >= 1, "{raw:?} of {window:?}");
        let again = law.on_window(&mut drive.state.clone(), &window);
        assert_eq!(raw, again, "a law decides by its arguments alone");
        let limit = drive.step(window).limit;
        assert!((min..=max).contains(&limit), "{limit} of {min}..={max}");
    }
}

fn window(input: &mut Input<'_>, drive: &Drive<AnyLaw>) -> Window {
    let mut window = drive.window();
    window.successes = input.odd() as u32;
    window.overloads = input.one(&[0, 0, 1, 10, u32::MAX]);
    window.early = input.one(&[0, 0, 1, u32::MAX]);
    window.rtt_mean = ticks(input);
    window.rtt_min = ticks(input);
    window.elapsed = ticks(input);
    window.inflight_peak = match input.upto(3) {
        0 => drive.limit - 1,
        1 => input.any(),
        _ => drive.limit,
    };
    window.inflight_avg_q8 = match input.upto(2) {
        0 => input.any(),
        _ => window.inflight_peak.saturating_mul(256),
    };
    window.now = Timestamp::from_ticks(input.odd());
    window.wall = input
        .any::<bool>()
        .then(|| Timestamp::from_ticks(input.odd()));
    window.min_samples = input.between(1, 20);
    window.tolerance = input.between(0, 1_000);
    window
}

fn ticks(input: &mut Input<'_>) -> Ticks {
    Ticks::new(match input.upto(1) {
        0 => input.odd(),
        _ => 1_000 + input.upto(200_000),
    })
}

/// Any law with parameters that it accepts.
pub(crate) fn law(input: &mut Input<'_>) -> AnyLaw {
    let law = match input.upto(4) {
        0 => Ok(AnyLaw::Fixed(Fixed)),
        1 => Aimd::new()
            .increase(input.between(1, 1_000))
            .and_then(|law| law.keep(input.between(1, 999)))
            .map(AnyLaw::Aimd),
        2 => {
            let alpha = input.between(1, 1_000);
            let beta = input.between(alpha, 1_000);
            Vegas::new()
                .queue(alpha, beta)
                .and_then(|law| law.keep(input.between(1, 999)))
                .map(AnyLaw::Vegas)
        }
        3 => Gradient::new()
            .tolerance(input.between(1_000, 3_000))
            .and_then(|law| law.keep(input.between(1, 999)))
            .and_then(|law| law.max_rtt(Duration::from_micros(1 + input.upto(3_599_999_999))))
            .map(AnyLaw::Gradient),
        _ => Knee::new()
            .target(input.between(10, 900))
            .and_then(|law| law.spread(input.between(20, 300)))
            .map(AnyLaw::Knee),
    };
    law.expect("parameters in range")
}

/// `(min, initial, max)`.
pub(crate) fn bounds(input: &mut Input<'_>) -> (u32, u32, u32) {
    let mut one = || match input.upto(3) {
        0 => 1,
        1 => MAX_LIMIT,
        2 => input.between(1, MAX_LIMIT),
        _ => input.between(1, 100),
    };
    let mut sorted = [one(), one(), one()];
    sorted.sort_unstable();
    sorted.into()
}

pub(crate) fn rate(input: &mut Input<'_>) -> TickRate {
    match input.upto(3) {
        0 => TickRate::NANOS,
        1 => TickRate::MICROS,
        2 => TickRate::MILLIS,
        _ => TickRate::hz(input.between(100, u32::MAX)).expect("100 or more"),
    }
}
