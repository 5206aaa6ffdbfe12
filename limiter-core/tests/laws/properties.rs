//! What holds for every law, for any sequence of windows.

use crate::arbitrary::{all_seen, bounds, knee, law, rate, seen, steady_law};
use crate::drive::Drive;
use limiter_core::law::{AnyLaw, Law, Reason};
use limiter_core::{Config, Limiter, MAX_LIMIT, Outcome, TickRate, Timestamp};
use proptest::prelude::*;

fn start<L: Law>(law: L, (min, limit, max): (u32, u32, u32), rate: TickRate) -> Drive<L> {
    let mut drive = Drive::new(law, limit).bounds(min, max);
    drive.rate = rate;
    drive
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_window_makes_a_law_panic_or_answer_zero(
        law in law(), bounds in bounds(), rate in rate(), all in all_seen(),
    ) {
        let mut drive = start(law, bounds, rate);
        for seen in all {
            let window = seen.window(&drive);
            let raw = law.on_window(&mut drive.state.clone(), &window);
            prop_assert!(raw.limit >= 1, "{:?}", raw);
            let limit = drive.step(window).limit;
            prop_assert!((bounds.0..=bounds.2).contains(&limit));
        }
    }

    #[test]
    fn no_state_makes_a_law_panic_or_answer_zero(
        law in law(), bounds in bounds(), rate in rate(), words in any::<[u32; 13]>(),
        all in all_seen(),
    ) {
        let mut drive = start(law, bounds, rate);
        drive.state = words;
        for seen in all {
            let window = seen.window(&drive);
            let raw = law.on_window(&mut drive.state.clone(), &window);
            prop_assert!(raw.limit >= 1, "{:?}", raw);
            drive.step(window);
        }
        law.on_set(&mut drive.state, MAX_LIMIT);
    }

    #[test]
    fn a_window_that_was_not_limited_never_grows_the_limit(
        law in law(), bounds in bounds(), rate in rate(), all in all_seen(),
    ) {
        let mut drive = start(law, bounds, rate);
        // Where a limit that was lowered to measure goes back to, one step further at most.
        let mut most = None;
        for seen in all {
            let (before, window) = (drive.limit, seen.window(&drive));
            let decision = drive.step(window);
            if !window.limited() {
                prop_assert!(decision.limit <= before.max(most.unwrap_or(0)), "{:?}", decision);
            }
            let lowered = decision.reason == Reason::Probing && most.is_none();
            most = lowered.then_some(before + before.isqrt() + 1);
        }
    }

    #[test]
    fn the_knee_never_climbs_over_windows_that_were_not_limited(
        law in knee(), bounds in bounds(), rate in rate(), all in all_seen(),
    ) {
        let mut drive = start(law, bounds, rate);
        for seen in all {
            drive.step(seen.window(&drive));
        }
        // It alternates: the higher of two phases is what it stands for.
        let mut limits = [0; 12];
        for limit in &mut limits {
            *limit = drive.step(drive.idle(20_000)).limit;
        }
        let stood = limits[0].max(limits[1]);
        prop_assert!(limits.iter().all(|&limit| limit <= stood), "{:?}", limits);
    }

    #[test]
    fn more_overloads_never_give_a_higher_limit(
        law in law(), bounds in bounds(), rate in rate(), all in all_seen(), last in seen(),
        overloads in any::<(u32, u32)>(),
    ) {
        let mut drive = start(law, bounds, rate);
        for seen in all {
            drive.step(seen.window(&drive));
        }
        let [(fewer, few), (more, many)] = [overloads.0.min(overloads.1), overloads.0.max(overloads.1)].map(|n| {
            let mut drive = drive;
            let mut window = last.window(&drive);
            window.overloads = n;
            (drive.step(window), window.overload_share())
        });
        // Lowered to measure, it comes back in a moment; lowered for latency, it was not about overloads. Very
        // large limits are rounded, and a share beyond this starts a search, by a quarter up and down.
        let other = matches!(fewer.reason, Reason::Probing | Reason::CutLatency)
            && fewer.limit < drive.limit;
        let apart = if few <= 300 && many > 300 { 4 } else { 500 };
        prop_assert!(other || more.limit <= fewer.limit + fewer.limit / apart, "{:?} {:?}", fewer, more);
    }

    #[test]
    fn a_probe_lasts_one_window_and_takes_no_more_than_half_and_leaves_three(
        law in steady_law(), bounds in bounds(), rate in rate(), all in all_seen(),
    ) {
        let mut drive = start(law, bounds, rate);
        let mut probing = false;
        for seen in all {
            let (before, window) = (drive.limit, seen.window(&drive));
            let decision = drive.step(window);
            let lowered = decision.reason == Reason::Probing && decision.limit < before;
            if lowered {
                prop_assert!(!probing, "a probe after a probe");
                prop_assert!(decision.limit >= before.div_ceil(2));
                prop_assert!(decision.limit >= 3 || before <= 3);
                let next = decision.next.expect("a window of its own");
                prop_assert!(next.settle >= window.rtt_mean);
            }
            probing = lowered;
        }
    }

    #[test]
    fn a_limit_set_by_hand_stays_until_there_is_something_to_judge(
        law in steady_law(), bounds in bounds(), rate in rate(), all in all_seen(),
    ) {
        let mut drive = start(law, bounds, rate);
        for seen in all {
            drive.step(seen.window(&drive));
        }
        drive.limit = bounds.1;
        law.on_set(&mut drive.state, bounds.1);
        let decision = drive.step(drive.window());
        prop_assert_eq!((decision.limit, decision.reason), (bounds.1, Reason::HeldTooFewSamples));
    }

    #[test]
    fn a_law_chosen_at_run_time_decides_as_the_law_itself(
        law in law(), bounds in bounds(), rate in rate(), all in all_seen(),
    ) {
        fn compare<L: Law + Copy>(any: AnyLaw, law: L, bounds: (u32, u32, u32), rate: TickRate, all: &[crate::arbitrary::Seen]) {
            let (mut one, mut other) = (start(any, bounds, rate), start(law, bounds, rate));
            for (i, seen) in all.iter().enumerate() {
                assert_eq!(one.step(seen.window(&one)), other.step(seen.window(&other)));
                if i % 7 == 6 {
                    any.on_set(&mut one.state, bounds.1);
                    law.on_set(&mut other.state, bounds.1);
                    (one.limit, other.limit) = (bounds.1, bounds.1);
                }
            }
            assert_eq!(any.check(), law.check());
        }
        match law {
            AnyLaw::Fixed(law) => compare(AnyLaw::Fixed(law), law, bounds, rate, &all),
            AnyLaw::Aimd(law) => compare(AnyLaw::Aimd(law), law, bounds, rate, &all),
            AnyLaw::Vegas(law) => compare(AnyLaw::Vegas(law), law, bounds, rate, &all),
            AnyLaw::Gradient(law) => compare(AnyLaw::Gradient(law), law, bounds, rate, &all),
            AnyLaw::Knee(law) => compare(AnyLaw::Knee(law), law, bounds, rate, &all),
            _ => unreachable!("a law without a comparison"),
        }
    }

    #[test]
    fn a_limiter_keeps_its_bounds_whatever_ends_whenever(
        law in law(), bounds in bounds(), rate in rate(), wall in any::<Option<u64>>(),
        work in proptest::collection::vec((any::<u8>(), 0..400_000_u64, any::<bool>()), 1..200),
    ) {
        let (min, initial, max) = bounds;
        let config = Config::new(law, rate).min(min).initial(initial).max(max);
        let limiter = Limiter::try_new(config).expect("a configuration that works");
        if let Some(offset) = wall {
            limiter.set_wall_offset(limiter_core::Ticks::new(offset));
        }
        let mut now = 0_u64;
        let mut held = Vec::new();
        for (kind, step, back) in work {
            now = if back { now.saturating_sub(step) } else { now + step };
            let at = Timestamp::from_ticks(now);
            let outcome = match kind % 8 {
                0..4 => Outcome::Success,
                4 => Outcome::Overload,
                5 => Outcome::Failure,
                6 => Outcome::Ignored,
                _ => Outcome::Cancelled,
            };
            held.extend(limiter.try_acquire(at).ok());
            if kind & 8 == 0 && !held.is_empty() {
                held.swap_remove(usize::from(kind) % held.len()).finish(outcome, at);
            }
            let limit = limiter.snapshot().limit;
            prop_assert!((min..=max).contains(&limit), "{} of {:?}", limit, bounds);
        }
    }
}
