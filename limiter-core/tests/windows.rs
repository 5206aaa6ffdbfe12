//! Windows end to end: what permits teach, when a window closes, and how clocks and panics are survived.

#[path = "windows/deciding.rs"]
mod deciding;

use core::time::Duration;
use limiter_core::law::{Aimd, Decision, Fixed, Law, Next, Reason, Window};
use limiter_core::{Config, Limiter, Outcome, TickRate, Ticks, Timestamp};

const MS: u64 = 1_000;

fn at(ticks: u64) -> Timestamp {
    Timestamp::from_ticks(ticks)
}

fn config<L: Law>(law: L) -> Config<L> {
    Config::new(law, TickRate::MICROS)
        .initial(20)
        .min_samples(10)
        .windows(Duration::from_millis(10), Duration::from_secs(1))
}

/// Shows the last window in the limit's stead: the snapshot's limit is what `show` makes of it.
#[derive(Clone, Copy, Debug)]
struct Show(fn(&Window) -> u64);

impl Law for Show {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], window: &Window) -> Decision {
        Decision::new(
            u32::try_from(self.0(window)).unwrap_or(u32::MAX),
            Reason::Grew,
        )
    }
}

fn shown(show: fn(&Window) -> u64) -> Limiter<Show> {
    Limiter::new(config(Show(show)).max(30_000))
}

/// Takes `count` permits at `start` and finishes them at `end`.
fn batch<L: Law>(limiter: &Limiter<L>, count: usize, start: u64, end: u64, outcome: Outcome) {
    let slots: Vec<_> = (0..count)
        .map(|_| limiter.admit(at(start)).unwrap())
        .collect();
    for slot in slots {
        let _ = limiter.settle(slot, outcome, at(end));
    }
}

#[test]
fn a_window_carries_count_mean_minimum_and_average_inflight() {
    for (show, expected) in [
        (show_successes as fn(&Window) -> u64, 10),
        (|w| w.rtt_mean.get(), 20 * MS),
        (|w| w.rtt_min.get(), 20 * MS),
        // Ten permits of 20 ms in a window that closed after 20 ms: ten in flight on average.
        (|w| u64::from(w.inflight_avg_q8 / 256), 10),
        (|w| u64::from(w.inflight_peak), 10),
    ] {
        let limiter = shown(show);
        batch(&limiter, 10, 0, 20 * MS, Outcome::Success);
        let seen = u64::from(limiter.snapshot().limit);
        assert!(
            seen.abs_diff(expected) * 100 <= expected,
            "{seen} instead of {expected}"
        );
    }
}

fn show_successes(window: &Window) -> u64 {
    window.successes.into()
}

#[test]
fn only_a_success_feeds_the_rtt() {
    let limiter = shown(|w| w.rtt_mean.get());
    batch(&limiter, 5, 0, 1, Outcome::Failure);
    batch(&limiter, 2, 0, 2, Outcome::Ignored);
    batch(&limiter, 2, 0, 2, Outcome::Cancelled);
    batch(&limiter, 10, 0, 20 * MS, Outcome::Success);
    assert_eq!(limiter.snapshot().limit, 20_000);
}

#[test]
fn too_few_samples_wait_for_the_longest_window() {
    let limiter = shown(show_successes);
    batch(&limiter, 3, 0, 500 * MS, Outcome::Success);
    assert_eq!(limiter.snapshot().limit, 20, "too early to judge by three");
    batch(&limiter, 1, 500 * MS, 1_020 * MS, Outcome::Success);
    assert_eq!(limiter.snapshot().limit, 4, "then by whatever there is");
}

#[test]
fn overloads_of_one_round_trip_cut_once() {
    let limiter = Limiter::new(config(Aimd::new().without_ramp()));
    batch(&limiter, 20, 0, 20 * MS, Outcome::Overload);
    let seen = limiter.snapshot();
    assert_eq!((seen.limit, seen.cuts), (18, 1), "0.9 of 20, once");
    assert_eq!(seen.reason, Reason::CutOverload);
    // Those admitted after the cut count again.
    batch(&limiter, 18, 21 * MS, 40 * MS, Outcome::Overload);
    assert_eq!(limiter.snapshot().cuts, 2);
}

#[test]
fn a_share_of_overloads_below_the_tolerated_one_never_cuts() {
    let limiter = Limiter::new(config(Aimd::new().without_ramp()).max(20));
    let mut now = 0;
    for round in 0..1_000 {
        batch(&limiter, 9, now, now + 5 * MS, Outcome::Success);
        // One in a hundred; two in a hundred are tolerated.
        let stray = if round % 10 == 0 {
            Outcome::Overload
        } else {
            Outcome::Success
        };
        batch(&limiter, 1, now, now + 5 * MS, stray);
        now += 5 * MS;
    }
    assert!(limiter.snapshot().limit >= 19, "{:?}", limiter.snapshot());
}

