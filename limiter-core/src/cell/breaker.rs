//! A breaker: its word, two times, and what happened lately.
//!
//! ```text
//! phase        31..30 3 closed, 1 open, 2 half open | 29..16 generation | 15..12 times it opened again
//!              11..0  closed: failures in a row
//!              11..0  open: times it was restored
//!              11..6  half open: probes that succeeded | 5..0 leases that are out
//! open_until   stamp at which it may half-open, while it is open
//! lease_until  stamp at which the leases that are out are lost, while it is half open
//! ring         one word a bucket: 31..21 calls | 20..10 failures | 9..0 slow calls, see cell/ring.rs
//! ```
//!
//! Transitions (law/breaker.rs): every change of state starts a generation, and a lease counts in its own
//! only. Open becomes half open by time alone: the first call after it takes the first lease. A stamp that a
//! state needs is stored before the word changes to that state, by an exchange from the value that was seen
//! before the word: whoever was stopped in between changes neither.
//!
//! ```text
//! op                 | success | failure | pairs with | why
//! phase: load        | Acquire | -       | phase      | who sees a state sees the stamp that belongs to it
//! phase: exchange    | Release | Relaxed | phase: load | publishes the stamp that was stored before it
//! stamps: exchange   | Relaxed | Relaxed | -          | published by the phase; a failure means that another was
//!                    |         |         |            | faster: look again
//! state              | Acquire | -       | phase      | reads, and stores nothing
//! ```

use super::ring::Ring;
use super::sync::{AtomicU32, Ordering, const_unless_loom};
use super::word::{exchange, publish};
use crate::law::breaker::{Entry, Judges, Kind, Lease, Phase, Rule, Verdict, open_time};
use crate::time::{Stamp, Ticks};

const CALL: u32 = 1 << 21;
const FAILURE: u32 = 1 << 10;
const SLOW: u32 = 1;
const TOPS: u32 = 1 << 31 | 1 << 20 | 1 << 9;
pub(crate) const BUCKETS: usize = 8;

/// A thread's clock may be so far behind another's before it counts as set back. 4 to 8 s.
const BEHIND: u32 = 1 << 13;

/// A rule, and times in units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circuitry {
    pub(crate) rule: Rule,
    pub(crate) shift: u8,
    pub(crate) open: u32,
    pub(crate) open_most: u32,
    pub(crate) lease: u32,
    /// A call that took longer is slow.
    pub(crate) slow_time: Ticks,
}

/// A change of state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flip {
    Opened,
    Closed,
}

/// The cell of a breaker.
#[derive(Debug)]
pub(crate) struct Circuit {
    phase: AtomicU32,
    open_until: AtomicU32,
    lease_until: AtomicU32,
    ring: Ring<BUCKETS>,
}

