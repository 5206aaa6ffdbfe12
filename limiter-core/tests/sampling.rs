//! Timing a part of the permits: what windows show must stay what all of them would have shown.

use core::time::Duration;
use limiter_core::law::{Decision, Fixed, Law, Next, Reason, Window};
use limiter_core::{Config, Limiter, MAX_LIMIT, Outcome, TickRate, Ticks, Timestamp};
use std::cell::RefCell;

/// Words of 64 bits: narrow ones time every permit.
const WIDE: bool = MAX_LIMIT > 1 << 16;

fn at(ticks: u64) -> Timestamp {
    Timestamp::from_ticks(ticks)
}

/// Keeps what it is shown, in windows of 10 ms.
#[derive(Clone, Copy)]
struct Watch<'a>(&'a RefCell<Vec<Window>>);

impl Law for Watch<'_> {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], window: &Window) -> Decision {
        self.0.borrow_mut().push(*window);
        let reason = if window.overloaded() {
            Reason::CutOverload
        } else {
            Reason::HeldSteady
        };
        Decision::new(window.limit, reason).then(Next {
            settle: Ticks::new(0),
            length: Ticks::new(10_000),
            samples: 10,
        })
    }
}

/// Windows over `count` permits, one each microsecond, whose RTT and outcome `of` says.
fn watch(share: u32, count: u64, of: impl Fn(u64) -> (u64, Outcome)) -> Vec<Window> {
    let seen = RefCell::new(Vec::new());
    let config = Config::new(Watch(&seen), TickRate::MICROS)
        .initial(1_000)
        .one_timed_of(share);
    let limiter = Limiter::try_new(config).expect("it works");
    for turn in 0..count {
        let (rtt, outcome) = of(turn);
        let permit = limiter.try_acquire(at(10_000 + turn - rtt)).unwrap();
        permit.finish(outcome, at(10_000 + turn));
    }
    assert_eq!(limiter.snapshot().inflight, 0);
    seen.take()
}

#[test]
fn windows_with_few_successes_time_every_permit() {
    // 500 in each window.
    let windows = watch(32, 50_000, |turn| match turn % 20 {
        0 => (100, Outcome::Success),
        _ => (100, Outcome::Failure),
    });
    assert!(windows.len() > 3);
    assert!(windows.iter().all(|window| window.untimed == 0));
}

/// Each window has 10,000 permits, of which 32 share a timing.
#[test]
fn a_part_stands_for_all() {
    for period in 1..=12 {
        let windows = watch(32, 200_000, |turn| {
            (100 + 800 * (turn % period) / period, Outcome::Success)
        });
        let mean = (0..period).map(|turn| 100 + 800 * turn / period);
        let mean = mean.sum::<u64>() / period;
        // A sixteenth of the deviation, which is at most two thirds of the 400 on either side.
        let margin = 400 * 2 / 3 / 16;
        for window in windows.iter().skip(2) {
            let counted = u64::from(window.successes).abs_diff(window.elapsed.get());
            assert!(counted * 100 <= window.elapsed.get(), "{window:?}");
            let off = window.rtt_mean.get().abs_diff(mean);
            assert!(off <= margin, "{period}: {window:?}");
            let off = u64::from(window.inflight_avg_q8).abs_diff(mean * 256);
            assert!(off <= (margin + mean / 100) * 256, "{period}: {window:?}");
            assert_eq!(window.untimed > window.successes / 2, WIDE);
            assert!(!window.few());
        }
    }
}

#[test]
fn one_of_one_times_every_permit() {
    let windows = watch(1, 100_000, |_| (100, Outcome::Success));
    assert!(windows.iter().all(|window| window.untimed == 0));
    // Whoever ends in the tick of the close opens the next window.
    let exact = |window: &Window| u64::from(window.successes).abs_diff(window.elapsed.get()) <= 1;
    assert!(windows.iter().skip(1).all(exact));
}

