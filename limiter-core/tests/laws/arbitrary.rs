//! Windows of every kind, extremes first, and laws with every parameter.

use crate::drive::Drive;
use limiter_core::law::{Aimd, AnyLaw, Fixed, Gradient, Knee, Law, Vegas, Window};
use limiter_core::{MAX_LIMIT, TickRate, Ticks, Timestamp};
use proptest::prelude::*;
use std::time::Duration;

/// The fields of a window that do not depend on the limiter.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    successes: u32,
    overloads: u32,
    rtt_mean: u64,
    rtt_min: u64,
    elapsed: u64,
    peak: Peak,
    average_q8: Option<u32>,
    now: u64,
    wall: Option<u64>,
    min_samples: u32,
    tolerance: u32,
}

/// The largest number in flight, against the limit or by itself.
#[derive(Clone, Copy, Debug)]
enum Peak {
    Below,
    At,
    Any(u32),
}

impl Seen {
    pub(crate) fn window<L: Law>(&self, drive: &Drive<L>) -> Window {
        let mut window = drive.window();
        window.successes = self.successes;
        window.overloads = self.overloads;
        window.rtt_mean = Ticks::new(self.rtt_mean);
        window.rtt_min = Ticks::new(self.rtt_min);
        window.elapsed = Ticks::new(self.elapsed);
        window.inflight_peak = match self.peak {
            Peak::Below => drive.limit - 1,
            Peak::At => drive.limit,
            Peak::Any(peak) => peak,
        };
        window.inflight_avg_q8 = self
            .average_q8
            .unwrap_or(window.inflight_peak.saturating_mul(256));
        window.now = Timestamp::from_ticks(self.now);
        window.wall = self.wall.map(Timestamp::from_ticks);
        window.min_samples = self.min_samples;
        window.tolerance = self.tolerance;
        window
    }
}

fn any_u32() -> impl Strategy<Value = u32> {
    prop_oneof![
        2 => Just(0),
        1 => Just(1),
        1 => Just(u32::MAX),
        8 => 0..200_u32,
        2 => any::<u32>(),
    ]
}

/// Ticks from nothing to for ever, most of them as a service would have.
fn any_ticks() -> impl Strategy<Value = u64> {
    prop_oneof![
        2 => Just(0),
        1 => Just(1),
        1 => Just(u64::MAX),
        8 => 1_000..200_000_u64,
        2 => any::<u32>().prop_map(u64::from),
        2 => any::<u64>(),
    ]
}

pub(crate) fn seen() -> impl Strategy<Value = Seen> {
    let counts = (any_u32(), prop_oneof![3 => Just(0), 2 => any_u32()]);
    let times = (any_ticks(), any_ticks(), any_ticks(), any_ticks());
    let peak = prop_oneof![
        1 => Just(Peak::Below),
        3 => Just(Peak::At),
        1 => any_u32().prop_map(Peak::Any)
    ];
    let average = prop_oneof![2 => Just(None), 1 => any_u32().prop_map(Some)];
    let wall = prop_oneof![2 => Just(None), 2 => any_ticks().prop_map(Some)];
    let settings = (1..20_u32, prop_oneof![Just(20), 0..=1_000_u32]);
    (counts, times, peak, average, wall, settings).prop_map(
        |((successes, overloads), times, peak, average_q8, wall, (min_samples, tolerance))| {
            let (rtt_mean, rtt_min, elapsed, now) = times;
            Seen {
                successes,
                overloads,
                rtt_mean,
                rtt_min,
                elapsed,
                peak,
                average_q8,
                now,
                wall,
                min_samples,
                tolerance,
            }
        },
    )
}

pub(crate) fn all_seen() -> impl Strategy<Value = Vec<Seen>> {
    proptest::collection::vec(seen(), 1..20)
}

/// `(min, initial, max)`.
pub(crate) fn bounds() -> impl Strategy<Value = (u32, u32, u32)> {
    let one = || prop_oneof![Just(1), Just(MAX_LIMIT), 1..100_u32, 1..=MAX_LIMIT];
    (one(), one(), one()).prop_map(|(a, b, c)| {
        let mut sorted = [a, b, c];
        sorted.sort_unstable();
        sorted.into()
    })
}

pub(crate) fn rate() -> impl Strategy<Value = TickRate> {
    prop_oneof![
        Just(TickRate::NANOS),
        Just(TickRate::MICROS),
        Just(TickRate::MILLIS),
        (100..=u32::MAX).prop_map(|hz| TickRate::hz(hz).expect("100 or more")),
    ]
}

pub(crate) fn aimd() -> impl Strategy<Value = Aimd> {
    (1..=1_000_u32, 1..=999_u32, any::<bool>()).prop_map(|(increase, keep, ramp)| {
        let law = Aimd::new()
            .increase(increase)
            .and_then(|law| law.keep(keep));
        let law = law.expect("in range");
        if ramp { law } else { law.without_ramp() }
    })
}

pub(crate) fn vegas() -> impl Strategy<Value = Vegas> {
    (1..=1_000_u32, 0..1_000_u32, 1..=999_u32, any::<bool>()).prop_map(
        |(alpha, more, keep, ramp)| {
            let law = Vegas::new().queue(alpha, (alpha + more).min(1_000));
            let law = law.and_then(|law| law.keep(keep)).expect("in range");
            if ramp { law } else { law.without_ramp() }
        },
    )
}

pub(crate) fn gradient() -> impl Strategy<Value = Gradient> {
    let max_rtt = prop_oneof![Just(None), (1..3_600_000_000_u64).prop_map(Some)];
    (1_000..=3_000_u32, 1..=999_u32, max_rtt, any::<bool>()).prop_map(
        |(tolerance, keep, max_rtt, ramp)| {
            let law = Gradient::new().tolerance(tolerance);
            let law = law.and_then(|law| law.keep(keep)).expect("in range");
            let law = match max_rtt {
                Some(micros) => law.max_rtt(Duration::from_micros(micros)),
                None => Ok(law),
            };
            let law = law.expect("in range");
            if ramp { law } else { law.without_ramp() }
        },
    )
}

pub(crate) fn knee() -> impl Strategy<Value = Knee> {
    (10..=900_u32, 20..=300_u32).prop_map(|(target, spread)| {
        let law = Knee::new().target(target);
        law.and_then(|law| law.spread(spread)).expect("in range")
    })
}

pub(crate) fn law() -> impl Strategy<Value = AnyLaw> {
    prop_oneof![
        1 => Just(AnyLaw::Fixed(Fixed)),
        3 => steady_law(),
        2 => knee().prop_map(AnyLaw::Knee),
    ]
}

/// The adaptive laws that move the limit only to learn about it, not all the time.
pub(crate) fn steady_law() -> impl Strategy<Value = AnyLaw> {
    prop_oneof![
        aimd().prop_map(AnyLaw::Aimd),
        vegas().prop_map(AnyLaw::Vegas),
        gradient().prop_map(AnyLaw::Gradient),
    ]
}
