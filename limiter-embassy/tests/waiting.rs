//! Who waits is served in order, whoever else goes away, and whatever made the room.

mod common;

use common::{Fixture, ROOM, Task, assert_idle, fixed, now_or_never, poll};
use limiter_embassy::{Outcome, RejectReason};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};

#[test]
fn a_free_slot_is_taken_without_waiting() {
    let limiter = fixed(1);
    drop(now_or_never(limiter.acquire()).expect("nothing is in flight"));
    assert_idle(&limiter);
}

#[test]
fn slots_go_to_waiters_in_order_of_arrival() {
    let limiter = fixed(1);
    let mut held = limiter.try_acquire().unwrap();
    let mut tasks: Vec<_> = (0..ROOM).map(|_| Task::queued(&limiter)).collect();
    for task in &mut tasks {
        assert_eq!(task.woken(), 0);
        held.finish(Outcome::Success);
        held = task.permit();
    }
    drop((held, tasks));
    assert_idle(&limiter);
}

#[test]
fn a_full_line_is_a_refusal_that_says_so() {
    let limiter = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let tasks: Vec<_> = (0..ROOM).map(|_| Task::queued(&limiter)).collect();
    let refused = now_or_never(limiter.acquire()).unwrap_err();
    assert_eq!(refused.reason, RejectReason::QueueFull);
    assert_eq!((refused.limit, refused.inflight), (1, 1));
    drop((held, tasks));
    assert_idle(&limiter);
}

#[test]
fn where_nobody_may_wait_a_refusal_says_that_the_line_is_full() {
    use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
    use limiter_embassy::{Limiter, config, law::Fixed};
    let limiter: Limiter<CriticalSectionRawMutex, _, 0> =
        Limiter::new(config(Fixed).initial(1).max(1));
    let _held = limiter.try_acquire().unwrap();
    let refused = now_or_never(limiter.acquire()).unwrap_err();
    assert_eq!(refused.reason, RejectReason::QueueFull);
}

/// F28: a newcomer in every instant, one waiter.
#[test]
fn newcomers_do_not_pass_those_who_wait() {
    let limiter = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let mut waiter = Task::queued(&limiter);
    drop(held);
    for _ in 0..1_000 {
        let refused = limiter.try_acquire().unwrap_err();
        assert_eq!(refused.reason, RejectReason::AtLimit);
    }
    drop(waiter.permit());
    drop(waiter);
    assert_idle(&limiter);
}

/// F25: two waiters, one signal.
#[test]
fn raising_the_limit_serves_everybody_it_has_room_for() {
    let limiter = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let mut tasks: Vec<_> = (0..ROOM).map(|_| Task::queued(&limiter)).collect();
    limiter.set_limit(3).unwrap();
    let permits: Vec<_> = tasks[..2].iter_mut().map(Task::permit).collect();
    assert!(tasks[2..].iter().all(|task| task.woken() == 0));
    // F29: not even a newcomer of this instant passes the other two.
    assert!(limiter.try_acquire().is_err());
    limiter.set_bounds(5, 8).unwrap();
    let more: Vec<_> = tasks[2..].iter_mut().map(Task::permit).collect();
    assert_eq!(limiter.snapshot().inflight, 5);
    drop((held, permits, more, tasks));
    assert_idle(&limiter);
}

/// F26: the head goes, those behind it are served.
#[test]
fn a_head_that_is_cancelled_does_not_hold_up_those_behind_it() {
    let limiter = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let (first, mut second) = (Task::queued(&limiter), Task::queued(&limiter));
    drop(first);
    assert_eq!((limiter.queued(), second.woken()), (1, 0));
    drop(held);
    drop(second.permit());
    drop(second);
    assert_idle(&limiter);
}

/// F27: granted, and dropped before it was polled.
#[test]
fn a_grant_that_nobody_took_goes_to_the_next() {
    let limiter = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let mut tasks: Vec<_> = (0..ROOM).map(|_| Task::queued(&limiter)).collect();
    drop(held);
    for _ in 0..ROOM - 1 {
        assert_eq!(tasks[0].woken(), 1);
        drop(tasks.remove(0));
    }
    drop(tasks[0].permit());
    drop(tasks);
    assert_idle(&limiter);
}

/// F32: closing wakes everybody, once.
#[test]
fn closing_tells_everybody_in_line() {
    let limiter = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let mut tasks: Vec<_> = (0..ROOM).map(|_| Task::queued(&limiter)).collect();
    limiter.close();
    for task in &mut tasks {
        assert_eq!(task.woken(), 1);
        match task.poll() {
            Poll::Ready(Err(refused)) => assert_eq!(refused.reason, RejectReason::Closed),
            other => panic!("closed, and then {other:?}"),
        }
        assert!(task.poll().is_pending(), "over");
    }
    assert_eq!(
        now_or_never(limiter.acquire()).unwrap_err().reason,
        RejectReason::Closed
    );
    drop((held, tasks));
    assert_eq!(limiter.snapshot().inflight, 0);
}

