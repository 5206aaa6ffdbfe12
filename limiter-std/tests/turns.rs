//! Whose turn it is: classes, weights, deadlines, and a delay that stands. Polled by hand.

mod common;

use common::{Fixture, Taken, Task, assert_idle, fixed, with};
use limiter_std::law::Fixed;
use limiter_std::{Config, ManualClock, Priority, RejectReason, Rejected, Request, Shares};
use std::task::Poll;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn of(priority: Priority) -> Request {
    Request::new().priority(priority)
}

fn refusal(polled: Poll<Result<Taken, Rejected>>) -> Rejected {
    match polled {
        Poll::Ready(Err(refused)) => refused,
        other => panic!("not refused: {other:?}"),
    }
}

fn held() -> (Fixture, ManualClock, Taken) {
    let (limiter, clock) = fixed(1);
    let held = limiter.try_acquire().expect("nothing is in flight");
    (limiter, clock, held)
}

fn within(limiter: &Fixture, time: Duration) -> Task {
    Task::of(limiter.acquire_async().within(time))
}

#[test]
fn the_highest_class_is_served_first_and_each_class_in_order() {
    let (limiter, _, held) = held();
    let mut waiting: Vec<_> = [0, 3, 1, 2, 0, 3, 2, 1]
        .map(|class| (class, Task::queued_for(&limiter, of(Priority::ALL[class]))))
        .into();
    drop(held);
    // Equal classes stay in the order in which they came.
    waiting.sort_by_key(|(class, _)| std::cmp::Reverse(*class));
    for (_, task) in &mut waiting {
        drop(task.permit());
    }
    assert_idle(&limiter);
}

#[test]
fn a_newcomer_passes_those_who_wait_in_lower_classes_and_no_others() {
    let (limiter, _) = fixed(4);
    let held: Vec<_> = (0..2).map(|_| limiter.try_acquire().unwrap()).collect();
    let mut lower = Task::queued_for(&limiter, of(Priority::BestEffort));
    let refused = limiter
        .try_acquire_for(of(Priority::BestEffort))
        .unwrap_err();
    assert_eq!(refused.reason, RejectReason::ShareTaken);
    let batch = limiter
        .try_acquire_for(of(Priority::Batch))
        .expect("3 of 3");
    let plain = limiter.try_acquire().expect("4 of 4, the highest class");
    drop((held, batch));
    drop(lower.permit());
    drop(plain);
    assert_idle(&limiter);
}

#[test]
fn a_larger_share_lets_those_in_who_wait_for_it() {
    let (limiter, _) = fixed(4);
    let _held = [
        limiter.try_acquire().unwrap(),
        limiter.try_acquire().unwrap(),
    ];
    let mut waiting = Task::queued_for(&limiter, of(Priority::BestEffort));
    limiter
        .set_shares(
            Shares::new()
                .interactive(1_000)
                .batch(1_000)
                .best_effort(750),
        )
        .unwrap();
    drop(waiting.permit());
}

#[test]
fn in_a_full_queue_the_last_of_the_lowest_class_makes_place_for_a_higher_one() {
    let (limiter, _) = with(Config::new(Fixed).initial(1).queue_length(2));
    let held = limiter.try_acquire().unwrap();
    let mut first = Task::queued_for(&limiter, of(Priority::Batch));
    let mut last = Task::queued_for(&limiter, of(Priority::Batch));
    let mut equal = Task::of(limiter.acquire_async_for(of(Priority::Batch)));
    assert_eq!(refusal(equal.poll()).reason, RejectReason::QueueFull);
    let mut higher = Task::queued_for(&limiter, of(Priority::Interactive));
    assert_eq!((first.woken(), last.woken()), (0, 1));
    assert_eq!(refusal(last.poll()).reason, RejectReason::QueueFull);
    drop(held);
    drop(higher.permit());
    drop(first.permit());
    assert_idle(&limiter);
}

#[test]
fn one_whose_time_is_over_is_never_given_a_slot_and_is_told_when_the_queue_moves() {
    let (limiter, clock, held) = held();
    let mut late = within(&limiter, 10 * MS);
    assert!(late.poll().is_pending());
    let mut next = Task::queued(&limiter);
    clock.advance(10 * MS + Duration::from_micros(1));
    drop(held);
    assert_eq!((late.woken(), next.woken()), (1, 1));
    assert_eq!(refusal(late.poll()).reason, RejectReason::TimedOut);
    drop(next.permit());
    assert_idle(&limiter);
}

#[test]
fn a_slot_that_comes_with_the_deadline_is_kept() {
    let (limiter, clock, held) = held();
    let mut task = within(&limiter, 10 * MS);
    assert!(task.poll().is_pending());
    clock.advance(10 * MS);
    drop(held);
    drop(task.permit());
}

