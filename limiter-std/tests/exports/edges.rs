//! Events of the feature `tracing`.

use limiter_std::law::Fixed;
use limiter_std::telemetry::{Monitor, Tracing};
use limiter_std::{Config, Limiter};
use std::io;
use std::sync::{Arc, Mutex};

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

#[test]
fn ten_thousand_refusals_are_two_lines() {
    let log = Log::default();
    let into = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .without_time()
        .with_writer(move || into.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, || {
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
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    assert_eq!(
        lines,
        [
            "WARN limiter: queue building: 0 wait, 1 in flight, limit 1 limiter=\"api\" edge=\"queue_building\"",
            "WARN limiter: refusing: at_limit, 1 in flight, limit 1 limiter=\"api\" edge=\"shedding\"",
        ]
    );
}
