//! What is written to the log: one line for each event, never one for each request.

mod common;

use common::{Clock, fixed};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_time::Duration;
use limiter_embassy::law::Fixed;
use limiter_embassy::{
    BreakerConfig, BudgetConfig, CallOptions, Dependency, Ending, Policy, Tokens, config, policy,
};
use log::{LevelFilter, Log, Metadata, Record};
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Waker};

struct Lines(Mutex<Vec<String>>);

static LINES: Lines = Lines(Mutex::new(Vec::new()));

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let line = format!("{} {}", record.level(), record.args());
        self.0.lock().unwrap().push(line);
    }

    fn flush(&self) {}
}

fn written() -> Vec<String> {
    std::mem::take(&mut LINES.0.lock().unwrap())
}

#[test]
fn each_event_is_a_line_and_no_request_is() {
    log::set_logger(&LINES).unwrap();
    log::set_max_level(LevelFilter::Trace);
    let clock = Clock::take();
    let limiter = fixed(1);

    // A thousand refusals, with admissions in between, are one burst.
    for _ in 0..1_000 {
        let permit = limiter.try_acquire().unwrap();
        assert!(limiter.try_acquire().is_err());
        clock.advance(Duration::from_millis(10));
        permit.forget();
    }
    assert_eq!(written(), ["WARN refusing: AtLimit, 1 in flight, limit 1"]);
    clock.advance(Duration::from_millis(1_500));
    for _ in 0..10 {
        limiter.try_acquire().unwrap().forget();
    }
    assert_eq!(written(), ["INFO refused 1000 and stopped"]);

    // Interrupt handlers write nothing, and waiting in line is no refusal.
    let held = limiter.try_acquire_from_isr().unwrap();
    assert!(limiter.try_acquire_from_isr().is_err());
    drop(common::Task::queued(&limiter));
    assert_eq!(written(), [""; 0]);
    drop(held);

    limiter.set_limit(2).unwrap();
    limiter.set_limit(2).unwrap();
    limiter.close();
    assert_eq!(
        written(),
        ["INFO limit 1 -> 2: SetByHand", "INFO limit 2 -> 0: Closed"]
    );

    // A budget for one retry, and a breaker that opens at the fourth failure.
    let one = BudgetConfig::new()
        .capacity(Tokens::ONE)
        .ratio(0)
        .without_floor();
    let policy = policy()
        .budget(one)
        .breaker(BreakerConfig::new().consecutive(Some(4)))
        .throttle(None)
        .attempts(2);
    let policy: &'static Policy = Box::leak(Box::new(Policy::new(policy)));
    let cloud: Dependency<CriticalSectionRawMutex, Fixed> =
        Dependency::new(config(Fixed), policy, 1);
    for _ in 0..10 {
        let call = cloud.call(
            CallOptions::new(),
            |_| Ending::failure(),
            async |_| Err::<(), ()>(()),
        );
        let mut call = pin!(call);
        let mut context = Context::from_waker(Waker::noop());
        while call.as_mut().poll(&mut context).is_pending() {
            clock.advance(Duration::from_millis(100));
        }
    }
    assert_eq!(
        written(),
        ["WARN retry budget empty", "WARN breaker Opened"]
    );
}
