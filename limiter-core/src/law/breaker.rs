//! The transitions of a breaker: from one value of its word to the next.

use super::backoff::{part, window};
use core::num::NonZeroU32;

/// What a breaker judges beside failures in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judges {
    Nothing,
    /// The share of failures.
    Failures,
    /// The share of slow calls too.
    Times,
}

/// What a breaker needs to know to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Failures in a row that open it; [`NEVER`](Rule::NEVER) leaves that to the shares.
    pub(crate) consecutive: u16,
    /// Per mille of failures and of slow calls; 1,001 is never reached.
    pub(crate) failure_share: u16,
    pub(crate) slow_share: u16,
    /// No share is judged by fewer calls.
    pub(crate) volume: u16,
    pub(crate) judges: Judges,
    /// Calls let through while half open, and successes needed to close.
    pub(crate) probes: u8,
}

impl Rule {
    pub(crate) const NEVER: u16 = u16::MAX;
    pub(crate) const NO_SHARE: u16 = 1_001;

    /// So many failures and slow calls among `total` open it.
    pub(crate) const fn trips(self, total: u32, failed: u32, slow: u32) -> bool {
        total >= self.volume as u32
            && (at_least(failed, total, self.failure_share)
                || at_least(slow, total, self.slow_share))
    }
}

const fn at_least(count: u32, total: u32, per_mille: u16) -> bool {
    count * 1_000 >= total * per_mille as u32
}

/// How long it stays open: doubled for every time it opened again, up to `most`, and of that between half
/// and all, by a random word, so that callers that opened together do not probe together.
pub(crate) const fn open_time(base: u32, most: u32, reopenings: u32, random: u32) -> u32 {
    let window = window(base, most, reopenings.saturating_add(1));
    let half = window / 2;
    window - half + part(half + 1, random)
}

/// Closed, open or half open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Closed,
    Open,
    HalfOpen,
}

/// What a call takes through a breaker, and brings back: the word of a closed breaker of its period without
/// failures, or the period with the mark of a probe, whose state there is not. Never 0, so that an `Option` of it
/// needs no word more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease(NonZeroU32);

impl Lease {
    const PROBE: NonZeroU32 = NonZeroU32::MIN;

    /// Whether the call is one of the few that a half-open breaker lets through.
    #[inline]
    pub(crate) const fn is_probe(self) -> bool {
        self.0.get() >> STATE_SHIFT == 0
    }
}

/// How a call that was let through ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Good,
    Bad,
    /// Says nothing.
    Ignored,
}

/// The word of a breaker. Layout: see cell/breaker.rs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Phase(pub(crate) u32);

const STATE_SHIFT: u32 = 30;
/// The highest state, so that one comparison tells it.
const CLOSED: u32 = 3 << STATE_SHIFT;
const OPEN: u32 = 1 << STATE_SHIFT;
const HALF_OPEN: u32 = 2 << STATE_SHIFT;
const GENERATION_SHIFT: u32 = 16;
const GENERATION_MASK: u32 = (1 << (STATE_SHIFT - GENERATION_SHIFT)) - 1;
const PERIOD: u32 = GENERATION_MASK << GENERATION_SHIFT;
const REOPENED_SHIFT: u32 = 12;
const REOPENED_MASK: u32 = (1 << (GENERATION_SHIFT - REOPENED_SHIFT)) - 1;
const FAILURES_MASK: u32 = (1 << REOPENED_SHIFT) - 1;
const GOOD_SHIFT: u32 = 6;
const COUNT_MASK: u32 = (1 << GOOD_SHIFT) - 1;
/// Most probes that the word can count.
pub(crate) const MAX_PROBES: u32 = COUNT_MASK;
/// Most failures in a row that the word can count.
pub(crate) const MAX_CONSECUTIVE: u32 = FAILURES_MASK;

/// What becomes of a call that comes to the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Closed: nothing changes.
    Pass(Lease),
    /// Half open, if the word becomes this.
    Probe(Phase, Lease),
    Refuse,
}

impl Phase {
    /// Closed, in the first period.
    pub(crate) const FIRST: Self = Self(CLOSED);

    const fn new(kind: Kind, generation: u32, reopened: u32, low: u32) -> Self {
        let state = match kind {
            Kind::Closed => CLOSED,
            Kind::Open => OPEN,
            Kind::HalfOpen => HALF_OPEN,
        };
        Self(
            state
                | (generation & GENERATION_MASK) << GENERATION_SHIFT
                | reopened << REOPENED_SHIFT
                | low,
        )
    }