#[test]
fn nobody_waits_longer_than_the_longest_wait_whatever_time_it_has() {
    let (limiter, clock) = with(Config::new(Fixed).initial(1).longest_wait(20 * MS));
    let held = limiter.try_acquire().unwrap();
    let mut patient = within(&limiter, Duration::from_secs(3_600));
    assert!(patient.poll().is_pending());
    let mut endless = Task::queued(&limiter);
    clock.advance(21 * MS);
    drop(held);
    for task in [&mut patient, &mut endless] {
        assert_eq!(refusal(task.poll()).reason, RejectReason::TimedOut);
    }
    assert_idle(&limiter);
}

/// Serves a queue of one slot every 10 ms until its pace is known.
fn paced() -> (Fixture, ManualClock, Taken) {
    let (limiter, clock, mut held) = held();
    for _ in 0..20 {
        let mut next = Task::queued(&limiter);
        clock.advance(10 * MS);
        drop(held);
        held = next.permit();
    }
    (limiter, clock, held)
}

#[test]
fn one_who_will_be_late_is_refused_at_once_with_the_numbers() {
    let (limiter, _, held) = paced();
    let waiting: Vec<_> = (0..5).map(|_| Task::queued(&limiter)).collect();
    let refused = refusal(within(&limiter, 49 * MS).poll());
    let RejectReason::WouldExpire(forecast) = refused.reason else {
        panic!("{refused}");
    };
    assert_eq!((forecast.wait(), forecast.left()), (50 * MS, 49 * MS));
    assert!(
        refused.to_string().contains("50ms ahead, 49ms left"),
        "{refused}"
    );
    let mut just = within(&limiter, 50 * MS);
    assert!(just.poll().is_pending());
    // Those of lower classes are not ahead.
    let mut higher = Task::of(
        limiter
            .acquire_async_for(of(Priority::Interactive))
            .within(10 * MS),
    );
    assert!(matches!(
        refusal(higher.poll()).reason,
        RejectReason::WouldExpire(_)
    ));
    drop((waiting, just, held));
    assert_idle(&limiter);
}

#[test]
fn those_in_lower_classes_are_not_ahead_and_weights_are() {
    let (limiter, _, held) = paced();
    let lower: Vec<_> = (0..50)
        .map(|_| Task::queued_for(&limiter, of(Priority::Batch)))
        .collect();
    let mut higher = within(&limiter, MS);
    assert!(higher.poll().is_pending());
    drop((higher, lower));
    limiter.set_bounds(1, 100).unwrap();
    let heavy = Task::queued_for(&limiter, Request::new().weight(7));
    assert!(matches!(
        refusal(within(&limiter, 69 * MS).poll()).reason,
        RejectReason::WouldExpire(_)
    ));
    drop((heavy, held));
    assert_idle(&limiter);
}

/// A queue of eight that gets one more for each that is served, every 10 ms.
fn standing() -> (Fixture, ManualClock, Taken, Vec<Task>) {
    let (limiter, clock, mut held) = paced();
    let mut waiting: Vec<_> = (0..8).map(|_| Task::queued(&limiter)).collect();
    for _ in 0..100 {
        clock.advance(10 * MS);
        waiting.push(Task::queued(&limiter));
        drop(held);
        let at = waiting
            .iter()
            .position(|task| task.woken() == 1)
            .expect("one was served");
        held = waiting.remove(at).permit();
        if limiter.queue(Priority::Critical).newest_first {
            return (limiter, clock, held, waiting);
        }
        assert_eq!(at, 0, "in order while healthy");
    }
    panic!("a delay of eighty milliseconds never stood");
}

#[test]
fn while_the_delay_stands_the_newest_are_served_first_and_in_order_again_once_it_is_gone() {
    let (limiter, _, mut held, mut waiting) = standing();
    while waiting.len() > 1 {
        let mut newest = waiting.pop().unwrap();
        drop(held);
        held = newest.permit();
    }
    // The queue is as short as can be: it does not stand any more.
    assert!(!limiter.queue(Priority::Critical).newest_first);
    let mut next = Task::queued(&limiter);
    drop(held);
    drop(waiting.pop().unwrap().permit());
    drop(next.permit());
    assert_idle(&limiter);
}

#[test]
fn a_delay_that_stands_in_one_class_leaves_the_order_of_the_others() {
    let (limiter, _, held, waiting) = standing();
    let mut lower = [(); 2].map(|()| Task::queued_for(&limiter, of(Priority::Batch)));
    drop(waiting);
    drop(held);
    for task in &mut lower {
        drop(task.permit());
    }
    assert_idle(&limiter);
}

#[test]
fn f25_and_f29_a_limit_raised_by_two_serves_two_who_wait_without_any_release() {
    let (limiter, _, held) = held();
    let mut waiting = [(); 2].map(|()| Task::queued(&limiter));
    limiter.set_limit(3).unwrap();
    assert!(
        limiter.try_acquire().is_err(),
        "a newcomer does not pass them"
    );
    let permits = waiting.each_mut().map(Task::permit);
    drop((held, permits));
    assert_idle(&limiter);
}

