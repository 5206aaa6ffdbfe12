//! Waiting futures, polled by hand: no runtime, no threads, one order of events after the other.

mod common;

use common::{Fixture, Taken, Task, assert_idle, fixed, with};
use limiter_std::law::Fixed;
use limiter_std::{Acquire, Config, MAX_QUEUE_LENGTH, Outcome, RejectReason, Rejected};
use std::task::Poll;
use std::time::Duration;

/// A limiter with one slot, and who has it.
fn held() -> (Fixture, Taken) {
    let (limiter, _) = fixed(1);
    let held = limiter.try_acquire().expect("nothing is in flight");
    (limiter, held)
}

fn queued<const N: usize>(limiter: &Fixture) -> [Task; N] {
    std::array::from_fn(|_| Task::queued(limiter))
}

fn reason(polled: Poll<Result<Taken, Rejected>>) -> RejectReason {
    match polled {
        Poll::Ready(Err(refused)) => refused.reason,
        other => panic!("not refused: {other:?}"),
    }
}

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
    let (limiter, held) = held();
    let [mut first, mut second] = queued(&limiter);
    assert_eq!(limiter.queued(), 2);
    held.finish(Outcome::Success);
    assert_eq!((first.woken(), second.woken()), (1, 0));
    let permit = first.permit();
    assert!(second.poll().is_pending());
    drop(permit);
    drop(second.permit());
    assert_idle(&limiter);
}

#[test]
fn waiters_are_served_in_the_order_in_which_they_came() {
    let (limiter, held) = held();
    let mut waiting: [Task; 20] = queued(&limiter);
    drop(held);
    for task in &mut waiting {
        // Also the drop of the permit serves the next.
        drop(task.permit());
    }
    assert_idle(&limiter);
}

#[test]
fn a_newcomer_never_passes_a_waiter_however_often_it_tries() {
    let (limiter, mut held) = held();
    let mut waiting: [Task; 3] = queued(&limiter);
    for task in &mut waiting {
        assert!(limiter.try_acquire().is_err());
        drop(held);
        // Between the release and the poll of the waiter that was woken for it.
        assert!(limiter.try_acquire().is_err());
        held = task.permit();
    }
    drop(held);
    assert_idle(&limiter);
}

#[test]
fn a_raised_limit_lets_all_waiters_in_that_fit_and_no_newcomer() {
    let (limiter, held) = held();
    let mut waiting: [Task; 4] = queued(&limiter);
    limiter.set_limit(4).unwrap();
    assert_eq!(limiter.snapshot().inflight, 4);
    let refused = limiter.try_acquire().unwrap_err();
    assert_eq!((refused.limit, refused.inflight), (4, 4));
    let permits: Vec<_> = waiting[..3].iter_mut().map(Task::permit).collect();
    assert!(waiting[3].poll().is_pending());
    drop((held, permits, waiting));
    assert_idle(&limiter);
}

#[test]
fn bounds_that_raise_the_limit_let_waiters_in() {
    let (limiter, held) = held();
    let mut waiting: [Task; 2] = queued(&limiter);
    limiter.set_bounds(3, 10).unwrap();
    let permits = waiting.each_mut().map(Task::permit);
    drop((held, permits));
    assert_idle(&limiter);
}

#[test]
fn more_waiters_than_are_woken_in_one_go_are_all_woken() {
    let (limiter, held) = held();
    let mut waiting: [Task; 50] = queued(&limiter);
    limiter.set_limit(51).unwrap();
    let permits = waiting.each_mut().map(Task::permit);
    assert_eq!(limiter.snapshot().inflight, 51);
    drop((held, permits));
    assert_idle(&limiter);
}

#[test]
fn a_lowered_limit_wakes_nobody_and_keeps_the_order() {
    let (limiter, _) = fixed(2);
    let held = [
        limiter.try_acquire().unwrap(),
        limiter.try_acquire().unwrap(),
    ];
    let [mut first, second] = queued(&limiter);
    limiter.set_limit(1).unwrap();
    let [one, other] = held;
    drop(one);
    assert_eq!(first.woken(), 0, "still at the new limit");
    drop(other);
    assert_eq!((first.woken(), second.woken()), (1, 0));
    drop(first.permit());
    drop(second);
    assert_idle(&limiter);
}

#[test]
fn closing_wakes_every_waiter_once_and_says_so() {
    let (limiter, held) = held();
    let mut waiting: [Task; 20] = queued(&limiter);
    limiter.close();
    limiter.close();
    for task in &mut waiting {
        assert_eq!(task.woken(), 1);
        assert_eq!(reason(task.poll()), RejectReason::Closed);
    }
    assert_eq!(reason(Task::new(&limiter).poll()), RejectReason::Closed);
    drop(held);
    let seen = limiter.snapshot();
    assert!(seen.closed && !seen.waiting);
    assert_eq!((seen.inflight, limiter.queued()), (0, 0));
}

