//! Events of the feature `tracing`.

use limiter_std::law::Fixed;
use limiter_std::telemetry::{Monitor, Tracing};
use limiter_std::{Config, Limiter, ManualClock};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Keeps what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The lines that come of this.
fn logged(act: impl FnOnce()) -> Vec<String> {
    let log = Log::default();
    let into = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .without_time()
        .with_writer(move || into.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, act);
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    text.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn ten_thousand_refusals_are_two_lines() {
    let lines = logged(|| {
        let limiter = Limiter::try_new(Config::new(Fixed).initial(1)).unwrap();
        let monitor = Monitor::new();
        monitor.limiter("api", &limiter).observe(Tracing);
        monitor.look();
        let held = limiter.try_acquire();
        for _ in 0..10_000 {
            assert!(limiter.try_acquire().is_err());
        }
        monitor.look();
        monitor.look();
        drop(held);
    });
    assert_eq!(
        lines,
        [
            "WARN limiter: limit nearly reached: 1 in flight, limit 1 limiter=\"api\" edge=\"queue_building\" \
             waiting=0 inflight=1 idle=0 limit=1",
            "WARN limiter: refusing: at_limit, 1 in flight, limit 1 limiter=\"api\" edge=\"shedding\" \
             inflight=1 idle=0 limit=1 reason=\"at_limit\"",
        ]
    );
}

#[test]
fn the_numbers_of_an_edge_are_fields() {
    let lines = logged(|| {
        let clock = ManualClock::new();
        let config = Config::new(Fixed).initial(1).watch_only(true);
        let limiter = Limiter::with_clock(config, clock.clone()).unwrap();
        let monitor = Monitor::new();
        monitor.limiter("api", &limiter).observe(Tracing);
        monitor.look();
        let held = [limiter.try_acquire(), limiter.try_acquire()];
        monitor.look();
        drop(held);
        clock.advance(Duration::from_secs(2));
        limiter.set_limit(40).unwrap();
        monitor.look();
    });
    let fields = [
        "limiter=\"api\" edge=\"watching\"",
        "waiting=0 inflight=1 idle=0 limit=1",
        "inflight=1 idle=0 limit=1 reason=\"at_limit\"",
        "refused=0 would_refuse=1 lasted_ms=2000",
        "from=1 to=40 reason=\"SetByHand\"",
    ];
    assert_eq!(lines.len(), fields.len(), "{lines:#?}");
    for (line, fields) in lines.iter().zip(fields) {
        assert!(line.ends_with(fields), "{line}");
        // Nobody is hurt by one that only watches.
        assert!(line.starts_with("INFO"), "{line}");
    }
}
