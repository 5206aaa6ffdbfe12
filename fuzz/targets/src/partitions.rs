//! Partitions: all together stay within the limit, and nothing is lost.

use crate::input::{Input, expect};
use limiter_core::law::Fixed;
use limiter_core::{Config, Guarantee, Partitioned, Request, Seat, TickRate, Timestamp};

#[allow(
    dead_code,
    reason = "what makes operations for proptest is not for the fuzzer"
)]
#[path = "../../../limiter-core/tests/partition/model.rs"]
mod model;

use model::Op;

type Store = Partitioned<2, Fixed>;

const WHO: [Request; 3] = [
    Request::new().partition(0),
    Request::new().partition(1),
    Request::new(),
];

fn store(limit: u32, guarantees: [Guarantee; 2]) -> Store {
    let config = Config::new(Fixed, TickRate::MILLIS).initial(limit);
    Partitioned::try_new(config.max(1_000), guarantees).expect("shares below nine tenths")
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_ticks(millis)
}

fn free(store: &Store, seats: impl IntoIterator<Item = Seat>) {
    for seat in seats {
        let _ = store.release(seat);
    }
}

fn quotas(store: &Store) -> [u32; 2] {
    [0, 1].map(|index| store.partition(index).map_or(0, |one| one.quota))
}

/// Slots of quotas that nobody uses.
fn idle(store: &Store) -> u32 {
    let room = |index| {
        let one = store.partition(index)?;
        Some(one.quota.saturating_sub(one.inflight))
    };
    [0, 1].into_iter().filter_map(room).sum()
}

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let shares = (input.between(0, 449) as u16, input.between(0, 449) as u16);
    let lends = [input.any(), input.any()];
    let ops = input.all(op);
    expect(model::stay_within_the_limit(ops, shares, lends));
}

fn op(input: &mut Input<'_>) -> Op {
    match input.upto(15) {
        0..=7 => Op::Admit(input.upto(2) as usize),
        8..=11 => Op::Release(input.upto(15) as usize),
        12 | 13 => Op::SetLimit(input.between(1, 19)),
        _ => Op::Pass(input.upto(300)),
    }
}
