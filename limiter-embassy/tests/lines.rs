//! What is written to the log: one line for each event, never one for each request.

mod common;

use common::{Clock, fixed};
use embassy_time::Duration;
use log::{LevelFilter, Log, Metadata, Record};
use std::sync::Mutex;

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
fn a_burst_of_refusals_is_two_lines_and_a_change_of_the_limit_one() {
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
}
