//! What stands between a caller and a server: any limiter, ours or another's, behind one small trait.

use limiter_core::law::{Law, Reason};
use limiter_core::{Change, Config, Limiter, Outcome, Slot, Ticks, Timestamp};

/// A limiter as the simulator drives it; times are true nanoseconds.
pub trait Gate {
    /// What a request holds while it is in flight.
    type Token;

    /// Asks for a place; `None` is a refusal.
    fn admit(&mut self, now: u64) -> Option<Self::Token>;

    /// Gives the place back and says what became of the request.
    fn settle(&mut self, token: Self::Token, outcome: Outcome, now: u64);

    /// The limit in force.
    fn limit(&self) -> u32;

    /// Places taken.
    fn inflight(&self) -> u32;

    /// The changes of the limit so far; `None` for limiters that give no reason for them.
    fn changes(&self) -> Option<Changes> {
        None
    }
}

/// How often a limit was changed, and whether the reasons fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// All changes.
    pub all: u32,
    /// Those for a reason that says the opposite: grew and is smaller, cut and is larger.
    pub contrary: u32,
}

impl Changes {
    fn add(&mut self, change: &Change) {
        let contrary = match change.reason {
            Reason::Grew | Reason::PinnedAtMax => change.to < change.from,
            Reason::CutOverload | Reason::CutLatency | Reason::PinnedAtMin => {
                change.to > change.from
            }
            _ => false,
        };
        self.all += 1;
        self.contrary += u32::from(contrary);
    }
}

impl std::ops::Add for Changes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            contrary: self.contrary + other.contrary,
        }
    }
}

/// The clock of a limiter: what it shows at true time 0, and how far its wall clock is from the truth.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// The reading at true time 0, in ns.
    pub boot: u64,
    /// How much the wall clock is ahead, in ns; `None` when the limiter is not told the wall clock.
    pub wall: Option<u64>,
}

/// A shipped limiter with the law `L`.
#[derive(Debug)]
pub struct Shipped<L: Law> {
    limiter: Limiter<L>,
    boot: u64,
    changes: Changes,
}

/// A multiple of the wall clock's cycle above every boot time.
const CYCLES: u64 = 1 << 20;

impl<L: Law> Shipped<L> {
    /// A limiter from `config` whose timestamps come from `clock`.
    ///
    /// # Errors
    ///
    /// As [`Limiter::try_new`].
    pub fn new(config: Config<L>, clock: Clock) -> Result<Self, limiter_core::ConfigError> {
        let limiter = Limiter::try_new(config)?;
        if let Some(skew) = clock.wall {
            let cycle = limiter.rate().ticks(std::time::Duration::from_secs(
                limiter_core::law::WALL_SECONDS.into(),
            ));
            limiter.set_wall_offset(Ticks::new(cycle.get() * CYCLES + skew - clock.boot));
        }
        Ok(Self {
            limiter,
            boot: clock.boot,
            changes: Changes::default(),
        })
    }

    fn stamp(&self, now: u64) -> Timestamp {
        Timestamp::from_ticks(now + self.boot)
    }
}

impl<L: Law> Gate for Shipped<L> {
    type Token = Slot;

    fn admit(&mut self, now: u64) -> Option<Slot> {
        self.limiter.admit(self.stamp(now)).ok()
    }

    fn settle(&mut self, token: Slot, outcome: Outcome, now: u64) {
        let settled = self.limiter.settle(token, outcome, self.stamp(now));
        if let Some(change) = settled.change() {
            self.changes.add(&change);
        }
    }

    fn limit(&self) -> u32 {
        self.limiter.snapshot().limit
    }

    fn inflight(&self) -> u32 {
        self.limiter.snapshot().inflight
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.changes)
    }
}

/// A limit that follows a plan: what the oracle knows in advance.
#[derive(Clone, Debug)]
pub struct Planned {
    /// `(until, limit)`, the last for ever.
    plan: Vec<(u64, u32)>,
    current: usize,
    inflight: u32,
}

impl Planned {
    /// A limiter with each limit until its time; the last one lasts.
    pub fn new(plan: Vec<(u64, u32)>) -> Self {
        Self {
            plan,
            current: 0,
            inflight: 0,
        }
    }
}

impl Gate for Planned {
    type Token = ();

    fn admit(&mut self, now: u64) -> Option<()> {
        while self.current + 1 < self.plan.len() && now >= self.plan[self.current].0 {
            self.current += 1;
        }
        (self.inflight < self.limit()).then(|| self.inflight += 1)
    }

    fn settle(&mut self, (): (), _: Outcome, _: u64) {
        self.inflight -= 1;
    }

    fn limit(&self) -> u32 {
        self.plan.get(self.current).map_or(1, |step| step.1)
    }

    fn inflight(&self) -> u32 {
        self.inflight
    }
}

/// One of two kinds of limiters, for callers that do not all run the same.
#[derive(Debug)]
pub enum Either<A, B> {
    /// The first kind.
    One(A),
    /// The second.
    Other(B),
}

impl<A: Gate, B: Gate> Gate for Either<A, B> {
    type Token = Either<A::Token, B::Token>;

    fn admit(&mut self, now: u64) -> Option<Self::Token> {
        match self {
            Self::One(gate) => gate.admit(now).map(Either::One),
            Self::Other(gate) => gate.admit(now).map(Either::Other),
        }
    }

    fn settle(&mut self, token: Self::Token, outcome: Outcome, now: u64) {
        match (self, token) {
            (Self::One(gate), Either::One(token)) => gate.settle(token, outcome, now),
            (Self::Other(gate), Either::Other(token)) => gate.settle(token, outcome, now),
            // A gate gets back only what it gave.
            (Self::One(_), Either::Other(_)) | (Self::Other(_), Either::One(_)) => {}
        }
    }

    fn limit(&self) -> u32 {
        match self {
            Self::One(gate) => gate.limit(),
            Self::Other(gate) => gate.limit(),
        }
    }

    fn inflight(&self) -> u32 {
        match self {
            Self::One(gate) => gate.inflight(),
            Self::Other(gate) => gate.inflight(),
        }
    }

    fn changes(&self) -> Option<Changes> {
        match self {
            Self::One(gate) => gate.changes(),
            Self::Other(gate) => gate.changes(),
        }
    }
}