#[test]
fn an_urgent_cut_comes_before_the_permit_is_free() {
    let limiter = Limiter::new(
        config(Aimd::new().without_ramp())
            .initial(10)
            .urgent_overloads(5),
    );
    let mut slots: Vec<_> = (0..10).map(|_| limiter.admit(at(0)).unwrap()).collect();
    for _ in 0..4 {
        let _ = limiter.settle(slots.pop().unwrap(), Outcome::Overload, at(1));
    }
    let change = limiter.observe(&slots[0], Outcome::Overload, at(1));
    assert_eq!(change.map(|c| (c.from, c.to)), Some((10, 9)));
    assert_eq!(limiter.snapshot().inflight, 6, "not freed yet");
    for slot in slots {
        let _ = limiter.release(slot);
    }
}

#[test]
fn young_cancellations_teach_nothing_and_old_ones_cut() {
    // `count` at a time, one batch after the other, `age` ms old each.
    let rounds = |limiter: &_, from: u64, count, age, outcome| {
        for round in 0..10 {
            let began = (from + round * age) * MS;
            batch(limiter, count, began, began + age * MS, outcome);
        }
    };
    let settled = || {
        let limiter = Limiter::new(config(Aimd::new().without_ramp()).max(20));
        rounds(&limiter, 0, 20, 20, Outcome::Success);
        assert_eq!(limiter.snapshot().usual_rtt, Ticks::new(20 * MS));
        limiter
    };
    let limiter = settled();
    rounds(&limiter, 200, 20, 19, Outcome::Cancelled);
    rounds(&limiter, 400, 20, 19, Outcome::Cancelled);
    assert_eq!(limiter.snapshot().limit, 20);

    let limiter = settled();
    rounds(&limiter, 200, 5, 250, Outcome::Cancelled);
    assert!(limiter.snapshot().limit <= 10, "{:?}", limiter.snapshot());

    // Answers that say nothing about load, a 404 that takes long as a rule, are no evidence of any.
    let limiter = settled();
    rounds(&limiter, 200, 5, 250, Outcome::Ignored);
    assert_eq!(limiter.snapshot().limit, 20);
}

#[test]
fn samples_in_the_settling_part_are_skipped_and_overloads_in_it_are_not() {
    #[derive(Clone, Copy, Debug)]
    struct Settle;
    impl Law for Settle {
        type State = [u32; 1];
        fn on_window(&self, [windows]: &mut [u32; 1], window: &Window) -> Decision {
            *windows += 1;
            let shown = 1_000 * *windows + window.successes + 100 * window.overloads;
            Decision::new(shown, Reason::Probing).then(Next {
                settle: Ticks::new(50 * MS),
                length: Ticks::new(50 * MS),
                samples: 1,
            })
        }
    }
    let limiter = Limiter::new(config(Settle).max(30_000));
    batch(&limiter, 10, 0, 20 * MS, Outcome::Success);
    assert_eq!(limiter.snapshot().limit, 1_010);
    batch(&limiter, 7, 20 * MS, 60 * MS, Outcome::Success);
    batch(&limiter, 2, 20 * MS, 60 * MS, Outcome::Overload);
    batch(&limiter, 3, 20 * MS, 121 * MS, Outcome::Success);
    assert_eq!(
        limiter.snapshot().limit,
        2_201,
        "the first that ends in time closes"
    );
}

/// Drives full windows from `start` on, for a little longer than the longest window, and returns how many decisions changed the limit.
fn changes_from(limiter: &Limiter<Aimd>, start: u64) -> usize {
    (0..120)
        .filter(|round| {
            let start = start.wrapping_add(round * 20 * MS);
            let limit = limiter.snapshot().limit as usize;
            let slots: Vec<_> = (0..limit)
                .filter_map(|_| limiter.admit(at(start)).ok())
                .collect();
            let mut changed = false;
            for slot in slots {
                let end = at(start.wrapping_add(20 * MS));
                changed |= limiter
                    .settle(slot, Outcome::Success, end)
                    .change()
                    .is_some();
            }
            changed
        })
        .count()
}

