//! Models of the caller's cells, without a bound. Included by `cells.rs`.

use super::explore::explore;
use crate::cell::backlog::{Backlog, OWED};
use crate::cell::callers::{Fading, Shared};
use crate::cell::histogram::Histogram;
use crate::cell::ring::Ring;
use crate::time::Stamp;
use loom::sync::Arc;
use loom::thread;

const SHIFT: u8 = 4;
const TOPS: u32 = 1 << 31;

/// A ring of two buckets of 16 units, with five counts in the one that is to be used again at 32.
fn used() -> Arc<Ring<2>> {
    let ring = Ring::new();
    ring.add(SHIFT, TOPS, Stamp(1), 5);
    Arc::new(ring)
}

fn sum(ring: &Ring<2>, now: u32) -> u32 {
    let mut sum = 0;
    ring.look(SHIFT, Stamp(now), |word| sum += word);
    sum
}

#[test]
fn a_ring_that_turns_counts_nothing_old_and_loses_at_most_one_of_two() {
    explore("cell-ring", || {
        let ring = used();
        let come = |ring: &Ring<2>| {
            ring.add(SHIFT, TOPS, Stamp(32), 1);
            let seen = sum(ring, 32);
            assert!(seen <= 2, "{seen} with old counts");
        };
        let thread = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || come(&ring))
        };
        come(&ring);
        thread.join().unwrap();
        let left = sum(&ring, 32);
        assert!((1..=2).contains(&left), "{left} are left of two");
    });
}

#[test]
fn two_that_add_to_one_bucket_are_both_counted() {
    explore("cell-ring-add", || {
        let ring = used();
        let thread = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || ring.add(SHIFT, TOPS, Stamp(2), 1))
        };
        ring.add(SHIFT, TOPS, Stamp(3), 1);
        thread.join().unwrap();
        assert_eq!(sum(&ring, 3), 7);
    });
}

#[test]
fn places_are_taken_up_to_the_bound_and_marks_are_kept_beside_them() {
    explore("cell-backlog", || {
        let backlog = Arc::new(Backlog::new());
        assert!(backlog.enter(2));
        let thread = {
            let backlog = Arc::clone(&backlog);
            thread::spawn(move || backlog.enter(2))
        };
        backlog.mark(OWED);
        let here = backlog.enter(2);
        let there = thread.join().unwrap();
        assert!(here != there);
        assert_eq!(backlog.waiting(), 2);
        assert!(backlog.take(OWED) && !backlog.take(OWED));
        backlog.leave();
        backlog.leave();
        assert_eq!(backlog.waiting(), 0);
    });
}

#[test]
fn a_mark_is_taken_by_one_of_two() {
    explore("cell-mark-once", || {
        let backlog = Arc::new(Backlog::new());
        backlog.mark(OWED);
        let thread = {
            let backlog = Arc::clone(&backlog);
            thread::spawn(move || backlog.take(OWED))
        };
        let here = backlog.take(OWED);
        assert!(here != thread.join().unwrap());
    });
}

#[test]
fn samples_in_two_counters_of_one_word_are_both_counted() {
    explore("cell-histogram", || {
        let histogram = Arc::new(Histogram::new());
        let thread = {
            let histogram = Arc::clone(&histogram);
            thread::spawn(move || histogram.record(2, false, Stamp(0)))
        };
        histogram.record(3, false, Stamp(0));
        thread.join().unwrap();
        assert_eq!(histogram.quantile(500, 2), Some(2));
        assert_eq!(histogram.quantile(1_000, 2), Some(3));
    });
}

#[test]
fn counts_of_callers_beside_a_new_period_are_halved_once_and_all_added() {
    explore("cell-fading", || {
        let count = Arc::new(Fading::new());
        count.add(8, 1, 0);
        let thread = {
            let count = Arc::clone(&count);
            thread::spawn(move || count.add(1, 2, 0))
        };
        count.add(1, 2, 0);
        thread.join().unwrap();
        assert_eq!(count.read(2), 6);
        assert_eq!(count.read(3), 3);
    });
}

#[test]
fn a_new_period_is_begun_by_one_of_those_who_come() {
    explore("cell-turn", || {
        let period = Arc::new(Shared::new());
        let thread = {
            let period = Arc::clone(&period);
            thread::spawn(move || period.turn(7))
        };
        let here = period.turn(7);
        assert!(here.is_some() != thread.join().unwrap().is_some());
    });
}
