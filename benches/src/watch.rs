//! What a limiter says that only watches, beside one that enforces, in front of a server that collapses without.

use crate::lab::arrivals::Arrivals;
use crate::lab::gate::Gate;
use crate::lab::measure::figures;
use crate::lab::model::{Model, Phase};
use crate::lab::queue::{MILLI, NEVER, SECOND, seconds};
use crate::lab::trace::Trace;
use crate::lab::world::{Span, run};
use limiter_std::law::{Aimd, AnyLaw, Gradient, Knee, Vegas};
use limiter_std::{Clock, Config, ConfigError, Limiter, Outcome, Permit, Timestamp, timestamp};
use serde::Serialize;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What is asked of 16 slots of 20 ms, in parts of what they can do: half a minute, a minute, half a minute.
pub const LOADS: [f64; 3] = [0.6, 1.5, 3.0];
const SLOTS: u32 = 16;
const SERVICE: f64 = 20.0;
const LENGTHS: [f64; 3] = [30.0, 60.0, 60.0];

/// What the limiter does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Refuses.
    Enforce,
    /// Lets through without a slot what it would refuse.
    Watch,
    /// Watches until the middle of the overload, and refuses from then on.
    Switch,
}

/// What one law said and did in one phase, in its last twenty seconds.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which law.
    pub law: &'static str,
    /// What the limiter did.
    pub mode: Mode,
    /// What was asked in the middle phase, in parts of what the server can do.
    pub peak: f64,
    /// What was asked in this one.
    pub load: f64,
    /// The mean limit.
    pub limit: f64,
    /// Refused, or would have been.
    pub refused_share: f64,
    /// Answered in time, in parts of what the server can do.
    pub goodput_share: f64,
}

/// Every law by its name.
pub const LAWS: [(&str, AnyLaw); 4] = [
    ("knee", AnyLaw::Knee(Knee::new())),
    ("aimd", AnyLaw::Aimd(Aimd::new())),
    ("vegas", AnyLaw::Vegas(Vegas::new())),
    ("gradient", AnyLaw::Gradient(Gradient::new())),
];

/// Requests as they came: when, and whether each had a slot.
type Asked = Rc<RefCell<Vec<(u64, bool)>>>;

/// True time, in ns, which is the wall clock's too.
#[derive(Clone, Debug, Default)]
struct Time(Arc<AtomicU64>);

impl Clock for Time {
    fn now(&self) -> Timestamp {
        timestamp(Duration::from_nanos(self.0.load(Ordering::Relaxed)))
    }

    fn unix_time(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.0.load(Ordering::Relaxed)))
    }
}

struct Watched {
    limiter: Limiter<AnyLaw, Time>,
    time: Time,
    /// Refuses from then on.
    from: u64,
    asked: Asked,
}

impl Watched {
    fn at(&self, now: u64) {
        self.time.0.store(now, Ordering::Relaxed);
    }
}

impl Gate for Watched {
    type Token = Permit<AnyLaw, Time>;

    fn admit(&mut self, now: u64) -> Option<Self::Token> {
        self.at(now);
        if now >= self.from {
            self.limiter.set_watch_only(false);
            self.from = NEVER;
        }
        let permit = self.limiter.try_acquire().ok();
        let slot = permit.as_ref().is_some_and(Permit::has_slot);
        self.asked.borrow_mut().push((now, slot));
        permit
    }

    fn settle(&mut self, permit: Self::Token, outcome: Outcome, now: u64) {
        self.at(now);
        permit.finish(outcome);
    }

    fn limit(&self) -> u32 {
        self.limiter.snapshot().limit
    }

    fn inflight(&self) -> u32 {
        self.limiter.snapshot().inflight
    }
}

/// One law in one mode, phase after phase.
///
/// # Errors
///
/// When the configuration of the limiter is wrong.
pub fn measure(
    (name, law): (&'static str, AnyLaw),
    mode: Mode,
    peak: f64,
    seed: u64,
) -> Result<Vec<Row>, ConfigError> {
    let capacity = f64::from(SLOTS) * 1e3 / SERVICE;
    let loads = [LOADS[0], peak, LOADS[0]];
    let phases = loads.iter().zip(LENGTHS).map(|(load, seconds)| Phase {
        rate: capacity * load,
        slots: SLOTS,
        service_ms: SERVICE,
        seconds,
        ..Phase::default()
    });
    let model = Model {
        phases: phases.collect(),
        ..Model::default()
    };
    let (asked, time) = (Asked::default(), Time::default());
    let config = Config::new(law).watch_only(mode != Mode::Enforce);
    let gate = Watched {
        limiter: Limiter::with_clock(config, time.clone())?,
        time,
        from: match mode {
            Mode::Enforce | Mode::Watch => NEVER,
            Mode::Switch => seconds(LENGTHS[0] + LENGTHS[1] / 2.0),
        },
        asked: Rc::clone(&asked),
    };
    let arrivals = Arrivals::new(seed, &model.stretches(), 1);
    let span = Span {
        gauges_every: 100 * MILLI,
        ..Span::all(&model)
    };
    let mut trace = Trace::default();
    run(&model, &arrivals, std::iter::once(gate), span, &mut trace);
    let asked = asked.borrow();
    let rows = loads.iter().enumerate().map(|(index, load)| {
        let to = model.start_of(index + 1);
        let from = to - 20 * SECOND;
        let limits = trace
            .gauges
            .iter()
            .filter(|one| (from..to).contains(&one.at));
        let came = asked.iter().filter(|(at, _)| (from..to).contains(at));
        Row {
            law: name,
            mode,
            peak,
            load: *load,
            limit: mean(limits.map(|one| f64::from(one.limit))),
            refused_share: mean(came.map(|(_, slot)| f64::from(u8::from(!slot)))),
            goodput_share: figures(&trace, from, to).goodput / capacity,
        }
    });
    Ok(rows.collect())
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / f64::max(count, 1.0)
}
