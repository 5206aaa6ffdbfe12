//! Retry budgets against the plain one, and their promise under any clock.

use crate::input::{Input, expect};

#[allow(
    dead_code,
    reason = "what makes operations for proptest is not for the fuzzer"
)]
#[path = "../../../limiter-core/tests/budget/model.rs"]
mod model;

use model::{Numbers, Op};

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (capacity, ratio) = (input.between(1_000, 1_000_000), input.between(0, 1_000));
    if input.any() {
        let floor = (input.between(1, 100_000), 1 + input.upto(999_999));
        let work = input.all(|input| (op(input), input.upto(5_000)));
        expect(model::is_the_plain_budget((capacity, ratio), floor, work));
    } else {
        let floor = (input.between(1, 1_000_000), 1 + input.upto(99_999_999));
        let numbers = Numbers {
            capacity,
            ratio,
            floor: input.any::<bool>().then_some(floor),
        };
        let start = input.odd();
        let work = input.all(|input| (op(input), input.step()));
        expect(model::keeps_its_promise(numbers, start, work));
    }
}

fn op(input: &mut Input<'_>) -> Op {
    match input.upto(7) {
        0..=3 => Op::First,
        4..=6 => Op::Retry(input.between(1, 3_000)),
        _ => Op::Hedge,
    }
}
