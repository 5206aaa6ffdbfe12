//! What breaker and throttle count of many calls, of which a part is timed and stands for the others.

use super::*;
use limiter_core::{BreakerState, GiveUp, Refusal, ThrottleConfig};

/// Calls in a millisecond: one in 16 or 32 is timed.
const CALLS: u64 = 20;

fn busy(config: DependencyConfig) -> Dependency<Fixed> {
    let window = Duration::from_millis(500);
    let limiter = Config::new(Fixed, RATE).windows(window, window);
    Dependency::new(limiter.one_timed_of(32), config)
}

/// A call that is refused by what `random` says, or ends at once.
fn once(dependency: &Dependency<Fixed>, now: u64, random: u32, ending: Ending) -> Option<GiveUp> {
    let mut call = dependency.call(at(now), CallOptions::new().attempts(1));
    match call.step(at(now), random) {
        Step::Attempt(first) => call.finish(first.number, ending, at(now), random),
        Step::GiveUp(why) => return Some(why),
        other => panic!("{other:?}"),
    }
    None
}

/// Not by the golden ratio, which draws what is timed.
fn spread(turn: u64) -> u32 {
    let word = (turn as u32).wrapping_mul(0x85eb_ca6b);
    (word ^ word >> 13).wrapping_mul(0xc2b2_ae35)
}

#[test]
fn the_throttle_refuses_the_share_that_all_requests_would_give() {
    let dependency = busy(plain().throttle(Some(ThrottleConfig::new())));
    for turn in 0..2_000 * CALLS {
        assert_eq!(once(&dependency, turn / CALLS, 0, Ending::success()), None);
    }
    assert_eq!(dependency.snapshot(at(2_000)).throttled, 0);
    // From then on one in 20 of those that are sent is accepted.
    let (mut sent, mut refused) = (0, 0);
    for turn in 2_000 * CALLS..30_000 * CALLS {
        sent += 1;
        let ending = match sent % 20 {
            0 => Ending::success(),
            _ => Ending::refused(),
        };
        if let Some(why) = once(&dependency, turn / CALLS, spread(turn), ending) {
            assert_eq!(why, GiveUp::Refused(Refusal::Throttled));
            sent -= 1;
            refused += u64::from(turn >= 20_000 * CALLS);
        }
    }
    // Nine tenths at most, which is what all of them would give.
    let share = refused * 100 / (10_000 * CALLS);
    assert!((85..=90).contains(&share), "{share} %");
}

#[test]
fn a_share_of_failures_below_the_bound_leaves_the_breaker_closed_and_one_above_opens_it() {
    let breaker = BreakerConfig::new().consecutive(None);
    let config = plain().breaker(breaker.failure_share(Some(500)));
    let opens = |failures: u64| {
        let dependency = busy(config);
        (0..8_000 * CALLS).find(|turn| {
            let ending = if spread(*turn) >> 16 < (failures << 16) as u32 / 100 {
                Ending::failure()
            } else {
                Ending::success()
            };
            once(&dependency, turn / CALLS, 0, ending);
            dependency.breaker(at(turn / CALLS)) != BreakerState::Closed
        })
    };
    assert_eq!(opens(40), None);
    assert!(opens(60).is_some());
}

#[test]
fn what_is_given_up_without_a_word_leaves_the_throttle_as_it_was() {
    let dependency = busy(plain().throttle(Some(ThrottleConfig::new())));
    for turn in 0..4_000 * CALLS {
        let now = turn / CALLS;
        if turn < 2_000 * CALLS {
            once(&dependency, now, 0, Ending::success());
        } else {
            let mut call = begin(&dependency, now);
            assert!(matches!(call.step(at(now), 0), Step::Attempt(_)));
        }
    }
    let snapshot = dependency.snapshot(at(4_000));
    assert_eq!((snapshot.throttled, snapshot.limiter.inflight), (0, 0));
}
