//! Any order of operations against the rules, written plainly.

use limiter_core::law::Fixed;
use limiter_core::{
    Config, Limiter, Priority, RejectReason, Request, Shares, Slot, TickRate, Timestamp,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

pub(crate) const NOW: Timestamp = Timestamp::from_ticks(0);

pub(crate) fn fixed(limit: u32, max: u32) -> Limiter<Fixed> {
    Limiter::new(Config::new(Fixed, TickRate::MICROS).initial(limit).max(max))
}

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Acquire {
        class: u8,
        weight: u32,
        retry: bool,
        waiter: bool,
    },
    Release(usize),
    SetLimit(u32),
    SetShares(u16, u16, u16),
    Wait(u8),
    NobodyWaits,
    Close,
}

fn op() -> impl Strategy<Value = Op> {
    let weight = prop_oneof![4 => 1u32..4, 1 => 0u32..14, 1 => any::<u32>()];
    prop_oneof![
        10 => (0u8..4, weight, any::<bool>(), any::<bool>()).prop_map(|(class, weight, retry, waiter)| {
            Op::Acquire { class, weight, retry, waiter }
        }),
        7 => any::<usize>().prop_map(Op::Release),
        2 => (1u32..12).prop_map(Op::SetLimit),
        1 => (0u16..1_100, 0u16..1_100, 0u16..1_100).prop_map(|(a, b, c)| Op::SetShares(a, b, c)),
        1 => (0u8..4).prop_map(Op::Wait),
        1 => Just(Op::NobodyWaits),
        1 => Just(Op::Close),
    ]
}

/// The rules, written plainly.
struct Reference {
    limit: u32,
    max: u32,
    inflight: u32,
    shares: [u32; 4],
    waits: Option<usize>,
    closed: bool,
}

impl Reference {
    fn part(whole: u32, share: u32) -> u64 {
        (u64::from(whole) * u64::from(share)).div_ceil(1_000)
    }

    fn acquire(&mut self, class: usize, weight: u32, waiter: bool) -> Result<(), RejectReason> {
        let after = u64::from(self.inflight) + u64::from(weight);
        let share = self.shares[class];
        if self.closed {
            return Err(RejectReason::Closed);
        }
        if weight == 0 {
            return Err(RejectReason::ZeroWeight);
        }
        if u64::from(weight) > Self::part(self.max, share) {
            return Err(RejectReason::TooHeavy(weight));
        }
        let behind = !waiter && self.waits.is_some_and(|first| class <= first);
        if (after <= Self::part(self.limit, share) || self.inflight == 0) && !behind {
            self.inflight += weight;
            Ok(())
        } else if after > u64::from(self.limit) {
            Err(if self.inflight < self.limit {
                RejectReason::TooFewFree(weight)
            } else {
                RejectReason::AtLimit
            })
        } else if after > Self::part(self.limit, share) {
            Err(RejectReason::ShareTaken)
        } else {
            Err(RejectReason::WaitersAhead)
        }
    }
}

/// The limiter against the plain rules.
pub(crate) fn follows_the_rules(ops: Vec<Op>) -> TestCaseResult {
    let limiter = fixed(8, 12);
    let mut reference = Reference {
        limit: 8,
        max: 12,
        inflight: 0,
        shares: [500, 700, 900, 1_000],
        waits: None,
        closed: false,
    };
    let mut held: Vec<(Slot, u32)> = Vec::new();
    for op in ops {
        match op {
            Op::Acquire {
                class,
                weight,
                retry,
                waiter,
            } => {
                let class = usize::from(class);
                let request = Request::new()
                    .priority(Priority::ALL[class])
                    .weight(weight)
                    .attempt(if retry { 2 } else { 1 });
                let class = class.saturating_sub(usize::from(retry));
                prop_assert_eq!(request.class(), Priority::ALL[class]);
                let got = if waiter {
                    limiter.admit_waiter_for(&request, NOW)
                } else {
                    limiter.admit_for(&request, NOW)
                };
                let before = reference.inflight;
                let expected = reference.acquire(class, weight, waiter);
                prop_assert_eq!(got.as_ref().map(|_| ()).map_err(|r| r.reason), expected);
                match got {
                    Ok(slot) => held.push((slot, weight)),
                    Err(refused) => prop_assert_eq!(refused.inflight, before),
                }
            }
            Op::Release(which) if !held.is_empty() => {
                let (slot, weight) = held.swap_remove(which % held.len());
                reference.inflight -= weight;
                prop_assert_eq!(limiter.release(slot).wake(), reference.waits.is_some());
            }
            Op::Release(_) => {}
            Op::SetLimit(limit) => {
                prop_assert!(limiter.set_limit(limit, NOW).is_ok());
                reference.limit = limit;
            }
            Op::SetShares(interactive, batch, best_effort) => {
                let allowed = (1..=1_000).contains(&interactive)
                    && (1..=interactive).contains(&batch)
                    && (1..=batch).contains(&best_effort);
                let shares = Shares::new()
                    .interactive(interactive)
                    .batch(batch)
                    .best_effort(best_effort);
                prop_assert_eq!(limiter.set_shares(shares).is_ok(), allowed);
                if allowed {
                    reference.shares = [best_effort, batch, interactive, 1_000].map(u32::from);
                    prop_assert_eq!(limiter.shares(), shares);
                }
            }
            Op::Wait(class) => {
                limiter.set_waiting_from(Priority::ALL[usize::from(class)]);
                reference.waits = Some(class.into());
            }
            Op::NobodyWaits => {
                limiter.clear_waiting();
                reference.waits = None;
            }
            Op::Close => {
                limiter.close();
                reference.closed = true;
            }
        }
        prop_assert_eq!(limiter.snapshot().inflight, reference.inflight);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn priorities_and_weights_agree_with_the_plain_rules(ops in prop::collection::vec(op(), 1..80)) {
        follows_the_rules(ops)?;
    }
}
