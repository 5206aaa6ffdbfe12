//! The layer for rehearsals, on a clock and a sleep that the test turns.

#[path = "../common/nap.rs"]
mod nap;

use limiter_std::ManualClock;
use limiter_std::chaos::{ChaosLayer, ChaosService, Harm, Schedule};
use nap::Napping;
use std::future::{Future, Ready, ready};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tower::{Layer, Service};

const SECOND: Duration = Duration::from_secs(1);

/// Counts the work that it does.
#[derive(Clone, Default)]
struct Worker(Arc<AtomicU32>);

impl Service<u32> for Worker {
    type Response = u32;
    type Error = Harm;
    type Future = Ready<Result<u32, Harm>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Harm>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: u32) -> Self::Future {
        self.0.fetch_add(1, Ordering::Relaxed);
        ready(Ok(request + 1))
    }
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn once(service: &mut impl Service<u32, Response = u32, Error = Harm>) -> Poll<Result<u32, Harm>> {
    poll(pin!(service.call(41)))
}

type Hurt<Z> = ChaosLayer<Z, fn(Harm) -> Result<u32, Harm>, ManualClock>;

fn layer(
    schedule: Schedule,
    clock: &ManualClock,
    seed: u32,
) -> Hurt<impl Fn(Duration) -> Napping + Clone> {
    let turned = clock.clone();
    let sleep = move |time| Napping::new(&turned, time);
    ChaosLayer::with_clock(schedule, sleep, Err, clock.clone(), seed)
}

#[test]
fn it_does_nothing_until_it_is_switched_on_nor_after_its_schedule_nor_when_it_is_off_again() {
    let clock = ManualClock::new();
    let layer = layer(
        Schedule::new().fail(Duration::ZERO..SECOND, 1_000),
        &clock,
        1,
    );
    let (chaos, worker) = (layer.chaos(), Worker::default());
    let mut service = layer.layer(worker.clone());
    assert!(!chaos.is_on());
    assert_eq!(once(&mut service), Poll::Ready(Ok(42)));
    chaos.start();
    assert!(chaos.is_on());
    assert_eq!(once(&mut service), Poll::Ready(Err(Harm::Failed)));
    assert_eq!(chaos.hurt(), 1);
    chaos.stop();
    assert_eq!(chaos.hurt(), 1, "of the last rehearsal");
    assert_eq!(once(&mut service), Poll::Ready(Ok(42)));
    chaos.start();
    assert_eq!(chaos.hurt(), 0, "of this one");
    assert_eq!(once(&mut service), Poll::Ready(Err(Harm::Failed)));
    clock.advance(SECOND);
    for _ in 0..2 {
        // Whether somebody noticed by a call that it is over or not.
        assert!(!chaos.is_on());
        assert_eq!(chaos.hurt(), 1);
        assert_eq!(once(&mut service), Poll::Ready(Ok(42)));
    }
    assert_eq!(
        worker.0.load(Ordering::Relaxed),
        4,
        "what fails never reaches the service"
    );
}

#[test]
fn refusals_come_at_their_time_and_the_service_never_hears_of_them() {
    let clock = ManualClock::new();
    let schedule = Schedule::new().refuse(SECOND..2 * SECOND, 1_000);
    let layer = layer(schedule, &clock, 1);
    let worker = Worker::default();
    let mut service = layer.layer(worker.clone());
    layer.chaos().start();
    assert_eq!(once(&mut service), Poll::Ready(Ok(42)));
    clock.advance(SECOND);
    assert_eq!(once(&mut service), Poll::Ready(Err(Harm::Refused)));
    assert_eq!(worker.0.load(Ordering::Relaxed), 1);
    clock.advance(SECOND);
    assert_eq!(once(&mut service), Poll::Ready(Ok(42)));
}

#[test]
fn a_delayed_answer_comes_when_its_time_is_over_and_a_lost_one_never_though_the_work_was_done() {
    let clock = ManualClock::new();
    let schedule = Schedule::new()
        .delay(Duration::ZERO..SECOND, 1_000, SECOND / 4)
        .lose(SECOND..2 * SECOND, 1_000);
    let layer = layer(schedule, &clock, 1);
    let worker = Worker::default();
    let mut service = layer.layer(worker.clone());
    layer.chaos().start();
    let mut late = pin!(service.call(41));
    assert_eq!(poll(late.as_mut()), Poll::Pending);
    clock.advance(SECOND / 4 - Duration::from_millis(1));
    assert_eq!(poll(late.as_mut()), Poll::Pending);
    clock.advance(Duration::from_millis(1));
    assert_eq!(poll(late.as_mut()), Poll::Ready(Ok(42)));
    clock.advance(SECOND);
    let mut lost = pin!(service.call(41));
    for _ in 0..3 {
        assert_eq!(poll(lost.as_mut()), Poll::Pending);
        clock.advance(SECOND);
    }
    assert_eq!(worker.0.load(Ordering::Relaxed), 2);
}

fn failed(seed: u32, per_mille: u32) -> Vec<bool> {
    let clock = ManualClock::new();
    let layer = layer(
        Schedule::new().fail(Duration::ZERO..SECOND, per_mille),
        &clock,
        seed,
    );
    let mut service: ChaosService<_, _, _, _> = layer.layer(Worker::default());
    layer.chaos().start();
    (0..2_000)
        .map(|_| once(&mut service) == Poll::Ready(Err(Harm::Failed)))
        .collect()
}

#[test]
fn the_share_is_kept_and_the_same_seed_hurts_the_same_calls() {
    let hurt = failed(7, 300).into_iter().filter(|hurt| *hurt).count();
    // Five standard deviations of 2,000 draws.
    assert!(hurt.abs_diff(600) < 103, "{hurt}");
    assert_eq!(failed(7, 300), failed(7, 300));
    assert_ne!(failed(7, 300), failed(8, 300));
    assert!(failed(7, 0).iter().all(|hurt| !hurt) && failed(7, u32::MAX).iter().all(|hurt| *hurt));
}

struct Lines(Mutex<Vec<(log::Level, String)>>);

static LINES: Lines = Lines(Mutex::new(Vec::new()));

impl log::Log for Lines {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let line = (record.level(), record.args().to_string());
        self.0.lock().expect("no test panics with it").push(line);
    }

    fn flush(&self) {}
}

#[test]
fn it_is_loud_when_it_is_on_and_never_once_a_call() {
    log::set_logger(&LINES).expect("the only one");
    log::set_max_level(log::LevelFilter::Trace);
    // A share that no other test has, to know its lines by.
    let clock = ManualClock::new();
    let layer = layer(
        Schedule::new().refuse(Duration::ZERO..SECOND, 1_017),
        &clock,
        1,
    );
    let mut service = layer.layer(Worker::default());
    layer.chaos().start();
    for _ in 0..100 {
        let _ = once(&mut service);
    }
    clock.advance(SECOND);
    let _ = once(&mut service);
    let lines = LINES.0.lock().expect("no test panics with it");
    let said = |what: &str| {
        let own = lines
            .iter()
            .filter(|line| line.0 == log::Level::Warn && line.1.contains(what));
        own.count()
    };
    assert_eq!(said("per_mille: 1017"), 1, "{lines:?}");
    assert_eq!(said("Refused, 1017 of 1,000"), 1, "{lines:?}");
    assert_eq!(
        said("over: 100 calls were hurt, by trouble [100]"),
        1,
        "{lines:?}"
    );
}
