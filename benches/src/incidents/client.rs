//! One who calls the next tier: a caller of a fleet, or a process of a tier.

use super::hand::Hand;
use super::scenario::{Calls, Protocol};
use super::setting::{Mode, wall_offset};
use crate::lab::queue::SECOND;
use crate::lab::random::{Random, uniform};
use limiter_core::law::Knee;
use limiter_core::{
    BudgetConfig, CallOptions, Config, Dependency, DependencyConfig, Ending, LatencyHistogram,
    RetryBudget, Slot, TickRate, Ticks, Timestamp,
};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

pub(super) type Store = Dependency<Knee, LatencyHistogram>;
pub(super) type Logical = limiter_core::Call<Rc<Store>>;

/// How many calls wait for a slot of their dependency, and from which wait of the first on the newest go first: as
/// in `limiter-std`, whose queue judges the shortest wait of such an interval.
const LINE: usize = 100;
const STANDING: u64 = SECOND / 10;

/// How a tier answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Good,
    /// Wrong, and may be right the next time.
    Failure,
    /// Wrong, and will be wrong again.
    Permanent,
    /// It is full: a refusal by its own limit, which asks to come back soon if the protocol can say so.
    Refused,
    /// The same, which asks to stay away.
    Away,
    /// What it needs is not there.
    Unavailable,
    /// There was no time left for it.
    Late,
}

impl Answer {
    /// What a caller with the library makes of it.
    pub(super) fn ending(self, protocol: Protocol) -> Ending {
        match (self, protocol) {
            (Self::Good, _) => Ending::success(),
            (Self::Failure, _) => Ending::failure(),
            (Self::Permanent, _) => Ending::permanent(),
            (Self::Refused | Self::Away, Protocol::Grpc) => Ending::refused().do_not_retry(),
            (Self::Away, Protocol::Http) => Ending::refused().retry_after(Ticks::new(20 * SECOND)),
            (Self::Refused, Protocol::Http) => Ending::refused().retry_after(Ticks::new(SECOND)),
            (Self::Unavailable, _) => Ending::overload(),
            (Self::Late, _) => Ending::timeout(),
        }
    }
}

/// Who calls one of the next tiers.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) calls: Calls,
    pub(super) kind: Kind,
    /// The station that is asked instead, and its client.
    pub(super) fallback: Option<(usize, u32)>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Plain,
    ByHand(Box<Hand>),
    Library(Box<Ours>),
}

/// The library's side of a client.
#[derive(Debug)]
pub(super) struct Ours {
    store: Rc<Store>,
    random: limiter_core::Random,
    fallbacks: RetryBudget,
    /// Calls that wait for a slot, and since when.
    line: VecDeque<((u32, u32), u64)>,
}

impl Client {
    pub(super) fn new(calls: &Calls, mode: Mode, ours: bool, random: &mut Random) -> Self {
        let kind = match mode {
            Mode::ByHand => Kind::ByHand(Box::default()),
            Mode::Library if ours => Kind::Library(Box::new(Ours::new(calls, random))),
            _ => Kind::Plain,
        };
        Self {
            calls: calls.clone(),
            kind,
            fallback: None,
        }
    }

    /// How many attempts a call makes at most without the library.
    pub(super) fn attempts(&self) -> u32 {
        let most = match self.kind {
            Kind::ByHand(_) => self.calls.by_hand_attempts.unwrap_or(4),
            _ => self.calls.attempts,
        };
        if most == 0 { u32::MAX } else { most }
    }
}

impl Ours {
    fn new(calls: &Calls, random: &mut Random) -> Self {
        let limiter = Config::new(Knee::new(), TickRate::NANOS);
        let mut config = DependencyConfig::new(TickRate::NANOS);
        if let Some(attempts) = calls.library_attempts {
            config = config.attempts(attempts.clamp(1, 1_000));
        }
        if let Some(ms) = calls.hedge_ms {
            config = config.hedge(950, Duration::from_secs_f64(ms / 1e3));
        }
        let store = Store::new(limiter, config);
        store.limiter().set_wall_offset(wall_offset(random));
        let budget = BudgetConfig::new().ratio(calls.fallback_per_mille.min(1_000));
        Self {
            store: Rc::new(store),
            random: limiter_core::Random::new((uniform(random) * 4e9) as u32),
            fallbacks: RetryBudget::new(budget, TickRate::NANOS),
            line: VecDeque::new(),
        }
    }

    pub(super) fn begin(&self, calls: &Calls, left: u64, once: bool, now: u64) -> Logical {
        let mut options = CallOptions::new();
        // The default, unless the caller is waited for shorter.
        let longest = TickRate::NANOS.ticks(Duration::from_secs(10));
        options = options.total(longest.min(Ticks::new(left)));
        if once {
            options = options.attempts(1);
        }
        if calls.hedge_ms.is_some() {
            options = options.hedge();
        }
        Store::call_owned(Rc::clone(&self.store), stamp(now), options)
    }

    pub(super) fn word(&self) -> u32 {
        self.random.word()
    }

    /// A call that could fall back begins.
    pub(super) fn deposit(&self) {
        self.fallbacks.deposit();
    }

    pub(super) fn may_fall_back(&self, now: u64) -> bool {
        self.fallbacks
            .withdraw(limiter_core::Tokens::ONE, stamp(now))
            .is_ok()
    }

    /// Puts a call into the line for a slot, if it is not full.
    pub(super) fn wait(&mut self, call: (u32, u32), now: u64) -> bool {
        let room = self.line.len() < LINE;
        if room {
            self.store.limiter().set_waiting();
            self.line.push_back((call, now));
        }
        room
    }

    /// Takes a call out of the line.
    pub(super) fn leave(&mut self, call: (u32, u32)) {
        self.line.retain(|(waiting, _)| *waiting != call);
        if self.line.is_empty() {
            self.store.limiter().clear_waiting();
        }
    }

    /// Whose turn it is in the line and its slot, if there is one for it.
    pub(super) fn serve(&mut self, now: u64) -> Option<((u32, u32), Slot)> {
        let limiter = self.store.limiter();
        let (_, since) = self.line.front()?;
        let stands = now.saturating_sub(*since) > STANDING;
        let slot = limiter.admit_waiter(stamp(now)).ok()?;
        let call = if stands {
            self.line.pop_back()
        } else {
            self.line.pop_front()
        };
        if self.line.is_empty() {
            self.store.limiter().clear_waiting();
        }
        call.map(|(call, _)| (call, slot))
    }
}

/// A time of the simulator on the library's clock.
pub(super) const fn stamp(now: u64) -> Timestamp {
    Timestamp::from_ticks(now)
}