#[test]
fn a_slot_granted_before_closing_is_kept() {
    let (limiter, held) = held();
    let [mut task] = queued(&limiter);
    drop(held);
    limiter.close();
    drop(task.permit());
    assert_eq!(limiter.snapshot().inflight, 0);
}

#[test]
fn two_who_wait_for_a_slot_that_does_not_come_are_left_alone() {
    let (limiter, held) = held();
    let [first, second] = queued(&limiter);
    for _ in 0..100 {
        assert!(limiter.try_acquire().is_err());
        drop(Task::queued(&limiter));
    }
    assert_eq!((first.woken(), second.woken()), (0, 0));
    drop((first, second, held));
    assert_idle(&limiter);
}

#[test]
fn the_queue_is_full_at_its_bound_and_not_before() {
    let (limiter, _) = with(Config::new(Fixed).initial(1).queue_length(2));
    let held = limiter.try_acquire().unwrap();
    let [mut first, second] = queued(&limiter);
    let mut third = Task::new(&limiter);
    assert_eq!(reason(third.poll()), RejectReason::QueueFull);
    drop(held);
    // The first was granted its slot, so it waits no more, though it has not looked yet.
    let third = Task::queued(&limiter);
    drop(second);
    let fourth = Task::queued(&limiter);
    drop(first.permit());
    assert_eq!((third.woken(), fourth.woken()), (1, 0));
    drop((third, fourth));
    assert_idle(&limiter);
}

#[test]
fn without_a_queue_who_would_have_to_wait_is_refused() {
    let (limiter, _) = with(Config::new(Fixed).initial(1).without_queue());
    let held = limiter.try_acquire().unwrap();
    assert_eq!(reason(Task::new(&limiter).poll()), RejectReason::AtLimit);
    let refused = limiter.acquire_timeout(Duration::MAX).unwrap_err();
    assert_eq!(refused.reason, RejectReason::AtLimit);
    drop(held);
    assert_idle(&limiter);
}

#[test]
fn a_queue_of_zero_or_beyond_all_measure_is_an_error_that_names_it() {
    for (waiters, works) in [
        (0, false),
        (1, true),
        (MAX_QUEUE_LENGTH, true),
        (MAX_QUEUE_LENGTH + 1, false),
    ] {
        let made = limiter_std::Limiter::try_new(Config::new(Fixed).queue_length(waiters));
        match made {
            Ok(_) => assert!(works, "{waiters}"),
            Err(error) => {
                assert!(!works, "{waiters}");
                assert_eq!(error.field(), "queue_length");
            }
        }
    }
}

#[test]
fn the_rtt_starts_at_the_grant_and_not_when_the_wait_began() {
    let (limiter, clock) = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let [mut task] = queued(&limiter);
    clock.advance(Duration::from_secs(5));
    drop(held);
    clock.advance(Duration::from_millis(20));
    let permit = task.permit();
    assert_eq!(permit.age(), Some(Duration::from_millis(20)));
}

#[test]
fn a_future_that_moved_to_another_task_wakes_that_one() {
    let (limiter, held) = held();
    let [mut task] = queued(&limiter);
    let before = task.move_to_another();
    assert!(task.poll().is_pending());
    drop(held);
    assert_eq!(before.get(), 0, "the task it left");
    drop(task.permit());
    assert_idle(&limiter);
}

#[test]
fn a_future_that_is_polled_after_it_was_ready_takes_nothing() {
    let (limiter, _) = fixed(2);
    let mut task = Task::new(&limiter);
    let Poll::Ready(Ok(permit)) = task.poll() else {
        panic!("nothing is in flight");
    };
    assert!(task.poll().is_pending());
    assert_eq!((limiter.snapshot().inflight, limiter.queued()), (1, 0));
    drop((permit, task));
    assert_idle(&limiter);
}

#[test]
fn a_future_that_was_never_polled_reserves_nothing() {
    let (limiter, _) = fixed(1);
    let idle = Task::new(&limiter);
    let permit = limiter.try_acquire().expect("nothing is in flight");
    drop((permit, idle));
    assert_idle(&limiter);
}

#[test]
fn futures_and_permits_go_wherever_tasks_go() {
    fn anywhere<T: Send + Sync + Unpin + 'static>() {}
    anywhere::<Acquire>();
    anywhere::<limiter_std::Permit>();
    anywhere::<limiter_std::Hold>();
    anywhere::<limiter_std::Limiter>();
    anywhere::<limiter_std::AcquireUntil<std::future::Ready<()>>>();
}