    #[inline]
    pub(crate) const fn kind(self) -> Kind {
        if self.0 >= CLOSED {
            Kind::Closed
        } else if self.0 >= HALF_OPEN {
            Kind::HalfOpen
        } else {
            Kind::Open
        }
    }

    const fn generation(self) -> u32 {
        self.0 >> GENERATION_SHIFT & GENERATION_MASK
    }

    /// How often it opened since it was closed last, less one; counts to 15.
    pub(crate) const fn reopened(self) -> u32 {
        self.0 >> REOPENED_SHIFT & REOPENED_MASK
    }

    /// Leases that are out, and successes of those that came back.
    pub(crate) const fn probes(self) -> (u32, u32) {
        (self.0 & COUNT_MASK, self.0 >> GOOD_SHIFT & COUNT_MASK)
    }

    const fn probe(self) -> Lease {
        Lease(match NonZeroU32::new(self.0 & PERIOD) {
            Some(period) => Lease::PROBE.saturating_add(period.get()),
            None => Lease::PROBE,
        })
    }

    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    const fn half_open(self, generation: u32, good: u32, out: u32) -> Self {
        Self::new(
            Kind::HalfOpen,
            generation,
            self.reopened(),
            good << GOOD_SHIFT | out,
        )
    }

    /// What lets a call through while it is closed.
    #[inline]
    pub(crate) const fn pass(self) -> Option<Lease> {
        if self.0 < CLOSED {
            return None;
        }
        match NonZeroU32::new(self.0 & (CLOSED | PERIOD)) {
            Some(word) => Some(Lease(word)),
            None => None,
        }
    }

    /// A success under this lease changes nothing: it is no probe's, the period is this one, and no failures are
    /// counted.
    #[inline]
    pub(crate) const fn is_unmoved_by(self, lease: Lease) -> bool {
        self.0 == lease.0.get()
    }

    /// A call comes. `open_over`: the open time has passed; `lease_over`: the leases that are out are lost.
    pub(crate) const fn enter(self, open_over: bool, lease_over: bool, probes: u8) -> Entry {
        let generation = self.generation();
        let next = match self.kind() {
            Kind::Closed => {
                return match self.pass() {
                    Some(lease) => Entry::Pass(lease),
                    None => Entry::Refuse,
                };
            }
            Kind::Open if open_over => self.half_open(generation + 1, 0, 1),
            Kind::Open => return Entry::Refuse,
            Kind::HalfOpen => {
                let (out, good) = self.probes();
                if out + good < probes as u32 {
                    self.half_open(generation, good, out + 1)
                } else if lease_over {
                    // What is still out comes back under an old generation, and counts for nothing.
                    self.half_open(generation + 1, good, 1)
                } else {
                    return Entry::Refuse;
                }
            }
        };
        Entry::Probe(next, next.probe())
    }

    /// Whether the lease is of this period.
    #[inline]
    pub(crate) const fn is_current(self, lease: Lease) -> bool {
        (self.0 ^ lease.0.get()) & PERIOD == 0
    }

    /// A call comes back; `None` when nothing changes.
    pub(crate) const fn settle(self, lease: Lease, verdict: Verdict, rule: Rule) -> Option<Self> {
        if !self.is_current(lease) {
            return None;
        }
        let generation = self.generation();
        match (self.kind(), verdict) {
            (Kind::Closed, Verdict::Good) if self.0 & FAILURES_MASK != 0 => {
                Some(Self(self.0 & !FAILURES_MASK))
            }
            (Kind::Closed, Verdict::Bad) => {
                let failures = (self.0 & FAILURES_MASK) + 1;
                if failures >= rule.consecutive as u32 {
                    Some(self.open())
                } else if failures <= FAILURES_MASK {
                    Some(Self(self.0 + 1))
                } else {
                    None
                }
            }
            (Kind::HalfOpen, Verdict::Bad) => Some(self.open()),
            (Kind::HalfOpen, _) => {
                let (out, good) = self.probes();
                let out = out.saturating_sub(1);
                let good = good + matches!(verdict, Verdict::Good) as u32;
                if good >= rule.probes as u32 {
                    Some(Self::new(Kind::Closed, generation + 1, 0, 0))
                } else {
                    Some(self.half_open(generation, good, out))
                }
            }
            _ => None,
        }
    }

