//! Waiting futures, polled by hand: no runtime, no threads, one order of events after the other.

mod common;

use common::{Count, Task, assert_idle, fixed, poll, with};
use limiter_std::law::Fixed;
use limiter_std::{Config, MAX_QUEUE_LENGTH, Outcome, RejectReason};
use std::task::Poll;

#[test]
fn a_free_slot_is_taken_without_waiting() {
    let (limiter, _) = fixed(1);
    let mut task = Task::new(&limiter);
    assert!(matches!(task.poll(), Poll::Ready(Ok(_))));
    assert_eq!(task.woken(), 0);
    assert_idle(&limiter);
}

#[test]
fn a_release_wakes_the_first_and_leaves_the_others_asleep() {
    let (limiter, _) = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let (mut first, mut second) = (Task::queued(&limiter), Task::queued(&limiter));
    assert_eq!(limiter.queued(), 2);
    held.finish(Outcome::Success);
    assert_eq!((first.woken(), second.woken()), (1, 0));
    let permit = first.permit();
    assert!(second.poll().is_pending());
    drop(permit);
    drop(second.permit());
    assert_idle(&limiter);
}