/// F32: so does anything else that is done to a limiter while somebody waits.
#[test]
fn a_waiter_outlives_every_setting() {
    let limiter = fixed(2);
    let held = [
        limiter.try_acquire().unwrap(),
        limiter.try_acquire().unwrap(),
    ];
    let mut waiter = Task::queued(&limiter);
    limiter.set_limit(1).unwrap();
    limiter.set_bounds(1, 1).unwrap();
    assert!(waiter.poll().is_pending());
    let [first, second] = held;
    drop(first);
    assert_eq!(waiter.woken(), 0, "still one above the limit");
    drop(second);
    drop(waiter.permit());
    drop(waiter);
    assert_idle(&limiter);
}

#[test]
fn only_the_last_waker_is_called() {
    let limiter = fixed(1);
    let held = limiter.try_acquire().unwrap();
    let mut task = Task::queued(&limiter);
    let before = task.move_to_another();
    assert!(task.poll().is_pending());
    drop(held);
    assert_eq!(before.get(), 0);
    drop(task.permit());
    drop(task);
    assert_idle(&limiter);
}

#[test]
fn a_permit_given_up_frees_its_slot_and_teaches_nothing_when_it_was_not_used() {
    let limiter = fixed(1);
    limiter.try_acquire().unwrap().forget();
    let permit = limiter.try_acquire().unwrap();
    let mut waiter = Task::queued(&limiter);
    permit.forget();
    waiter.permit().forget();
    drop(waiter);
    assert_idle(&limiter);
    let seen = limiter.snapshot();
    assert_eq!((seen.window_successes, seen.window_overloads), (0, 0));
}

/// Uses the limiter, and so its lock, in everything that a waker can do (F105).
struct CallsBack {
    limiter: &'static Fixture,
    calls: Arc<AtomicUsize>,
}

impl CallsBack {
    fn call(&self) {
        let mut future = self.limiter.acquire();
        let _ = poll(&mut future, Waker::noop());
        self.limiter.queued();
        self.calls.fetch_add(1, Ordering::Relaxed);
    }
}

impl Wake for CallsBack {
    fn wake(self: Arc<Self>) {
        self.call();
    }
}

impl Drop for CallsBack {
    fn drop(&mut self) {
        self.call();
    }
}

#[test]
fn a_waker_may_use_the_limiter_when_it_is_woken_replaced_or_dropped() {
    let limiter: &'static Fixture = Box::leak(Box::new(fixed(1)));
    let calls = Arc::new(AtomicUsize::new(0));
    let calls_back = || {
        let calls = Arc::clone(&calls);
        Waker::from(Arc::new(CallsBack { limiter, calls }))
    };
    let count = || calls.load(Ordering::Relaxed);
    let held = limiter.try_acquire().unwrap();
    let (mut woken, mut replaced, mut dropped) =
        (limiter.acquire(), limiter.acquire(), limiter.acquire());
    for future in [&mut woken, &mut replaced, &mut dropped] {
        assert!(poll(future, &calls_back()).is_pending());
    }
    assert_eq!(count(), 0, "all three are in line");
    assert!(poll(&mut replaced, Waker::noop()).is_pending());
    assert_eq!(count(), 1);
    drop(dropped);
    assert_eq!(count(), 2);
    drop(held);
    assert_eq!(count(), 4, "woken, and then dropped");
    drop((woken, replaced));
    assert_idle(limiter);
}

/// A mutex that works in one context only is enough for tasks of one executor.
#[test]
fn a_mutex_that_masks_nothing_serves_one_executor() {
    use embassy_futures::join::join;
    use embassy_sync::blocking_mutex::raw::NoopRawMutex;
    use limiter_embassy::{Limiter, config, law::Fixed};
    let limiter: Limiter<NoopRawMutex, _, 2> = Limiter::new(config(Fixed).initial(1));
    let done = Cell::new(0);
    let job = async || {
        let permit = limiter.acquire().await.expect("there is room in line");
        embassy_futures::yield_now().await;
        permit.finish(Outcome::Success);
        done.set(done.get() + 1);
    };
    embassy_futures::block_on(join(join(job(), job()), job()));
    assert_eq!(done.get(), 3);
    assert_eq!(limiter.snapshot().inflight, 0);
}
