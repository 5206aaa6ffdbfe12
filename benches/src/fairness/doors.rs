//! What lets requests in: the rules under test, and none.

use limiter_core::law::Fixed;
use limiter_core::{
    Caller, Callers, Config, Guarantee, Limiter, Partitioned, Request, Seat, Slot, TickRate,
    Timestamp,
};

/// A rule of admission.
pub(super) trait Door {
    type Token;
    fn admit(&self, request: Request, caller: Caller, now: Timestamp) -> Option<Self::Token>;
    fn leave(&self, token: Self::Token);
}

pub(super) fn config(limit: u32) -> Config<Fixed> {
    Config::new(Fixed, TickRate::MICROS)
        .initial(limit)
        .max(limit)
}

/// Whoever comes first.
pub(super) struct Alike(pub(super) Limiter<Fixed>);

impl Door for Alike {
    type Token = Slot;

    fn admit(&self, _: Request, _: Caller, now: Timestamp) -> Option<Slot> {
        self.0.admit(now).ok()
    }

    fn leave(&self, token: Slot) {
        let _ = self.0.release(token);
    }
}

/// By priority and partition.
pub(super) struct Parted(pub(super) Partitioned<2, Fixed>);

impl Parted {
    pub(super) fn new(limit: u32, guarantee: u16) -> Self {
        Self(Partitioned::new(
            config(limit),
            [Guarantee::of(guarantee), Guarantee::NONE],
        ))
    }
}

impl Door for Parted {
    type Token = Seat;

    fn admit(&self, request: Request, _: Caller, now: Timestamp) -> Option<Seat> {
        self.0.admit(&request, now).ok()
    }

    fn leave(&self, token: Seat) {
        let _ = self.0.release(token);
    }
}

/// By caller too.
pub(super) struct Fair {
    pub(super) callers: Box<Callers<1_024>>,
    pub(super) limiter: Limiter<Fixed>,
}

impl Door for Fair {
    type Token = Slot;

    fn admit(&self, request: Request, caller: Caller, now: Timestamp) -> Option<Slot> {
        self.callers.admit(&self.limiter, request, caller, now).ok()
    }

    fn leave(&self, token: Slot) {
        let _ = self.limiter.release(token);
    }
}
