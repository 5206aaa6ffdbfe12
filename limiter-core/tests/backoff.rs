//! Back-off: any attempt number, hints, and how a herd spreads.

#![cfg(not(limiter_loom))]

use core::time::Duration;
use limiter_core::{Backoff, Jitter, Random, TickRate, Ticks};
use proptest::prelude::*;

const RATE: TickRate = TickRate::MICROS;
const SECOND: u64 = 1_000_000;

fn full(base: u64, cap: u64) -> Backoff {
    let (base, cap) = (Duration::from_millis(base), Duration::from_millis(cap));
    Backoff::new(Jitter::Full, base, cap, RATE)
}

/// Attempts in each 100 ms of the ten seconds after `callers` failed at one instant and fail again each time
/// they come back, given each caller's own random words.
fn herd(backoff: Backoff, callers: u32, words: impl Fn(u32) -> Random) -> [u32; 100] {
    let mut buckets = [0; 100];
    for caller in 0..callers {
        let random = words(caller);
        let (mut time, mut delay) = (0, Ticks::new(0));
        for failures in 1.. {
            delay = backoff.delay(failures, delay, random.word());
            time += delay.get();
            match buckets.get_mut((time / (SECOND / 10)) as usize) {
                Some(bucket) => *bucket += 1,
                None => break,
            }
        }
    }
    buckets
}

/// The fullest bucket in hundredths of the mean.
fn peak(buckets: [u32; 100]) -> u32 {
    let total: u32 = buckets.iter().sum();
    let most = buckets.iter().max().unwrap();
    most * 100 * 100 / total
}

#[test]
fn a_thousand_that_fail_at_once_come_back_spread_over_ten_seconds() {
    for seed in 0..20 {
        let shared = Random::new(seed);
        let peak = peak(herd(Backoff::standard(RATE), 1_000, |_| {
            Random::new(shared.word())
        }));
        assert!(
            peak <= 300,
            "{peak} hundredths of the mean with seed {seed}"
        );
    }
}

#[test]
fn a_thousand_devices_with_consecutive_seeds_come_back_as_spread() {
    for first in [0, 1, 1_000, 0x6261_636b, u32::MAX - 500] {
        let peak = peak(herd(Backoff::standard(RATE), 1_000, |device| {
            Random::new(first.wrapping_add(device))
        }));
        assert!(
            peak <= 300,
            "{peak} hundredths of the mean from seed {first}"
        );
    }
}

#[test]
fn the_documented_alternatives_spread_too_and_the_usual_ones_do_not() {
    let of = |backoff| peak(herd(backoff, 1_000, Random::new));
    assert!(of(full(3_000, 30_000)) <= 300);
    assert!(of(full(500, 1_500)) <= 300);
    assert!(of(full(1_000, 10_000)) > 300);
    assert!(of(full(100, 10_000)) > 900);
}

#[test]
fn one_seed_for_all_would_bring_them_back_in_step() {
    let together = herd(Backoff::standard(RATE), 1_000, |_| Random::new(7));
    assert!(peak(together) >= 1_000);
}

#[test]
fn windows_grow_to_the_cap_for_every_number_up_to_the_last() {
    let backoff = full(1_000, 10_000);
    let mut before = 0;
    for failures in (0..=1_000).chain([u32::MAX / 2, u32::MAX - 1, u32::MAX]) {
        let longest = backoff.delay(failures, Ticks::new(0), u32::MAX).get();
        let shortest = backoff.delay(failures, Ticks::new(0), 0).get();
        assert!(
            longest >= before && longest <= 10 * SECOND + 61,
            "{longest}"
        );
        assert!(shortest > 0);
        before = longest;
    }
    assert!(before > 99 * SECOND / 10);
}

#[test]
fn a_base_and_a_cap_that_cannot_work_are_errors() {
    let zero = Duration::ZERO;
    let second = Duration::from_secs(1);
    for (base, cap) in [
        (zero, second),
        (zero, zero),
        (second, zero),
        (second, Duration::MAX),
    ] {
        assert!(Backoff::try_new(Jitter::Full, base, cap, RATE).is_err());
    }
}

#[test]
fn a_base_shorter_than_a_tick_waits_for_a_tick() {
    let (base, cap) = (Duration::from_micros(500), Duration::from_secs(1));
    let backoff = Backoff::new(Jitter::Full, base, cap, TickRate::MILLIS);
    assert_eq!(backoff.delay(1, Ticks::new(0), 0), Ticks::new(1));
    assert!(backoff.first(0) >= Ticks::new(1));
}

#[test]
fn a_hint_is_obeyed_up_to_five_seconds_and_jittered_above() {
    let backoff = full(1_000, 10_000);
    let delay = Ticks::new(400_000);
    assert_eq!(backoff.hinted(delay, Ticks::new(0)), delay);
    assert_eq!(backoff.hinted(delay, Ticks::new(300_000)), delay);
    assert_eq!(
        backoff.hinted(delay, Ticks::new(2 * SECOND)).get(),
        2 * SECOND + 200_000
    );
    let most = backoff.hinted(delay, Ticks::new(u64::MAX)).get();
    assert!(
        (5 * SECOND + 600_000..=5 * SECOND + 600_061).contains(&most),
        "{most}"
    );
    let silent = backoff.most_hinted(Duration::ZERO, RATE);
    assert_eq!(silent.hinted(delay, Ticks::new(u64::MAX)).get(), 600_000);
}

#[test]
fn the_bits_of_consecutive_seeds_are_unrelated() {
    // Each bit of the first word differs between neighbours about half of the time.
    for bit in 0..32 {
        let differ = (0..1_000u32)
            .filter(|&seed| {
                let (here, next) = (Random::new(seed).word(), Random::new(seed + 1).word());
                (here ^ next) >> bit & 1 != 0
            })
            .count();
        assert!((420..=580).contains(&differ), "bit {bit}: {differ} of 1000");
    }
}

proptest! {
    #[test]
    fn no_delay_is_zero_or_above_what_is_allowed(
        base in 1u64..10_000_000,
        factor in 1u64..1_000,
        failures in any::<u32>(),
        before in any::<u64>(),
        hint in any::<u64>(),
        random in any::<u32>(),
        hz in prop_oneof![Just(100u32), Just(32_768), Just(1_000_000), 100u32..=u32::MAX],
    ) {
        let rate = TickRate::hz(hz).unwrap();
        let base = Duration::from_micros(base);
        let cap = (base * factor as u32).min(Duration::from_secs(14_400));
        for jitter in [Jitter::Full, Jitter::Decorrelated] {
            let backoff = Backoff::new(jitter, base, cap, rate);
            let delay = backoff.delay(failures, Ticks::new(before), random);
            // A unit more for rounding.
            let unit = rate.ticks(Duration::from_micros(61)).get();
            prop_assert!(delay.get() > 0 && delay.get() <= rate.ticks(cap).get() + unit);
            let told = backoff.hinted(delay, Ticks::new(hint));
            let extra = rate.ticks(Duration::from_secs(5)).get() + unit;
            prop_assert!(told >= delay && told.get() <= delay.get() + extra + delay.get() / 2);
            prop_assert!(told.get() >= hint.min(delay.get() + extra - unit));
        }
    }
}
