//! The rules that hold after any operation.

use core::time::Duration;
use limiter_core::law::Fixed;
use limiter_core::{Config, Guarantee, Partitioned, Request, Seat, TickRate, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

pub(crate) const WHO: [Request; 3] = [
    Request::new().partition(0),
    Request::new().partition(1),
    Request::new(),
];

pub(crate) type Store = Partitioned<2, Fixed>;

pub(crate) fn store(limit: u32, guarantees: [Guarantee; 2]) -> Store {
    let config = Config::new(Fixed, TickRate::MILLIS)
        .initial(limit)
        .max(1_000);
    Partitioned::try_new(config, guarantees).unwrap()
}

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_ticks(millis)
}

pub(crate) fn free(store: &Store, seats: impl IntoIterator<Item = Seat>) {
    for seat in seats {
        let _ = store.release(seat);
    }
}

pub(crate) fn quotas(store: &Store) -> [u32; 2] {
    [0, 1].map(|index| store.partition(index).unwrap().quota)
}

/// Slots of quotas that nobody uses.
pub(crate) fn idle(store: &Store) -> u32 {
    let rooms = [0, 1].map(|index| store.partition(index).unwrap());
    rooms
        .map(|room| room.quota.saturating_sub(room.inflight))
        .iter()
        .sum()
}

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Admit(usize),
    Release(usize),
    SetLimit(u32),
    Pass(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (0usize..3).prop_map(Op::Admit),
        5 => any::<usize>().prop_map(Op::Release),
        2 => (1u32..20).prop_map(Op::SetLimit),
        2 => (0u64..300).prop_map(Op::Pass),
    ]
}

/// Two partitions with these shares, which are lent or not, and one limit for all.
pub(crate) fn stay_within_the_limit(
    ops: Vec<Op>,
    shares: (u16, u16),
    lends: [bool; 2],
) -> TestCaseResult {
    let guarantee = |share, lends: bool| match lends {
        true => Guarantee::of(share).lend_after(Duration::from_millis(100)),
        false => Guarantee::of(share),
    };
    let store = store(
        10,
        [guarantee(shares.0, lends[0]), guarantee(shares.1, lends[1])],
    );
    let of = |limit: u32| [shares.0, shares.1].map(|share| limit * u32::from(share) / 1_000);
    let (mut limit, mut now, mut before, mut held) = (10, 1_000, 0, Vec::new());
    for op in ops {
        match op {
            Op::Admit(who) => match store.admit(&WHO[who], at(now)) {
                Ok(seat) => held.push(seat),
                Err(_) => {
                    let seen = store.limiter().snapshot();
                    prop_assert!(seen.inflight >= seen.limit, "beside a free slot");
                    if let Some(one) = store.partition(who) {
                        prop_assert!(one.inflight >= one.quota, "beside one of its own");
                        let whole = one.quota == of(limit)[who];
                        prop_assert!(whole || held.len() as u32 + idle(&store) >= limit);
                    }
                }
            },
            Op::Release(which) if !held.is_empty() => {
                free(&store, [held.swap_remove(which % held.len())]);
            }
            Op::Release(_) => {}
            Op::SetLimit(new) => {
                limit = new;
                prop_assert!(store.limiter().set_limit(limit, at(now)).is_ok());
                store.balance();
            }
            Op::Pass(millis) => now += millis,
        }
        // What is booked is what is in flight and what is idle of quotas. It passes the limit only when the
        // limit shrank, and does not grow then.
        let after = held.len() as u32 + idle(&store);
        prop_assert!(after <= limit.max(before), "{after} after {before}");
        before = after;
        let quotas = quotas(&store);
        prop_assert!(quotas.iter().sum::<u32>() <= limit);
        prop_assert!(
            quotas
                .iter()
                .zip(of(limit))
                .all(|(quota, most)| *quota <= most)
        );
    }
    free(&store, held);
    store.balance();
    let seen = store.limiter().snapshot();
    prop_assert_eq!(seen.inflight, quotas(&store).iter().sum::<u32>());
    let lent = [0, 1].map(|index| store.partition(index).unwrap().lent);
    for index in [0, 1] {
        prop_assert!(lent[index] || quotas(&store)[index] == of(limit)[index]);
        prop_assert_eq!(store.partition(index).unwrap().inflight, 0);
        prop_assert_eq!(store.partition(index).unwrap().pooled, 0);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_together_stay_within_the_limit_and_nothing_is_lost(
        ops in prop::collection::vec(op(), 1..120),
        shares in (0u16..450, 0u16..450),
        lends in any::<[bool; 2]>(),
    ) {
        stay_within_the_limit(ops, shares, lends)?;
    }
}
