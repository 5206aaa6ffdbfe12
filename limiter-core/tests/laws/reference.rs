//! One step of each law against the formula in plain numbers.

use crate::drive::{Drive, baseline};
use limiter_core::law::{Aimd, Fixed, Gradient, Vegas};
use limiter_core::{MAX_LIMIT, Ticks};
use proptest::prelude::*;

fn limit() -> impl Strategy<Value = u32> {
    prop_oneof![Just(1), Just(MAX_LIMIT), 1..2_000_u32, 1..=MAX_LIMIT]
}

/// Microseconds: a usual RTT, or one of any size.
fn rtt() -> impl Strategy<Value = u64> {
    prop_oneof![3 => 100..5_000_000_u64, 1 => 100..u64::MAX / 4]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fixed_stays(limit in limit(), overloads in any::<u32>(), rtt in rtt()) {
        let mut drive = Drive::new(Fixed, limit).bounds(1, MAX_LIMIT);
        let mut window = drive.busy(rtt);
        window.overloads = overloads;
        prop_assert_eq!(drive.step(window).limit, limit);
    }

    #[test]
    fn aimd_keeps_exactly_its_share_after_overload(
        limit in limit(), keep in 1..=999_u32, overloads in 10..=u32::MAX,
    ) {
        let law = Aimd::new().without_ramp().keep(keep).expect("in range");
        let mut drive = Drive::new(law, limit).bounds(1, MAX_LIMIT);
        let mut window = drive.busy(20_000);
        window.overloads = overloads;
        let share = i128::from(limit) * i128::from(keep) / 1_000;
        let expected = share.min(i128::from(limit) - 1).max(1);
        prop_assert_eq!(i128::from(drive.step(window).limit), expected);
    }

    #[test]
    fn aimd_adds_its_increase_per_round_trip_of_successes(
        limit in 1..100_000_u32, increase in 1..=1_000_u32,
        all in proptest::collection::vec(10..5_000_u32, 1..50),
    ) {
        let law = Aimd::new().without_ramp().increase(increase).expect("in range");
        let mut drive = Drive::new(law, limit).bounds(1, u32::MAX);
        let mut exact = f64::from(limit);
        for &successes in &all {
            exact += f64::from(increase) * f64::from(successes) / f64::from(drive.limit);
            let mut window = drive.busy(20_000);
            window.successes = successes;
            drive.step(window);
        }
        // Each step rounds down by less than `increase` / 65,536 (twice that where the limit has more
        // than 16 bits), and the fraction is not shown.
        let rounding = 2.0 * f64::from(increase) * all.len() as f64 / 65_536.0;
        let short = exact - f64::from(drive.limit);
        prop_assert!((-0.001..1.0 + rounding).contains(&short), "short by {}", short);
    }

    #[test]
    fn vegas_steps_by_the_queue(limit in limit(), base in rtt(), times in 1.0..20.0_f64) {
        let limit = limit.max(2);
        let mut drive = Drive::measured(Vegas::new().without_ramp(), limit, base);
        drive.max = u32::MAX;
        let rtt = (base as f64 * times) as u64;
        let lg = f64::from(limit).log10().floor().max(1.0) as i128;
        // Of RTTs above 32 bits the lower ones are cut off: one request more or less.
        let slack = i128::from(rtt > u64::from(u32::MAX));
        let excess = i128::from(rtt) - i128::from(base) - 1;
        let queue = -(-i128::from(limit) * excess.max(0)).div_euclid(i128::from(rtt));
        let expected = |queue: i128| match queue {
            _ if queue < 3 * lg => i128::from(limit) + lg,
            _ if queue > 6 * lg => (i128::from(limit) - lg).max(1),
            _ => i128::from(limit),
        };
        let allowed = [queue - slack, queue, queue + slack].map(expected);
        let got = drive.step(drive.busy(rtt)).limit;
        prop_assert!(allowed.contains(&i128::from(got)), "{} is none of {:?}", got, allowed);
    }

    #[test]
    fn gradient_steps_by_the_ratio(
        limit in limit(), base in rtt(), times in 1.0..6.0_f64, tolerance in 1_000..=3_000_u32,
    ) {
        let law = Gradient::new().without_ramp().tolerance(tolerance).expect("in range");
        let limit = limit.max(2);
        let mut drive = Drive::measured(law, limit, base);
        drive.max = u32::MAX;
        let rtt = (base as f64 * times) as u64;
        let before = f64::from(limit);
        let tolerated = base as f64 * f64::from(tolerance) / 1_000.0;
        let g = (tolerated / (rtt - 1) as f64).clamp(0.5, 1.0);
        // The ratio has 16 bits of the RTTs, the tolerance 12: an error of g below 1 in 2,000.
        let off = |g: f64| before * (1.0 - g.clamp(0.5, 1.0)) / 4.0;
        // What is taken off is a multiple of 1/256, rounded down.
        let (least, most) = (before - off(g - 0.000_5), before - off(g + 0.000_5) + 1.0 / 256.0);
        let got = f64::from(drive.step(drive.busy(rtt)).limit);
        // All at the limit for an RTT is the throughput: three times the need without a queue, and one.
        let cap = 3.0 * before * base as f64 / rtt as f64 + 1.0;
        if g > 0.999_5 {
            let grown = before + before.sqrt();
            prop_assert!(got >= least - 1.0 && got <= grown + 0.001, "{} of {}", got, grown);
        } else {
            prop_assert!(got >= least.min(cap * 0.99) - 1.0 && got <= most, "{} of {}..{}", got, least, most);
        }
    }

    #[test]
    fn a_drain_moves_the_baseline_by_its_successes_and_by_a_quarter_within_the_noise(
        base in rtt(), rtt in rtt(), near in 0.8..1.2_f64, is_near in any::<bool>(), successes in 10..40_u32,
    ) {
        let mut drive = Drive::measured(Vegas::new().without_ramp(), 20, base);
        drive.max = 20;
        drive.until_probe(base);
        prop_assert_eq!(baseline(&drive.state), base);
        let rtt = if is_near { (base as f64 * near) as u64 } else { rtt };
        let mut window = drive.busy(rtt);
        window.successes = successes;
        drive.step(window);
        let noise = base.abs_diff(rtt) <= base / 8;
        let weight = f64::from(successes.min(24)) / 24.0 * if noise { 0.25 } else { 1.0 };
        let off = rtt as f64 - base as f64;
        let exact = base as f64 + off * weight;
        // The weight is a multiple of 1/32, both it and the step are rounded up.
        let rounding = off.abs() / 32.0 + 1.0;
        let error = (baseline(&drive.state) as f64 - exact).abs();
        prop_assert!(error <= rounding, "off by {}, {} allowed", error, rounding);
    }

    #[test]
    fn between_drains_a_baseline_falls_by_an_eighth_of_the_way_beyond_the_noise_and_never_rises(
        base in rtt(), rtt in rtt(),
    ) {
        let mut drive = Drive::measured(Gradient::new().without_ramp(), 20, base);
        drive.step(drive.busy(rtt));
        let now = baseline(&drive.state);
        if rtt >= base - base / 8 {
            prop_assert_eq!(now, base);
        } else {
            prop_assert_eq!(now, base - (base - rtt).div_ceil(8));
        }
    }
}

#[test]
fn a_baseline_of_a_few_ticks_reaches_the_tick_that_it_falls_to() {
    let mut drive = Drive::measured(Gradient::new().without_ramp(), 20, 1_000);
    for _ in 0..60 {
        let mut window = drive.busy(3);
        window.elapsed = Ticks::new(0);
        drive.step(window);
    }
    assert_eq!(baseline(&drive.state), 3);
}