#[test]
fn f26_a_heavy_head_that_goes_away_lets_a_light_one_in_that_fits() {
    let (limiter, _) = fixed(2);
    let held = limiter.try_acquire().unwrap();
    let heavy = Task::queued_for(&limiter, Request::new().weight(2));
    let mut light = Task::queued_for(&limiter, Request::new());
    assert_eq!(light.woken(), 0, "nobody passes the head");
    drop(heavy);
    drop(light.permit());
    drop(held);
    assert_idle(&limiter);
}

#[test]
fn f27_a_grant_that_was_never_polled_goes_to_the_next() {
    let (limiter, _, held) = held();
    let first = Task::queued(&limiter);
    let mut second = Task::queued(&limiter);
    drop(held);
    assert_eq!((first.woken(), second.woken()), (1, 0));
    drop(first);
    drop(second.permit());
    assert_idle(&limiter);
}

#[test]
fn f28_newcomers_every_millisecond_do_not_keep_a_waiter_from_its_slot() {
    let (limiter, clock, held) = held();
    let mut waiter = Task::queued(&limiter);
    for _ in 0..1_000 {
        clock.advance(MS);
        assert!(limiter.try_acquire().is_err());
    }
    drop(held);
    assert!(limiter.try_acquire().is_err());
    drop(waiter.permit());
    assert_idle(&limiter);
}

#[test]
fn f30_after_anything_that_may_make_room_nobody_waits_while_there_is_some() {
    let (limiter, _) = fixed(1);
    let events: [fn(&Fixture); 3] = [
        |limiter| limiter.set_limit(3).unwrap(),
        |limiter| limiter.set_bounds(4, 100).unwrap(),
        |limiter| limiter.set_shares(Shares::new().batch(900)).unwrap(),
    ];
    let mut held = vec![limiter.try_acquire().unwrap()];
    let mut waiting: Vec<_> = (0..8)
        .map(|_| Task::queued_for(&limiter, of(Priority::Batch)))
        .collect();
    for event in events {
        event(&limiter);
        while waiting.first().is_some_and(|task| task.woken() == 1) {
            held.push(waiting.remove(0).permit());
        }
        let again = limiter.try_acquire_for(of(Priority::Batch)).unwrap_err();
        assert!(
            again.reason != RejectReason::WaitersAhead,
            "{again} although it would fit"
        );
    }
    drop((waiting, held));
    assert_idle(&limiter);
}

#[test]
fn f31_two_who_wait_without_room_do_not_wake_each_other() {
    let (limiter, clock, held) = held();
    let mut waiting = [(); 2].map(|()| within(&limiter, Duration::from_secs(1)));
    for _ in 0..10 {
        for task in &mut waiting {
            assert!(task.poll().is_pending());
        }
        clock.advance(100 * MS);
    }
    assert_eq!(waiting.each_ref().map(Task::woken), [0, 0]);
    drop((waiting, held));
    assert_idle(&limiter);
}

#[test]
fn f32_closing_wakes_one_who_waits_once() {
    let (limiter, _, held) = held();
    let mut waiter = Task::queued_for(&limiter, of(Priority::Batch));
    limiter.close();
    assert_eq!(waiter.woken(), 1);
    assert_eq!(refusal(waiter.poll()).reason, RejectReason::Closed);
    drop(held);
}

#[test]
fn f33_what_is_too_heavy_for_ever_never_waits_also_when_it_becomes_so_while_it_waits() {
    let (limiter, _) = with(Config::new(Fixed).initial(10).max(10));
    let mut heavy = Task::of(limiter.acquire_async_for(Request::new().weight(11)));
    let refused = refusal(heavy.poll());
    assert_eq!(refused.reason, RejectReason::TooHeavy(11));
    assert!(refused.to_string().ends_with("takes 11)"), "{refused}");
    let held = limiter.try_acquire().unwrap();
    let mut heavy = Task::queued_for(&limiter, Request::new().weight(10));
    let mut light = Task::queued(&limiter);
    limiter.set_bounds(1, 5).unwrap();
    assert_eq!(refusal(heavy.poll()).reason, RejectReason::TooHeavy(10));
    drop(light.permit());
    drop(held);
    assert_idle(&limiter);
}

#[test]
fn f109_a_wait_shorter_than_a_tick_is_not_rounded_to_nothing() {
    let made = |longest| limiter_std::Limiter::try_new(Config::new(Fixed).longest_wait(longest));
    assert!(made(Duration::from_nanos(1)).is_ok());
    assert_eq!(
        made(Duration::ZERO).unwrap_err().field(),
        "longest_wait in ns"
    );
    for (target, interval, field) in [
        (Duration::ZERO, MS, "standing_delay.target in ns"),
        (MS, Duration::ZERO, "standing_delay.interval in ns"),
    ] {
        let config = Config::new(Fixed).standing_delay(target, interval);
        assert_eq!(
            limiter_std::Limiter::try_new(config).unwrap_err().field(),
            field
        );
    }
}