    /// Open, in the next generation.
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) const fn open(self) -> Self {
        let reopened = match self.kind() {
            Kind::Closed => 0,
            _ if self.reopened() < REOPENED_MASK => self.reopened() + 1,
            _ => REOPENED_MASK,
        };
        Self::new(Kind::Open, self.generation() + 1, reopened, 0)
    }

    /// Open as it was when it was saved, restored for the `restored`-th time.
    pub(crate) const fn reopen_as(self, reopened: u32, restored: u32) -> Self {
        let reopened = if reopened > REOPENED_MASK {
            REOPENED_MASK
        } else {
            reopened
        };
        let restored = if restored > FAILURES_MASK {
            FAILURES_MASK
        } else {
            restored
        };
        Self::new(Kind::Open, self.generation() + 1, reopened, restored)
    }

    /// How often it was restored since it opened, while it is open.
    pub(crate) const fn restored(self) -> u32 {
        match self.kind() {
            Kind::Open => self.0 & FAILURES_MASK,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule {
        consecutive: 3,
        failure_share: 500,
        slow_share: Rule::NO_SHARE,
        volume: 20,
        judges: Judges::Failures,
        probes: 3,
    };

    fn opened() -> Phase {
        Phase::FIRST.open()
    }

    fn probe(phase: Phase) -> (Phase, Lease) {
        match phase.enter(true, false, RULE.probes) {
            Entry::Probe(next, lease) => (next, lease),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn shares_are_exact_and_need_the_volume() {
        assert!(!RULE.trips(19, 19, 19));
        assert!(RULE.trips(20, 10, 0) && !RULE.trips(21, 10, 21));
        let slow = Rule {
            slow_share: 1_000,
            ..RULE
        };
        assert!(slow.trips(20, 0, 20) && !slow.trips(20, 0, 19));
    }

    #[test]
    fn a_failed_probe_opens_at_once_whatever_succeeded_before() {
        let (phase, first) = probe(opened());
        let (phase, second) = probe(phase);
        let phase = phase.settle(first, Verdict::Good, RULE).unwrap();
        let phase = phase.settle(second, Verdict::Bad, RULE).unwrap();
        assert_eq!((phase.kind(), phase.reopened()), (Kind::Open, 1));
        assert_eq!(phase.settle(first, Verdict::Good, RULE), None);
    }

    #[test]
    fn no_more_than_the_probes_are_out_and_as_many_close_it() {
        let (mut phase, mut leases) = (opened(), [Phase::FIRST.pass().unwrap(); 3]);
        for lease in &mut leases {
            (phase, *lease) = probe(phase);
        }
        assert_eq!(phase.enter(true, false, RULE.probes), Entry::Refuse);
        for lease in leases {
            phase = phase.settle(lease, Verdict::Good, RULE).unwrap();
        }
        assert_eq!(phase.kind(), Kind::Closed);
        assert_eq!(
            phase.enter(true, true, RULE.probes),
            Entry::Pass(phase.pass().unwrap())
        );
    }

    #[test]
    fn open_times_double_within_their_half_and_stop_at_the_most() {
        for reopened in 0..=u8::MAX.into() {
            let window = 100u32.saturating_mul(1 << reopened.min(20)).min(1_000);
            for random in [0, 1, u32::MAX / 2, u32::MAX] {
                let time = open_time(100, 1_000, reopened, random);
                assert!(time >= window / 2 && time <= window, "{time} of {window}");
            }
        }
        assert_eq!(open_time(1, 1, u32::MAX, 0), 1);
        assert!(open_time(u32::MAX, u32::MAX, u32::MAX, u32::MAX) > 0);
    }

    #[test]
    fn any_word_stands_any_operation() {
        for word in [
            0,
            u32::MAX,
            0x4000_0000,
            0x8000_0fff,
            0xbfff_ffff,
            0x0000_0fff,
        ] {
            let phase = Phase(word);
            for over in [false, true] {
                let _ = phase.enter(over, over, u8::MAX);
            }
            for verdict in [Verdict::Good, Verdict::Bad, Verdict::Ignored] {
                for lease in phase.pass().into_iter().chain([phase.probe()]) {
                    let _ = phase.settle(lease, verdict, RULE);
                }
            }
            let _ = phase.open().reopen_as(u32::MAX, u32::MAX);
        }
    }
}
