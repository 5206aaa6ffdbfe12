//! Callers with a deadline in front of a server that is too small for them, in virtual time, through the
//! real queue of limiter-std: as a plain semaphore queues them, and as the limiter does.

use crate::lab::random::{Random, exponential, of_request, stream};
use limiter_std::law::Fixed;
use limiter_std::{Acquire, Config, ConfigError, Limiter, MAX_QUEUE_LENGTH, ManualClock, Permit};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// What the server does at once.
const SLOTS: u32 = 64;
/// How long a request takes, in the mean of an exponential distribution.
const SERVICE: Duration = Duration::from_millis(100);
/// After that the caller is gone: it leaves the queue, and an answer is of no use.
const DEADLINE: Duration = Duration::from_secs(1);
/// Not counted: until the queue is as it stays.
const WARM_UP: Duration = Duration::from_secs(10);
const LENGTH: Duration = Duration::from_secs(70);

/// How requests wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// First come, first served, as many as come: a plain semaphore.
    Fifo,
    /// The limiter's defaults, told how long the caller waits.
    Limiter,
}

/// What became of one mode at one load.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// How requests waited.
    pub mode: Mode,
    /// How many came, in parts of what the server can do.
    pub load: f64,
    /// How many were answered in time, in parts of what the server can do.
    pub goodput_share: f64,
    /// From arrival to answer, of all that were served.
    pub p99_ms: f64,
    /// Refused or gone, in parts of those that came.
    pub refused_share: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrival,
    Served(u64),
    Gone(u64),
}

/// Notes who was woken.
struct Bell {
    caller: u64,
    rung: Arc<Mutex<Vec<u64>>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        rung.push(self.caller);
    }
}

struct World {
    mode: Mode,
    seed: u64,
    clock: ManualClock,
    limiter: Limiter<Fixed, ManualClock>,
    events: BinaryHeap<Reverse<(Duration, Event)>>,
    rung: Arc<Mutex<Vec<u64>>>,
    waiting: HashMap<u64, (Duration, Acquire<Fixed, ManualClock>)>,
    serving: HashMap<u64, (Duration, Permit<Fixed, ManualClock>)>,
    arrived: u64,
    good: u64,
    latencies: Vec<Duration>,
}

/// Runs one mode at one load.
///
/// # Errors
///
/// None for the constants as they are.
pub fn run(mode: Mode, load: f64, seed: u64) -> Result<Row, ConfigError> {
    let config = Config::new(Fixed).initial(SLOTS);
    let config = match mode {
        Mode::Fifo => config
            .queue_length(MAX_QUEUE_LENGTH)
            .without_longest_wait()
            .standing_delay(Duration::MAX, Duration::MAX),
        Mode::Limiter => config,
    };
    let clock = ManualClock::new();
    let mut world = World {
        mode,
        seed,
        limiter: Limiter::with_clock(config, clock.clone())?,
        clock,
        events: BinaryHeap::new(),
        rung: Arc::default(),
        waiting: HashMap::new(),
        serving: HashMap::new(),
        arrived: 0,
        good: 0,
        latencies: Vec::new(),
    };
    Ok(world.run(load))
}

impl World {
    fn run(&mut self, load: f64) -> Row {
        let capacity = f64::from(SLOTS) / SERVICE.as_secs_f64();
        let mut arrivals = stream(self.seed, 0);
        let mut counted = 0;
        self.at(Duration::ZERO, Event::Arrival);
        while let Some(Reverse((now, event))) = self.events.pop() {
            if now >= LENGTH {
                break;
            }
            self.clock.set(now);
            match event {
                Event::Arrival => {
                    counted += u64::from(now >= WARM_UP);
                    self.arrive(now);
                    let gap = exponential(&mut arrivals) / (capacity * load);
                    self.at(now + Duration::from_secs_f64(gap), Event::Arrival);
                }
                Event::Served(caller) => self.served(caller, now),
                Event::Gone(caller) => drop(self.waiting.remove(&caller)),
            }
            self.answer_bells(now);
        }
        self.latencies.sort_unstable();
        let last = self.latencies.len().saturating_sub(1);
        let p99 = self.latencies.get(last * 99 / 100);
        Row {
            mode: self.mode,
            load,
            goodput_share: self.good as f64 / (capacity * (LENGTH - WARM_UP).as_secs_f64()),
            p99_ms: p99.copied().unwrap_or_default().as_secs_f64() * 1e3,
            // Some were served who came before the count began.
            refused_share: (1.0 - self.latencies.len() as f64 / counted as f64).max(0.0),
        }
    }

    fn at(&mut self, time: Duration, event: Event) {
        self.events.push(Reverse((time, event)));
    }

    fn arrive(&mut self, now: Duration) {
        let caller = self.arrived;
        self.arrived += 1;
        let acquire = self.limiter.acquire_async();
        let acquire = match self.mode {
            Mode::Fifo => acquire,
            Mode::Limiter => acquire.within(DEADLINE),
        };
        self.at(now + DEADLINE, Event::Gone(caller));
        self.poll(caller, now, acquire, now);
    }

    fn poll(
        &mut self,
        caller: u64,
        arrived: Duration,
        mut acquire: Acquire<Fixed, ManualClock>,
        now: Duration,
    ) {
        let rung = Arc::clone(&self.rung);
        let waker = Waker::from(Arc::new(Bell { caller, rung }));
        match Pin::new(&mut acquire).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(Ok(permit)) => {
                let mut random: Random = of_request(self.seed ^ caller << 8, 1);
                let time = SERVICE.mul_f64(exponential(&mut random));
                self.serving.insert(caller, (arrived, permit));
                self.at(now + time, Event::Served(caller));
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                self.waiting.insert(caller, (arrived, acquire));
            }
        }
    }

    fn served(&mut self, caller: u64, now: Duration) {
        let Some((arrived, permit)) = self.serving.remove(&caller) else {
            return;
        };
        permit.forget();
        if now >= WARM_UP {
            self.good += u64::from(now - arrived <= DEADLINE);
            self.latencies.push(now - arrived);
        }
    }

    /// Those whose wait has ended go on.
    fn answer_bells(&mut self, now: Duration) {
        loop {
            let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(caller) = rung.pop() else {
                return;
            };
            drop(rung);
            if let Some((arrived, acquire)) = self.waiting.remove(&caller) {
                self.poll(caller, arrived, acquire, now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_one_and_a_half_times_capacity_the_limiter_keeps_its_goodput_and_a_plain_queue_loses_it() {
        let limiter = run(Mode::Limiter, 1.5, 1).expect("constants that work");
        let fifo = run(Mode::Fifo, 1.5, 1).expect("constants that work");
        assert!(limiter.goodput_share >= 0.9, "{limiter:?}");
        assert!(fifo.goodput_share <= 0.1, "{fifo:?}");
        let again = run(Mode::Limiter, 1.5, 1).expect("constants that work");
        assert_eq!(format!("{limiter:?}"), format!("{again:?}"));
    }

    #[test]
    fn below_capacity_neither_refuses_anybody() {
        for mode in [Mode::Fifo, Mode::Limiter] {
            let row = run(mode, 0.8, 1).expect("constants that work");
            assert!(
                row.refused_share < 0.005 && row.goodput_share > 0.78,
                "{row:?}"
            );
        }
    }
}
