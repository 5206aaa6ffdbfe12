//! A limiter that tells what it was taught.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test program uses a part of it"
)]

use limiter_std::law::{Decision, Law, Reason, Window};
use limiter_std::{Config, Limiter, ManualClock, Outcome};
use std::sync::Mutex;
use std::time::Duration;

/// Milliseconds.
pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A law that keeps the limit and every window it saw.
#[derive(Clone, Copy, Debug)]
pub struct Spy(&'static Mutex<Vec<Window>>);

impl Law for Spy {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], window: &Window) -> Decision {
        self.0.lock().unwrap().push(*window);
        Decision::new(window.limit, Reason::HeldSteady)
    }
}

pub type Spied = Limiter<Spy, ManualClock>;

/// What a limiter was taught, in counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taught {
    pub successes: u32,
    pub overloads: u32,
}

/// A limiter, its clock, and what its law saw.
#[derive(Clone, Debug)]
pub struct Lab {
    pub limiter: Spied,
    pub clock: ManualClock,
    seen: Spy,
}

impl Lab {
    pub fn new(limit: u32) -> Self {
        Self::with(|config| config.initial(limit))
    }

    /// Windows close with every success that is at least a millisecond after the last.
    pub fn with(configure: impl FnOnce(Config<Spy>) -> Config<Spy>) -> Self {
        let seen = Spy(Box::leak(Box::default()));
        let config = Config::new(seen)
            .min_samples(1)
            .urgent_overloads(1 << 20)
            .windows(ms(1), Duration::from_secs(1));
        let clock = ManualClock::new();
        let limiter = Limiter::with_clock(configure(config), clock.clone()).unwrap();
        Self {
            limiter,
            clock,
            seen,
        }
    }

    /// A limiter that knows calls to take 10 ms.
    pub fn usual(limit: u32) -> Self {
        let lab = Self::new(limit);
        for _ in 0..2 {
            let permit = lab.limiter.try_acquire().unwrap();
            lab.clock.advance(ms(10));
            permit.finish(Outcome::Success);
        }
        let usual = lab.limiter.snapshot().usual_rtt;
        assert_eq!(usual.get(), 10_000_000, "10 ms in ticks");
        lab
    }

    pub fn inflight(&self) -> u32 {
        self.limiter.snapshot().inflight
    }

    pub fn windows(&self) -> Vec<Window> {
        self.seen.0.lock().unwrap().clone()
    }

    /// Everything recorded so far.
    pub fn taught(&self) -> Taught {
        let open = self.limiter.snapshot();
        let mut sum = Taught {
            successes: open.window_successes,
            overloads: open.window_overloads,
        };
        for window in self.windows() {
            sum.successes += window.successes;
            sum.overloads += window.overloads;
        }
        sum
    }

    /// What `run` taught.
    pub fn teaches(&self, run: impl FnOnce(&Self)) -> Taught {
        let before = self.taught();
        run(self);
        let after = self.taught();
        Taught {
            successes: after.successes - before.successes,
            overloads: after.overloads - before.overloads,
        }
    }
}

/// The trace of an outcome: what it teaches when it is young, and when it is old. A call takes 10 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    young: Taught,
    old: Taught,
}

const NONE: Taught = Taught {
    successes: 0,
    overloads: 0,
};
const SUCCESS: Taught = Taught {
    successes: 1,
    overloads: 0,
};
const OVERLOAD: Taught = Taught {
    successes: 0,
    overloads: 1,
};

pub const SUCCEEDED: Trace = Trace {
    young: SUCCESS,
    old: SUCCESS,
};
pub const OVERLOADED: Trace = Trace {
    young: OVERLOAD,
    old: OVERLOAD,
};
/// Young it teaches nothing, old it is evidence of slowness.
pub const CANCELLED: Trace = Trace {
    young: NONE,
    old: OVERLOAD,
};
/// A failure, or nothing at all.
pub const NOTHING: Trace = Trace {
    young: NONE,
    old: NONE,
};

/// Runs a call twice, which has to let `age` pass while it holds its slot, and to free it.
pub fn trace(run: impl Fn(&Lab, Duration)) -> Trace {
    let at = |age| {
        let lab = Lab::usual(10);
        let taught = lab.teaches(|lab| run(lab, age));
        assert_eq!(lab.inflight(), 0, "a slot is still taken");
        taught
    };
    Trace {
        young: at(ms(1)),
        old: at(ms(100)),
    }
}
