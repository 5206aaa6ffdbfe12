//! Waiters that go away: at every step, before and after their grant, in both orders of what may meet.

mod common;

use common::{Count, Fixture, Task, assert_idle, fixed, poll};
use limiter_std::RejectReason;
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

type Waiting = Pin<Box<dyn Future<Output = Result<common::Taken, limiter_std::Rejected>>>>;

/// What happens to the limiter between two polls of a future.
type Event = fn(&Fixture, &mut Vec<common::Taken>);

/// A timer that is done when it is told.
#[derive(Clone, Default)]
struct Timer(Rc<Cell<bool>>);

impl Timer {
    fn fire(&self) {
        self.0.set(true);
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0.get() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// Polls a future, lets the first event happen, polls it again, and so on; drops it after its `k`-th poll,
/// for every `k`. Whatever was reached by then, nothing may be left of it.
fn cancel_at_every_step(held: u32, make: impl Fn(&Fixture) -> Waiting, events: &[Event]) {
    for polls in 0..=events.len() {
        // Dropped right after the poll, and after the event that follows it.
        for event_before_drop in [false, true] {
            let (limiter, _) = fixed(2);
            let mut permits: Vec<_> = (0..held)
                .map(|_| limiter.try_acquire().expect("below the limit"))
                .collect();
            let mut future = make(&limiter);
            let (_, waker) = Count::new();
            for (step, event) in events.iter().take(polls).enumerate() {
                let ready = poll(&mut future, &waker).is_ready();
                if step + 1 < polls || event_before_drop {
                    event(&limiter, &mut permits);
                }
                if ready {
                    break;
                }
            }
            drop((future, permits));
            assert_idle(&limiter);
        }
    }
}

fn nothing(_: &Fixture, _: &mut Vec<common::Taken>) {}

fn release(_: &Fixture, permits: &mut Vec<common::Taken>) {
    permits.pop();
}

fn raise(limiter: &Fixture, _: &mut Vec<common::Taken>) {
    limiter.set_limit(3).expect("within the bounds");
}

fn shrink(limiter: &Fixture, _: &mut Vec<common::Taken>) {
    limiter.set_limit(1).expect("within the bounds");
}

#[test]
fn a_future_can_be_dropped_after_any_poll_and_leaves_nothing_behind() {
    let alone = |limiter: &Fixture| -> Waiting { Box::pin(limiter.acquire_async()) };
    let timed =
        |limiter: &Fixture| -> Waiting { Box::pin(limiter.acquire_until(Timer::default())) };
    let out_of_time = |limiter: &Fixture| -> Waiting {
        let timer = Timer::default();
        timer.fire();
        Box::pin(limiter.acquire_until(timer))
    };
    let events: [&[Event]; 5] = [
        &[nothing, nothing, release, nothing],
        &[release, nothing],
        &[raise, nothing, release],
        &[shrink, release, release, nothing],
        &[shrink, nothing, raise, nothing],
    ];
    for events in events {
        for held in 0..=2 {
            cancel_at_every_step(held, alone, events);
            cancel_at_every_step(held, timed, events);
            cancel_at_every_step(held, out_of_time, events);
        }
    }
}

#[test]
fn a_grant_is_handed_on_through_any_number_of_waiters_that_go_away() {
    let (limiter, _) = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let mut waiting: Vec<_> = (0..100).map(|_| Task::queued(&limiter)).collect();
    let mut last = waiting.pop().unwrap();
    drop(held);
    for task in waiting {
        assert_eq!(task.woken(), 1);
        assert!(
            limiter.try_acquire().is_err(),
            "it is on its way to the next"
        );
        drop(task);
    }
    drop(last.permit());
    assert_idle(&limiter);
}

#[test]
fn those_behind_a_head_that_goes_away_move_up() {
    let (limiter, _) = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let (head, mut second, third) = (
        Task::queued(&limiter),
        Task::queued(&limiter),
        Task::queued(&limiter),
    );
    drop(head);
    assert_eq!(limiter.queued(), 2);
    drop(held);
    assert_eq!(third.woken(), 0);
    drop(second.permit());
    drop(third);
    assert_idle(&limiter);
}

#[test]
fn when_all_who_wait_give_up_nothing_says_that_anybody_waits() {
    let (limiter, _) = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let waiting: Vec<_> = (0..100).map(|_| Task::queued(&limiter)).collect();
    assert!(limiter.snapshot().waiting);
    drop(waiting);
    assert!(!limiter.snapshot().waiting);
    assert_eq!(limiter.queued(), 0);
    drop(held);
    assert_idle(&limiter);
}

/// The two orders in which a release and a timeout can meet, and the moment of the waiter's next poll:
/// between them, or after both.
#[test]
fn a_timeout_and_a_grant_in_the_same_instant_lose_no_slot_in_any_order() {
    let (limiter, _) = fixed(1);
    let (mut kept, mut timed_out) = (0, 0);
    for round in 0..10_000 {
        let (release_first, poll_between) = (round % 2 == 0, round % 4 < 2);
        let held = limiter
            .try_acquire()
            .expect("the slot of the last round is free");
        let timer = Timer::default();
        let mut waiting = Box::pin(limiter.acquire_until(timer.clone()));
        let (_, waker) = Count::new();
        assert!(poll(&mut waiting, &waker).is_pending());

        let mut ended = None;
        if release_first {
            drop(held);
            if poll_between {
                ended = Some(poll(&mut waiting, &waker));
            }
            timer.fire();
        } else {
            timer.fire();
            if poll_between {
                ended = Some(poll(&mut waiting, &waker));
            }
            drop(held);
        }
        match ended.unwrap_or_else(|| poll(&mut waiting, &waker)) {
            Poll::Ready(Ok(permit)) => {
                kept += 1;
                assert!(release_first || !poll_between);
                drop(permit);
            }
            Poll::Ready(Err(refused)) => {
                timed_out += 1;
                assert_eq!(refused.reason, RejectReason::TimedOut);
                assert!(!release_first && poll_between);
            }
            Poll::Pending => panic!("the timer is done"),
        }
        assert_eq!(limiter.snapshot().inflight, 0, "round {round}");
    }
    assert_eq!((kept, timed_out), (7_500, 2_500));
    assert_idle(&limiter);
}

#[test]
fn a_timed_wait_that_is_polled_after_its_end_takes_nothing() {
    let (limiter, _) = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let timer = Timer::default();
    timer.fire();
    let mut waiting = Box::pin(limiter.acquire_until(timer));
    let (_, waker) = Count::new();
    assert!(poll(&mut waiting, &waker).is_ready());
    assert!(poll(&mut waiting, &waker).is_pending());
    drop(held);
    assert_idle(&limiter);
}
