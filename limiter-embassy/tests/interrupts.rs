//! Calls for interrupt handlers, and permits that are dropped, never run a law: a task does.

mod common;

use common::Clock;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_time::Duration;
use limiter_embassy::law::{Decision, Law, Reason, Window};
use limiter_embassy::{Limiter, Outcome, RATE, RejectReason, config};
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Poll, Waker};

/// Counts its windows, and asks for a higher limit after each.
#[derive(Clone, Copy, Debug)]
struct Counting(&'static AtomicU32);

impl Law for Counting {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], window: &Window) -> Decision {
        self.0.fetch_add(1, Ordering::Relaxed);
        Decision::new(window.limit + 1, Reason::Grew)
    }
}

fn counting() -> (
    Limiter<CriticalSectionRawMutex, Counting>,
    &'static AtomicU32,
) {
    let windows: &'static AtomicU32 = Box::leak(Box::default());
    let config = config(Counting(windows)).initial(2).min_samples(1);
    (Limiter::new(config), windows)
}

const WINDOW: Duration = Duration::from_millis(150);

#[test]
fn a_window_that_an_interrupt_completes_is_closed_by_the_next_call_of_a_task() {
    let clock = Clock::take();
    let (limiter, windows) = counting();
    for _ in 0..10 {
        let permit = limiter.try_acquire_from_isr().unwrap();
        clock.advance(WINDOW);
        permit.finish_from_isr(Outcome::Success);
    }
    assert_eq!(windows.load(Ordering::Relaxed), 0);
    limiter.try_acquire().unwrap().forget();
    assert_eq!(windows.load(Ordering::Relaxed), 1);
    assert_eq!(limiter.snapshot().limit, 3);
}

#[test]
fn a_dropped_permit_runs_no_law_and_leaves_its_window_to_the_next_call() {
    let clock = Clock::take();
    let (limiter, windows) = counting();
    let [first, second] = [
        limiter.try_acquire().unwrap(),
        limiter.try_acquire().unwrap(),
    ];
    clock.advance(WINDOW);
    first.finish(Outcome::Success);
    let closed = windows.load(Ordering::Relaxed);
    clock.advance(Duration::from_secs(120));
    drop(second);
    assert_eq!(windows.load(Ordering::Relaxed), closed);
    limiter.try_acquire().unwrap().forget();
    assert_eq!(windows.load(Ordering::Relaxed), closed + 1);
}

#[test]
fn an_interrupt_hands_its_slot_to_the_task_that_waits() {
    let (limiter, _) = counting();
    let [first, second] = [
        limiter.try_acquire_from_isr().unwrap(),
        limiter.try_acquire_from_isr().unwrap(),
    ];
    let mut waiter = limiter.acquire();
    assert!(common::poll(&mut waiter, Waker::noop()).is_pending());
    let refused = limiter.try_acquire_from_isr().unwrap_err();
    assert_eq!(refused.reason, RejectReason::AtLimit);
    first.finish_from_isr(Outcome::Success);
    let Poll::Ready(Ok(third)) = common::poll(&mut waiter, Waker::noop()) else {
        panic!("not granted");
    };
    drop((second, third));
    assert_eq!(limiter.snapshot().inflight, 0);
}

#[test]
fn a_limit_that_a_window_raised_serves_the_line_at_once() {
    let clock = Clock::take();
    let (limiter, _) = counting();
    let [first, second] = [
        limiter.try_acquire().unwrap(),
        limiter.try_acquire().unwrap(),
    ];
    let mut waiters = [limiter.acquire(), limiter.acquire()];
    for waiter in &mut waiters {
        assert!(common::poll(waiter, Waker::noop()).is_pending());
    }
    clock.advance(WINDOW);
    // One slot comes free and the limit grows by one: room for both.
    first.finish(Outcome::Success);
    for waiter in &mut waiters {
        assert!(matches!(
            common::poll(waiter, Waker::noop()),
            Poll::Ready(Ok(_))
        ));
    }
    drop(second);
}

#[test]
fn a_configuration_made_for_another_clock_is_an_error() {
    use limiter_embassy::law::Aimd;
    use limiter_embassy::{Config, TickRate};
    let other = TickRate::hz(RATE.get() + 1).unwrap();
    let error = Limiter::<CriticalSectionRawMutex>::try_new(Config::new(Aimd::new(), other));
    assert_eq!(error.unwrap_err().field(), "tick rate");
    assert!(Limiter::<CriticalSectionRawMutex>::try_new(config(Aimd::new())).is_ok());
    let zero = Limiter::<CriticalSectionRawMutex>::try_new(config(Aimd::new()).min(0));
    assert_eq!(zero.unwrap_err().field(), "min");
}
