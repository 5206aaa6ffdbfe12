//! Any order of requests, by any clock, against the rule written plainly.

use limiter_core::law::Fixed;
use limiter_core::{
    Caller, Callers, Config, Limiter, Priority, RejectReason, Request, Slot, Standing, TickRate,
    Timestamp,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

const LIMIT: u32 = 20;
const SHARES: [u32; 4] = [500, 700, 900, 1_000];
/// Milliseconds in which every count has halved more often than it has bits.
const FORGOTTEN: u64 = 60_000;
/// Milliseconds by which a clock that stepped back is taken for one that was read late.
const LATE: u64 = 40_000;

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Admit {
        name: u8,
        origin: Option<u8>,
        class: u8,
        weight: u32,
    },
    Release(usize),
    /// The clock moves by so many milliseconds.
    Step(i64),
    /// Nobody comes until all is forgotten.
    Silence,
}

fn op() -> impl Strategy<Value = Op> {
    let weight = prop_oneof![6 => 1u32..3, 1 => 0u32..24, 1 => any::<u32>()];
    let step = prop_oneof![6 => 0i64..900, 2 => -3_000i64..9_000, 1 => any::<i64>()];
    prop_oneof![
        12 => (0u8..6, prop::option::of(0u8..3), 0u8..4, weight).prop_map(|(name, origin, class, weight)| {
            Op::Admit { name, origin, class, weight }
        }),
        12 => any::<usize>().prop_map(Op::Release),
        3 => step.prop_map(Op::Step),
        1 => Just(Op::Silence),
    ]
}

/// Names that look like nothing.
fn hash(of: u8, salt: u64) -> u64 {
    (u64::from(of) + 1).wrapping_mul(salt | 1)
}

fn part(whole: u32, share: u32) -> u64 {
    (u64::from(whole) * u64::from(share)).div_ceil(1_000)
}

/// What becomes of a request, by the plain rule.
fn expected(inflight: u32, class: u8, weight: u32, most: u32) -> Result<(), RejectReason> {
    let after = u64::from(inflight) + u64::from(weight);
    let class_share = SHARES[usize::from(class)];
    let share = class_share.min(most);
    if weight == 0 {
        Err(RejectReason::ZeroWeight)
    } else if u64::from(weight) > part(LIMIT, share) {
        Err(RejectReason::TooHeavy(weight))
    } else if after <= part(LIMIT, share) {
        Ok(())
    } else if inflight >= LIMIT {
        Err(RejectReason::AtLimit)
    } else if after > u64::from(LIMIT) {
        Err(RejectReason::TooFewFree(weight))
    } else if after <= part(LIMIT, class_share) {
        Err(RejectReason::OverShare)
    } else {
        Err(RejectReason::ShareTaken)
    }
}

/// The table in front of a limiter, `within` of which is for callers beyond their share.
pub(crate) fn follows_the_rule(seed: u32, within: u16, ops: Vec<Op>) -> TestCaseResult {
    let config = Config::new(Fixed, TickRate::MILLIS);
    let limiter = Limiter::new(config.initial(LIMIT).max(LIMIT));
    let table = Callers::<64>::new(TickRate::MILLIS, seed).beyond_may_use(within);
    let within = u32::from(within.clamp(1, 1_000));
    let (mut now, mut inflight) = (0u64, 0);
    let mut held: Vec<(Slot, u32)> = Vec::new();
    let (mut names, mut origins) = (Vec::new(), Vec::new());
    // When the first and the last of them were counted.
    let (mut first, mut last) = (u64::MAX, 0);
    for op in ops {
        let at = Timestamp::from_ticks(now);
        match op {
            Op::Admit {
                name,
                origin,
                class,
                weight,
            } => {
                let mut caller = Caller::new(hash(name, 0x9e37_79b9_7f4a_7c15));
                if let Some(origin) = origin {
                    caller = caller.from(hash(origin, 0xd1b5_4a32_d192_ed03));
                }
                let standing = table.standing(caller, at);
                match standing {
                    Standing::Within => {}
                    // One name alone, and one that was not let in yet, have had nothing of others'.
                    Standing::Beyond => prop_assert!(names.len() > 1, "{names:?}"),
                    Standing::OriginBeyond => {
                        prop_assert!(origin.is_some());
                        prop_assert!(origins.len() > 1, "{origins:?}");
                    }
                }
                let most = match standing {
                    Standing::Within => 1_000,
                    Standing::Beyond | Standing::OriginBeyond => within,
                };
                let request = Request::new()
                    .priority(Priority::ALL[usize::from(class)])
                    .weight(weight);
                let got = table.admit(&limiter, request, caller, at);
                let told = got.as_ref().map(|_| ()).map_err(|refused| refused.reason);
                prop_assert_eq!(told, expected(inflight, class, weight, most));
                match got {
                    Ok(slot) => {
                        (first, last) = (first.min(now), last.max(now));
                        held.push((slot, weight));
                        inflight += weight;
                        if standing != Standing::OriginBeyond && !names.contains(&name) {
                            names.push(name);
                        }
                        if let Some(origin) = origin.filter(|origin| !origins.contains(origin)) {
                            origins.push(origin);
                        }
                    }
                    // Refusals are not counted: whoever only asks does not come to be beyond.
                    Err(_) => prop_assert_eq!(table.standing(caller, at), standing),
                }
            }
            Op::Release(which) if !held.is_empty() => {
                let (slot, weight) = held.swap_remove(which % held.len());
                let _ = limiter.release(slot);
                inflight -= weight;
            }
            Op::Release(_) => {}
            Op::Step(step) => now = now.wrapping_add_signed(step),
            Op::Silence => {
                now = now.wrapping_add(FORGOTTEN);
                // Unless it is the time of what was counted, by a clock that stepped.
                let counted = first.saturating_sub(LATE)..last.saturating_add(FORGOTTEN);
                if counted.contains(&now) {
                    continue;
                }
                for name in 0..6 {
                    let caller = Caller::new(hash(name, 0x9e37_79b9_7f4a_7c15));
                    let standing = table.standing(caller, Timestamp::from_ticks(now));
                    prop_assert_eq!(standing, Standing::Within);
                }
            }
        }
        prop_assert_eq!(limiter.snapshot().inflight, inflight);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn callers_are_let_in_by_the_plain_rule(
        seed in any::<u32>(), within in 0u16..1_100, ops in prop::collection::vec(op(), 1..200),
    ) {
        follows_the_rule(seed, within, ops)?;
    }
}
