//! What stands between a caller and a server: any limiter, ours or another's, behind one small trait.

use limiter_core::law::Law;
use limiter_core::{Config, Limiter, Outcome, Slot, Ticks, Timestamp};

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

    /// How often the limit was changed for each reason, by [`Reason`](limiter_core::law::Reason) as a
    /// number; empty for limiters that give none.
    fn reasons(&self) -> &[u32] {
        &[]
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
    reasons: [u32; 16],
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
            reasons: [0; 16],
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
            if let Some(count) = self.reasons.get_mut(change.reason as usize) {
                *count += 1;
            }
        }
    }

    fn limit(&self) -> u32 {
        self.limiter.snapshot().limit
    }

    fn inflight(&self) -> u32 {
        self.limiter.snapshot().inflight
    }

    fn reasons(&self) -> &[u32] {
        &self.reasons
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

    fn reasons(&self) -> &[u32] {
        match self {
            Self::One(gate) => gate.reasons(),
            Self::Other(gate) => gate.reasons(),
        }
    }
}