impl Circuit {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self {
                phase: AtomicU32::new(Phase::FIRST.0),
                open_until: AtomicU32::new(0),
                lease_until: AtomicU32::new(0),
                ring: Ring::new(),
            }
        }
    }

    /// The state at `now`, and the units until it may half-open, 0 unless it is open. Stores nothing.
    pub(crate) fn state(&self, with: &Circuitry, now: Stamp) -> (Phase, Kind, u32) {
        // Acquire pairs with `swap`.
        let phase = Phase(self.phase.load(Ordering::Acquire));
        let left = left(&self.open_until, now, with.open_most);
        match phase.kind() {
            Kind::Open if left > 0 => (phase, Kind::Open, left),
            Kind::Open => (phase, Kind::HalfOpen, 0),
            kind => (phase, kind, 0),
        }
    }

    /// Lets a call through while it is closed: one load.
    #[inline]
    pub(crate) fn enter(&self) -> Option<Lease> {
        // Acquire pairs with `swap`.
        Phase(self.phase.load(Ordering::Acquire)).pass()
    }

    /// Lets a call through, or not: then the units until it may half-open. For a breaker that was not closed.
    #[cold]
    pub(crate) fn probe(&self, with: &Circuitry, now: Stamp) -> Result<Lease, u32> {
        loop {
            let seen = self.lease_until.load(Ordering::Relaxed);
            // Acquire pairs with `swap`.
            let phase = Phase(self.phase.load(Ordering::Acquire));
            let open_left = left(&self.open_until, now, with.open_most);
            let lease_over = remains(seen, now, with.lease) == 0;
            match phase.enter(open_left == 0, lease_over, with.rule.probes) {
                Entry::Pass(lease) => return Ok(lease),
                Entry::Refuse => return Err(open_left),
                Entry::Probe(next, lease) => {
                    let until = now.0.wrapping_add(with.lease);
                    if exchange(&self.lease_until, seen, until) && self.swap(phase, next) {
                        return Ok(lease);
                    }
                }
            }
        }
    }

    /// Whether it has nothing to be told of a success that somebody else's count stands for.
    #[cfg(target_pointer_width = "64")]
    #[inline]
    pub(crate) fn ignores(&self, with: &Circuitry, lease: Lease) -> bool {
        // Relaxed: see `settle`.
        Phase(self.phase.load(Ordering::Relaxed)).is_unmoved_by(lease)
            && with.rule.judges != Judges::Times
    }

    /// Takes a call back, and tells what state came of it. A success while no failures are counted stores
    /// nothing but its count, and that only where shares are taken; then it counts as `calls`, 0 when that of
    /// another stands for it.
    #[inline]
    pub(crate) fn settle(
        &self,
        with: &Circuitry,
        lease: Lease,
        verdict: Verdict,
        random: u32,
        calls: u32,
        at: impl Fn() -> (Ticks, Stamp),
    ) -> Option<Flip> {
        // Relaxed: as if it had come before whoever changes the word at the same time.
        let phase = Phase(self.phase.load(Ordering::Relaxed));
        if verdict == Verdict::Good && phase.is_unmoved_by(lease) {
            match with.rule.judges {
                Judges::Nothing => return None,
                Judges::Failures => {
                    if calls != 0 {
                        self.ring.add(with.shift, TOPS, at().1, CALL * calls);
                    }
                    return None;
                }
                Judges::Times => {}
            }
        }
        let (took, now) = at();
        self.settle_marked(with, lease, verdict, took, now, random)
    }

    /// A call that may change the state.
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    fn settle_marked(
        &self,
        with: &Circuitry,
        lease: Lease,
        verdict: Verdict,
        took: Ticks,
        now: Stamp,
        random: u32,
    ) -> Option<Flip> {
        let slow = with.rule.judges == Judges::Times && took > with.slow_time;
        if lease.is_probe() {
            // A dependency that answers its probes too slowly is not well.
            let verdict = match verdict {
                Verdict::Good if slow => Verdict::Bad,
                other => other,
            };
            return self.turn(with, lease, verdict, false, now, random);
        }
        let phase = Phase(self.phase.load(Ordering::Relaxed));
        let (bad, current) = (verdict == Verdict::Bad, phase.is_current(lease));
        if verdict == Verdict::Ignored || !bad && !current {
            return None;
        }
        let mut trips = false;
        if current && with.rule.judges != Judges::Nothing {
            let counts = CALL + if bad { FAILURE } else { 0 } + if slow { SLOW } else { 0 };
            self.ring.add(with.shift, TOPS, now, counts);
            trips = (bad || slow) && self.trips(with, now);
        }
        if !bad && !trips && phase.is_unmoved_by(lease) {
            return None;
        }
        self.turn(with, lease, verdict, trips, now, random)
    }

    fn turn(
        &self,
        with: &Circuitry,
        lease: Lease,
        verdict: Verdict,
        trips: bool,
        now: Stamp,
        random: u32,
    ) -> Option<Flip> {
        loop {
            let seen = self.open_until.load(Ordering::Relaxed);
            let phase = Phase(self.phase.load(Ordering::Acquire));
            let next = if trips && phase.is_current(lease) {
                phase.open()
            } else {
                phase.settle(lease, verdict, with.rule)?
            };
            let flip = match (phase.kind(), next.kind()) {
                (Kind::HalfOpen, Kind::Closed) => {
                    // Nobody counts while it is half open.
                    self.ring.clear();
                    Some(Flip::Closed)
                }
                (_, Kind::Open) => {
                    let time = open_time(with.open, with.open_most, next.reopened(), random);
                    if !exchange(&self.open_until, seen, now.0.wrapping_add(time)) {
                        continue;
                    }
                    Some(Flip::Opened)
                }
                _ => None,
            };
            if self.swap(phase, next) {
                return flip;
            }
        }
    }

    /// Gives a lease back, without a clock.
    pub(crate) fn give_back(&self, with: &Circuitry, lease: Lease) {
        if lease.is_probe() {
            let _ = self.turn(with, lease, Verdict::Ignored, false, Stamp(0), 0);
        }
    }

    /// Opens it for `units` more, as it was when it was saved; only the first time for all of them.
    pub(crate) fn restore(&self, with: &Circuitry, counts: (u32, u32), units: u32, now: Stamp) {
        let (reopened, restored) = counts;
        let units = units.checked_shr(restored).unwrap_or(0);
        let until = now.0.wrapping_add(units.min(with.open_most));
        self.open_until.store(until, Ordering::Relaxed);
        let phase = Phase(self.phase.load(Ordering::Relaxed));
        // Release pairs with the loads.
        self.phase
            .store(phase.reopen_as(reopened, restored + 1).0, Ordering::Release);
    }

    #[cold]
    fn trips(&self, with: &Circuitry, now: Stamp) -> bool {
        let (mut total, mut failed, mut slow) = (0, 0, 0);
        self.ring.look(with.shift, now, |word| {
            total += word >> 21;
            failed += word >> 10 & 0x7ff;
            slow += word & 0x3ff;
        });
        with.rule.trips(total, failed, slow)
    }

    fn swap(&self, from: Phase, to: Phase) -> bool {
        // Release publishes the stamps that were stored before.
        publish(&self.phase, from.0, to.0)
    }
}

/// Units from `now` to `until`, 0 when it has passed. More than `most` cannot be left: then it has passed
/// too, or the clock was set back, and nobody waits for it to come up again.
fn remains(until: u32, now: Stamp, most: u32) -> u32 {
    let left = until.wrapping_sub(now.0);
    if left <= most.saturating_add(BEHIND) {
        left
    } else {
        0
    }
}

fn left(until: &AtomicU32, now: Stamp, most: u32) -> u32 {
    remains(until.load(Ordering::Relaxed), now, most)
}
