//! The throttle: against a plain reference, and how it sets in and lets go.

#![cfg(not(limiter_loom))]

use core::time::Duration;
use limiter_core::{Throttle, ThrottleConfig, TickRate, Timestamp};
use proptest::prelude::*;
use std::collections::VecDeque;

fn at(millis: u64) -> Timestamp {
    Timestamp::from_ticks(millis)
}

fn throttle(config: ThrottleConfig) -> Throttle {
    Throttle::new(config, TickRate::MILLIS)
}

/// A well mixed sequence of words.
fn words() -> impl FnMut() -> u32 {
    let random = limiter_core::Random::new(1);
    move || random.word()
}

#[test]
fn few_requests_are_never_refused() {
    let throttle = throttle(ThrottleConfig::new());
    for _ in 0..19 {
        throttle.request(at(0));
    }
    assert!(!throttle.refuses(at(0), 0));
    throttle.request(at(0));
    assert!(throttle.refuses(at(0), 0));
}

#[test]
fn a_tenth_passes_however_bad_it_is() {
    let throttle = throttle(ThrottleConfig::new());
    for _ in 0..1_000 {
        throttle.request(at(0));
    }
    let mut word = words();
    let passed = (0..10_000)
        .filter(|_| !throttle.refuses(at(0), word()))
        .count();
    assert!((900..=1_100).contains(&passed), "{passed} of 10000");
    assert_eq!(throttle.share(at(0)), 899);
}

#[test]
fn requests_in_flight_count_before_they_end() {
    let throttle = throttle(ThrottleConfig::new());
    // A hanging dependency: nothing ends.
    for _ in 0..100 {
        throttle.request(at(0));
    }
    assert!(throttle.share(at(0)) >= 890);
}

#[test]
fn what_reaches_the_dependency_falls_to_twice_what_it_accepts() {
    // It accepts 100 requests a second, 1,000 come.
    let throttle = throttle(ThrottleConfig::new().window(Duration::from_secs(10)));
    let mut word = words();
    let mut sent_late = 0;
    for second in 0..60 {
        let mut capacity = 100;
        for request in 0..1_000 {
            let now = at(second * 1_000 + request);
            let refused = throttle.refuses(now, word());
            throttle.request(now);
            if refused {
                continue;
            }
            if second >= 30 {
                sent_late += 1;
            }
            if capacity > 0 {
                capacity -= 1;
                throttle.accept(now);
            }
        }
    }
    let a_second = sent_late / 30;
    assert!((180..=230).contains(&a_second), "{a_second} a second");
}

#[test]
fn it_lets_go_when_requests_are_accepted_again_or_the_window_has_passed() {
    let throttle = throttle(ThrottleConfig::new().window(Duration::from_secs(8)));
    for _ in 0..1_000 {
        throttle.request(at(0));
    }
    assert!(throttle.share(at(7_000)) > 0);
    assert_eq!(throttle.share(at(10_000)), 0);
    for _ in 0..1_000 {
        throttle.accept(at(1));
    }
    assert_eq!(throttle.share(at(1)), 0);
}

#[test]
fn counts_that_are_full_keep_their_ratio() {
    let throttle = throttle(ThrottleConfig::new());
    for call in 0..1_000_000 {
        throttle.request(at(0));
        if call % 4 == 0 {
            throttle.accept(at(0));
        }
    }
    // (1 - 2 / 4) of the requests.
    let share = throttle.share(at(0));
    assert!((495..=500).contains(&share), "{share}");
}

#[test]
fn a_year_of_idleness_and_a_clock_set_back_leave_nothing_behind() {
    let throttle = throttle(ThrottleConfig::new().window(Duration::from_secs(8)));
    let year = 365 * 86_400_000;
    for now in [0, year, year - 86_400_000, 5] {
        for _ in 0..100 {
            throttle.request(at(now));
        }
        assert!(throttle.share(at(now)) > 800, "counts at {now}");
        assert_eq!(
            throttle.share(at(now + 10_000)),
            0,
            "and forgets after {now}"
        );
    }
}

#[test]
fn configurations_that_cannot_work_are_errors() {
    let config = ThrottleConfig::new();
    for wrong in [
        config.window(Duration::ZERO),
        config.window(Duration::MAX),
        config.slack_q8(256),
        config.slack_q8(65_536),
        config.protect(0),
        config.most(0),
        config.most(1_000),
    ] {
        assert!(
            Throttle::try_new(wrong, TickRate::MILLIS).is_err(),
            "{wrong:?}"
        );
    }
}

/// Requests and accepts in four buckets of 2,048 ms, in a plain list.
#[derive(Default)]
struct Model {
    events: VecDeque<(u64, bool)>,
}

impl Model {
    fn share(&mut self, now: u64) -> f64 {
        let oldest = (now >> 11).saturating_sub(3);
        while self.events.front().is_some_and(|(at, _)| at >> 11 < oldest) {
            self.events.pop_front();
        }
        let accepts = self.events.iter().filter(|(_, accept)| *accept).count() as f64;
        let requests = self.events.len() as f64 - accepts;
        if requests < 20.0 {
            return 0.0;
        }
        ((requests - 2.0 * accepts) / (requests + 1.0)).clamp(0.0, 0.9)
    }
}

proptest! {
    #[test]
    fn at_an_honest_clock_it_is_the_plain_rule(
        start in 1u64..=u64::from(u32::MAX) * 2,
        work in prop::collection::vec((0u64..3, any::<bool>(), 0u32..40), 1..400),
    ) {
        let throttle = throttle(ThrottleConfig::new().window(Duration::from_millis(8_192)));
        let (mut model, mut now) = (Model::default(), start);
        for (gap, accept, jump) in work {
            now += gap * 300 + if jump == 0 { 20_000 } else { 0 };
            if accept {
                throttle.accept(at(now));
            } else {
                throttle.request(at(now));
            }
            model.events.push_back((now, accept));
            let (share, exact) = (f64::from(throttle.share(at(now))) / 1_000.0, model.share(now));
            prop_assert!((share - exact).abs() < 0.002, "{share} for {exact}");
        }
    }

    #[test]
    fn no_clock_makes_it_refuse_more_than_nine_tenths(
        clocks in prop::collection::vec((any::<u64>(), any::<bool>()), 1..200),
    ) {
        let throttle = throttle(ThrottleConfig::new());
        for (now, accept) in clocks {
            if accept { throttle.accept(at(now)) } else { throttle.request(at(now)) }
            prop_assert!(throttle.share(at(now)) <= 900);
            prop_assert!(!throttle.refuses(at(now), u32::MAX));
        }
    }
}