#[test]
fn every_overload_counts_whether_it_is_timed_or_not() {
    // One in a hundred, which is tolerated.
    let windows = watch(32, 200_000, |turn| match turn % 100 {
        0 => (100, Outcome::Overload),
        _ => (100, Outcome::Success),
    });
    for window in windows.iter().skip(1) {
        let expected = window.elapsed.get() / 100;
        assert!(
            u64::from(window.overloads).abs_diff(expected) <= 1,
            "{window:?}"
        );
    }
}

/// A server that comes to a halt, and callers with a deadline: those that are not timed cannot tell how late
/// they are, so from the first few on all are timed.
#[test]
fn permits_that_are_given_up_late_in_numbers_are_all_timed_soon_and_cut() {
    let windows = watch(32, 200_000, |turn| match turn {
        0..100_000 => (100, Outcome::Success),
        _ if turn % 2 == 0 => (100, Outcome::Success),
        _ => (2_000, Outcome::Cancelled),
    });
    let after = |window: &&Window| window.now >= at(110_000 + 4_000);
    let late: Vec<_> = windows.iter().filter(after).collect();
    assert!(late.len() > 2);
    assert!(late[0].overloaded(), "{:?}", late[0]);
    for window in &late[1..] {
        assert_eq!(window.untimed, 0, "{window:?}");
        assert!(window.overloaded(), "{window:?}");
    }
}

/// A server whose 404s take as long as they like: they are no overloads, and do not end the sparing of clocks.
#[test]
fn answers_that_say_nothing_about_load_neither_cut_nor_bring_timing_back() {
    let windows = watch(32, 200_000, |turn| match turn % 2 {
        0 => (2_000, Outcome::Ignored),
        _ => (100, Outcome::Success),
    });
    assert!(windows.len() > 3);
    for window in windows.iter().skip(2) {
        assert_eq!(window.untimed > 0, WIDE);
        assert_eq!(window.overloads, 0, "{window:?}");
    }
}

#[test]
fn permits_that_are_given_up_now_and_then_do_not_bring_timing_back() {
    let windows = watch(32, 200_000, |turn| match turn % 200 {
        0 => (2_000, Outcome::Cancelled),
        _ => (100, Outcome::Success),
    });
    for window in windows.iter().skip(2) {
        assert_eq!(window.untimed > 0, WIDE);
        assert!(!window.overloaded());
    }
}

/// An adapter reads no clock for a permit that is not timed.
#[test]
fn the_time_is_asked_for_only_when_a_permit_is_timed() {
    let limiter = Limiter::new(
        Config::new(Fixed, TickRate::MICROS)
            .windows(Duration::from_millis(10), Duration::from_millis(10)),
    );
    let mut asked = 0_u64;
    for turn in 0..100_000 {
        let slot = limiter
            .admit_with(|| {
                asked += 1;
                at(turn)
            })
            .unwrap();
        let timed = slot.asks_time(Outcome::Success);
        assert_eq!(limiter.age(&slot, at(turn)).is_some(), timed);
        assert!(slot.asks_time(Outcome::Overload));
        let now = if timed {
            at(turn)
        } else {
            Timestamp::default()
        };
        let _ = limiter.settle(slot, Outcome::Success, now);
    }
    if WIDE {
        assert!((100_000 / 32..25_000).contains(&asked), "{asked}");
    } else {
        assert_eq!(asked, 100_000);
    }
}

#[test]
fn a_share_or_a_length_that_cannot_work_is_refused() {
    let base = Config::new(Fixed, TickRate::MICROS);
    for wrong in [0, 33] {
        let error = Limiter::try_new(base.one_timed_of(wrong)).unwrap_err();
        let expected = format!("one_timed_of = {wrong}: allowed are 1 to 32");
        assert_eq!(error.to_string(), expected);
    }
    // A narrow word of microseconds turns in 71 minutes, a wide one in 584,000 years.
    let long = base.windows(Duration::ZERO, Duration::from_secs(18 * 60));
    let field = Limiter::try_new(long).err().map(|error| error.field());
    assert_eq!(field, (!WIDE).then_some("windows.longest in ns"));
}