#[test]
fn windows_go_on_after_any_step_wrap_or_standstill_of_the_clock() {
    const YEAR: u64 = 365 * 86_400 * 1_000 * MS;
    // Stamps are ticks >> 5 at this rate: 2^37 ticks are one turn of them.
    let turn = 1u64 << 37;
    for (what, first, second) in [
        ("a year idle", 0, YEAR),
        ("exactly one turn of the stamps", 7 * MS, turn + 7 * MS),
        ("just short of a turn", 7 * MS, turn - 1),
        ("fifteen sixteenths of a turn", 0, turn / 16 * 15 + 1),
        ("a step back of an hour", YEAR, YEAR - 3_600_000 * MS),
        ("a step back to zero", YEAR, 0),
        (
            "across the wrap of the stamps",
            turn - 500 * MS,
            turn + 600 * MS,
        ),
        ("near the end of time", 0, u64::MAX - 2_000 * MS),
    ] {
        let limiter = Limiter::new(config(Aimd::new().without_ramp()));
        assert!(changes_from(&limiter, first) >= 20, "{what}: before");
        assert!(changes_from(&limiter, second) >= 20, "{what}: after");
        assert_eq!(limiter.snapshot().inflight, 0, "{what}");
    }
}

#[test]
fn a_clock_that_stands_still_changes_nothing_and_loses_no_slot() {
    let limiter = Limiter::new(config(Aimd::new()));
    for _ in 0..1_000 {
        batch(&limiter, 20, 5, 5, Outcome::Success);
    }
    let seen = limiter.snapshot();
    assert_eq!((seen.inflight, seen.limit), (0, 20));
}

#[test]
fn round_trips_of_zero_stay_inside_the_bounds() {
    let limiter = Limiter::new(config(Aimd::new()).max(64));
    for round in 0..1_000 {
        let now = round * 50 * MS;
        batch(&limiter, 20, now, now, Outcome::Success);
    }
    let seen = limiter.snapshot();
    assert!((1..=64).contains(&seen.limit), "{seen:?}");
    assert_eq!(seen.usual_rtt, Ticks::new(0));
}

#[test]
fn the_longest_round_trip_saturates_and_closes_the_window() {
    // Short of what a clock that steps back looks like in a narrow word.
    let longest = u64::from(u32::MAX / 2);
    let limiter = shown(|w| u64::from(w.rtt_mean.get() > u64::from(u32::MAX) / 4));
    batch(&limiter, 20, 0, longest, Outcome::Success);
    assert_eq!(limiter.snapshot().limit, 1, "a mean that did not overflow");
}

#[test]
fn a_window_whose_permits_end_in_interrupts_is_closed_by_the_next_acquire() {
    let limiter = shown(show_successes);
    let slots: Vec<_> = (0..10).map(|_| limiter.admit(at(0)).unwrap()).collect();
    for slot in slots {
        assert_eq!(
            limiter
                .settle_from_isr(slot, Outcome::Success, at(20 * MS))
                .change(),
            None
        );
    }
    assert_eq!(limiter.snapshot().limit, 20, "no law runs in an interrupt");
    let permit = limiter.try_acquire(at(21 * MS)).unwrap();
    assert_eq!(limiter.snapshot().limit, 10);
    drop(permit);
}

#[test]
fn a_configuration_that_cannot_work_names_the_field_the_value_and_the_range() {
    let check = |config: Config<Fixed>, expect: &str| {
        let error = Limiter::try_new(config).unwrap_err();
        assert_eq!(error.to_string(), expect);
    };
    let base = config(Fixed);
    check(base.min(0), "min = 0: allowed are 1 to 1000 (max)");
    check(base.min(5).max(4), "min = 5: allowed are 1 to 4 (max)");
    check(
        base.initial(1_001),
        "initial = 1001: allowed are 1 (min) to 1000 (max)",
    );
    check(
        base.min_samples(0),
        "min_samples = 0: allowed are 1 to 16777216",
    );
    check(
        base.overload_tolerance(1_001),
        "overload_tolerance = 1001: allowed are 0 to 1000",
    );
    check(
        base.windows(Duration::from_secs(2), Duration::from_secs(1)),
        "windows.shortest in ns = 2000000000: allowed are 0 to 1000000000 (windows.longest)",
    );
    // Valid boundaries are accepted.
    for good in [
        base.min(1_000).initial(1_000),
        base.max(limiter_core::MAX_LIMIT),
        base.min_samples(1),
    ] {
        assert!(Limiter::try_new(good).is_ok());
    }
    assert!(Aimd::new().keep(1_000).is_err() && Aimd::new().keep(999).is_ok());
    assert!(TickRate::hz(99).is_err() && TickRate::hz(100).is_ok());
}
