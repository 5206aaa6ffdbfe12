//! Clocks: real, standing still, stepping back; and what the laws are told of UTC.

mod common;

use common::{assert_idle, fixed};
use limiter_std::law::{Decision, Law, Reason, WALL_SECONDS, Window};
use limiter_std::{
    Clock, Config, Limiter, ManualClock, MonotonicClock, Outcome, Timestamp, timestamp,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

const MS: Duration = Duration::from_millis(1);

/// The ticks of one second.
fn second() -> u64 {
    timestamp(Duration::from_secs(1)).ticks()
}

#[test]
fn a_tick_is_a_nanosecond_or_a_microsecond_and_a_part_of_it_does_not_count() {
    let one = second();
    assert!(one == 1_000_000_000 || one == 1_000_000);
    assert_eq!(timestamp(Duration::ZERO).ticks(), 0);
    assert_eq!(timestamp(Duration::from_micros(1)).ticks(), one / 1_000_000);
    assert_eq!(
        timestamp(Duration::new(3, 999_999_999)).ticks(),
        4 * one - 1
    );
    assert_eq!(timestamp(Duration::MAX).ticks(), u64::MAX);
}

#[test]
fn the_monotonic_clock_keeps_pace_with_the_system_and_knows_the_date() {
    let clock = MonotonicClock::new();
    let start = Instant::now();
    let mut before = clock.now();
    for _ in 0..10_000 {
        let now = clock.now();
        assert!(now >= before);
        before = now;
    }
    let least = timestamp(start.elapsed());
    assert!(clock.now() >= least);
    let unix = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let shown = clock.unix_time().unwrap();
    assert!(shown.abs_diff(unix) < Duration::from_secs(60));
}

#[test]
fn a_clock_that_steps_back_stands_still_or_is_at_its_end_costs_samples_only() {
    let (limiter, clock) = fixed(4);
    for time in [
        Duration::from_secs(50),
        Duration::from_secs(10),
        Duration::ZERO,
        Duration::MAX,
        Duration::ZERO,
        Duration::from_secs(1),
    ] {
        let (one, other) = (
            limiter.try_acquire().unwrap(),
            limiter.try_acquire().unwrap(),
        );
        clock.set(time);
        one.finish(Outcome::Success);
        drop(other.into_hold());
    }
    assert_eq!(limiter.snapshot().limit, 4);
    assert_idle(&limiter);
}

/// Shows what it is told; counts how often it is asked for the date.
#[derive(Clone)]
struct Dated {
    time: ManualClock,
    unix: Arc<Mutex<Option<Duration>>>,
    asked: Arc<AtomicUsize>,
}

impl Dated {
    fn new(unix: Option<Duration>) -> Self {
        Self {
            time: ManualClock::new(),
            unix: Arc::new(Mutex::new(unix)),
            asked: Arc::default(),
        }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Clock for Dated {
    fn now(&self) -> Timestamp {
        self.time.now()
    }

    fn unix_time(&self) -> Option<Duration> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        *self.unix.lock().unwrap()
    }
}

/// Moves the limit after every window, and shows the wall clock that it was handed.
#[derive(Clone, Copy)]
struct Shows(&'static Mutex<Option<Timestamp>>);

impl Law for Shows {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], window: &Window) -> Decision {
        *self.0.lock().unwrap() = window.wall;
        let limit = if window.limit == 10 { 11 } else { 10 };
        Decision::new(limit, Reason::Probing)
    }
}

struct Wall {
    limiter: Limiter<Shows, Dated>,
    clock: Dated,
    shown: &'static Mutex<Option<Timestamp>>,
}

impl Wall {
    fn new(clock: Dated) -> Self {
        let shown: &'static _ = Box::leak(Box::new(Mutex::new(None)));
        let config = Config::new(Shows(shown)).min_samples(1).windows(MS, 2 * MS);
        let limiter = Limiter::with_clock(config, clock.clone()).unwrap();
        Self {
            limiter,
            clock,
            shown,
        }
    }

    /// A window later, what the law saw: the part of the wall clock that matters.
    fn after(&self, time: Duration) -> Option<u64> {
        self.clock.time.advance(time);
        let permit = self.limiter.try_acquire().unwrap();
        permit.finish(Outcome::Success);
        let wall = *self.shown.lock().unwrap();
        wall.map(|wall| wall.ticks() % (u64::from(WALL_SECONDS) * second()))
    }
}

/// The same of a date.
fn part(unix: Duration) -> Option<u64> {
    Some(timestamp(unix).ticks() % (u64::from(WALL_SECONDS) * second()))
}

#[test]
fn laws_are_told_utc_whatever_the_origin_of_the_clock() {
    for date in [
        Duration::ZERO,
        Duration::from_secs(7),
        Duration::new(1_790_000_003, 123_456_789),
    ] {
        for origin in [
            Duration::ZERO,
            Duration::from_secs(86_401),
            Duration::from_millis(7_999),
        ] {
            let clock = Dated::new(Some(date));
            clock.time.set(origin);
            let wall = Wall::new(clock);
            assert_eq!(wall.after(5 * MS), part(date + 5 * MS));
        }
    }
}

#[test]
fn a_clock_without_a_date_leaves_the_law_on_its_own_phase() {
    assert_eq!(Wall::new(Dated::new(None)).after(5 * MS), None);
}

#[test]
fn a_corrected_date_is_followed_within_seconds_and_read_no_more_often_than_that() {
    let date = Duration::from_secs(1_000);
    let clock = Dated::new(Some(date));
    let wall = Wall::new(clock.clone());
    assert_eq!(clock.asked(), 1);
    for step in 1..=999 {
        assert_eq!(wall.after(10 * MS), part(date + step * 10 * MS));
    }
    assert_eq!(clock.asked(), 1, "within ten seconds");

    let corrected = Duration::from_secs(2_000) + 300 * MS;
    *clock.unix.lock().unwrap() = Some(corrected);
    // The change that finds the offset old corrects it; the next window sees it.
    wall.after(10 * MS);
    assert_eq!(clock.asked(), 2);
    assert_eq!(wall.after(10 * MS), part(corrected + 10 * MS));
    assert_eq!(clock.asked(), 2);
}
