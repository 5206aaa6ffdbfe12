//! Latencies: quantiles against a sorted list, and timeouts that do not censor themselves.

#![cfg(not(limiter_loom))]

use limiter_core::{LatencyHistogram, TickRate, Ticks, Timestamp};
use proptest::prelude::*;

const RATE: TickRate = TickRate::MICROS;

fn at(micros: u64) -> Timestamp {
    Timestamp::from_ticks(micros)
}

fn fill(histogram: &LatencyHistogram, count: u32, micros: u64, now: u64) {
    for _ in 0..count {
        histogram.record(Ticks::new(micros), at(now), RATE);
    }
}

#[test]
fn nothing_is_said_of_too_few_samples() {
    let histogram = LatencyHistogram::new();
    assert_eq!(histogram.quantile(500, 0, RATE), None);
    fill(&histogram, 49, 1_000, 0);
    assert_eq!(histogram.quantile(990, 50, RATE), None);
    fill(&histogram, 1, 1_000, 0);
    assert!(histogram.quantile(990, 50, RATE).is_some());
}

#[test]
fn it_follows_a_dependency_that_became_ten_times_slower_and_one_that_became_faster() {
    let histogram = LatencyHistogram::new();
    let p99 = || histogram.quantile(990, 50, RATE).unwrap().get();
    fill(&histogram, 100_000, 10_000, 0);
    assert!(p99() <= 12_500);
    fill(&histogram, 30, 100_000, 0);
    assert!(
        p99() >= 100_000,
        "thirty slow ones are more than a hundredth of what it remembers"
    );
    fill(&histogram, 10_000, 10_000, 0);
    assert!(p99() <= 12_500);
}

#[test]
fn old_samples_fade_with_time_too() {
    let histogram = LatencyHistogram::new();
    fill(&histogram, 1_000, 10_000, 0);
    let day = 86_400 * 1_000_000;
    fill(&histogram, 1, 10_000, day);
    assert_eq!(histogram.quantile(500, 2, RATE), None, "one sample is left");
}

#[test]
fn a_timeout_taken_from_it_grows_until_it_covers_the_latency() {
    // It was 10 ms, now it is 400 ms; the timeout is twice the 99th percentile.
    let (histogram, mut now) = (LatencyHistogram::new(), 0);
    fill(&histogram, 1_000, 10_000, now);
    let mut timeout = 0;
    for attempt in 0..200 {
        timeout = histogram.quantile(990, 50, RATE).unwrap().get() * 2;
        if timeout > 400_000 {
            assert!(attempt < 100, "{attempt} attempts");
            return;
        }
        now += timeout;
        histogram.at_least(Ticks::new(timeout), at(now), RATE);
    }
    panic!("still {timeout} µs");
}

#[test]
fn counters_that_are_full_overflow_into_no_neighbour() {
    let histogram = LatencyHistogram::new();
    fill(&histogram, 200_000, 1_000, 0);
    let all = histogram.quantile(1_000, 1, RATE).unwrap().get();
    assert!((1_000..=1_280).contains(&all), "{all}");
}

proptest! {
    #[test]
    fn a_quantile_is_the_one_of_the_sorted_list_to_a_quarter(
        mut samples in prop::collection::vec(0u64..500_000_000, 1..900),
        share in 1u32..=1_000,
    ) {
        let histogram = LatencyHistogram::new();
        for &sample in &samples {
            histogram.record(Ticks::new(sample), at(0), RATE);
        }
        samples.sort_unstable();
        let rank = (samples.len() as u64 * u64::from(share)).div_ceil(1_000).max(1);
        let exact = samples[rank as usize - 1];
        let got = histogram.quantile(share, 1, RATE).unwrap().get();
        // Units of 32 µs, rounded up.
        prop_assert!(got >= exact, "{got} for {exact}");
        prop_assert!(got <= exact + exact / 4 + 64, "{got} for {exact}");
    }

    #[test]
    fn any_latency_and_any_clock_give_a_finite_answer(
        samples in prop::collection::vec((any::<u64>(), any::<u64>(), any::<bool>()), 1..200),
        share in any::<u32>(),
        hz in 100u32..=u32::MAX,
    ) {
        let rate = TickRate::hz(hz).unwrap();
        let histogram = LatencyHistogram::new();
        for (took, now, cut_off) in samples {
            if cut_off {
                histogram.at_least(Ticks::new(took), at(now), rate);
            } else {
                histogram.record(Ticks::new(took), at(now), rate);
            }
            if let Some(quantile) = histogram.quantile(share, 1, rate) {
                prop_assert!(rate.duration(quantile).as_secs() < 200_000);
            }
        }
    }
}
