//! A budget against a plain one, and its promise over every interval, whatever the clock does.

use core::time::Duration;
use limiter_core::{BudgetConfig, RetryBudget, TickRate, Timestamp, Tokens};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_ticks(millis)
}

pub(crate) fn budget(config: BudgetConfig) -> RetryBudget {
    RetryBudget::new(config, TickRate::MILLIS)
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    First,
    Retry(u32),
    Hedge,
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => Just(Op::First),
        3 => (1u32..=3_000).prop_map(Op::Retry),
        1 => Just(Op::Hedge),
    ]
}

/// What a budget is built from, in numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub(crate) capacity: u32,
    pub(crate) ratio: u32,
    /// Thousandths in so many milliseconds.
    pub(crate) floor: Option<(u32, u64)>,
}

impl Numbers {
    fn config(self) -> BudgetConfig {
        let config = BudgetConfig::new()
            .capacity(Tokens::milli(self.capacity))
            .ratio(self.ratio);
        match self.floor {
            Some((milli, millis)) => {
                config.floor(Tokens::milli(milli), Duration::from_millis(millis))
            }
            None => config.without_floor(),
        }
    }

    /// What the floor gives in so many milliseconds, rounded up.
    fn given(self, millis: u64) -> u128 {
        self.floor.map_or(0, |(milli, period)| {
            (u128::from(millis) * u128::from(milli)).div_ceil(period.into())
        })
    }

    /// The most that an interval with so many first attempts may withdraw.
    fn most(self, firsts: u64, millis: u64) -> u128 {
        let capacity = u128::from(self.capacity);
        capacity + u128::from(self.ratio) * u128::from(firsts) + self.given(millis) + 1
    }
}

fn numbers() -> impl Strategy<Value = Numbers> {
    let floor = proptest::option::of((1u32..=1_000_000, 1u64..=100_000_000));
    (1_000u32..=1_000_000, 0u32..=1_000, floor).prop_map(|(capacity, ratio, floor)| Numbers {
        capacity,
        ratio,
        floor,
    })
}

/// Steps of a clock that stands still, runs, jumps, steps back and wraps.
fn steps() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => Just(0i64),
        6 => 0i64..100,
        3 => 0i64..100_000,
        1 => 0i64..10_000_000_000,
        2 => -100i64..0,
        1 => -200_000i64..0,
        1 => -10_000_000_000i64..0,
    ]
}

/// A plain budget in exact fractions of a token, at an honest clock.
struct Model {
    /// Thousandths times `per`.
    balance: u128,
    capacity: u128,
    ratio: u128,
    milli: u128,
    per: u128,
}

/// A budget with a floor of `milli` in each `period` against the plain one, time passing before each operation.
pub(crate) fn is_the_plain_budget(
    (capacity, ratio): (u32, u32),
    (milli, period): (u32, u64),
    work: Vec<(Op, u64)>,
) -> TestCaseResult {
    let config = BudgetConfig::new()
        .capacity(Tokens::milli(capacity))
        .ratio(ratio)
        .floor(Tokens::milli(milli), Duration::from_millis(period));
    let budget = budget(config);
    let per = u128::from(period);
    let mut model = Model {
        balance: u128::from(capacity) * per,
        capacity: u128::from(capacity) * per,
        ratio: u128::from(ratio) * per,
        milli: milli.into(),
        per,
    };
    let (mut now, mut given) = (0, 0);
    for (op, passed) in work {
        now += passed;
        // A floor that gives millions of tokens between two withdrawals looks like a clock that was set back.
        given += u128::from(passed) * model.milli / model.per;
        if given > 1 << 30 {
            prop_assert!(budget.withdraw(Tokens::milli(0), at(now)).is_ok());
            given = 0;
        }
        model.balance = (model.balance + u128::from(passed) * model.milli).min(model.capacity);
        let have = budget.balance(at(now)).get();
        let exact = model.balance / model.per;
        // Two thousandths for the parts of one, and what the floor rounds off.
        let slack = 2 + u128::from(now) * model.milli / model.per / 100_000;
        prop_assert!(
            (exact.saturating_sub(slack)..=exact + 1).contains(&have.into()),
            "{have} for {exact}"
        );
        let taken = match op {
            Op::First => {
                budget.deposit();
                model.balance = (model.balance + model.ratio).min(model.capacity);
                0
            }
            Op::Retry(cost) => {
                let allowed = budget.withdraw(Tokens::milli(cost), at(now)).is_ok();
                prop_assert_eq!(allowed, cost <= have);
                if allowed { cost } else { 0 }
            }
            Op::Hedge => {
                let allowed = budget.withdraw_hedge(Tokens::ONE, at(now)).is_ok();
                prop_assert_eq!(allowed, have > capacity / 2 && have >= 1_000);
                if allowed { 1_000 } else { 0 }
            }
        };
        model.balance = model.balance.saturating_sub(u128::from(taken) * model.per);
    }
    Ok(())
}

/// Whether more is withdrawn than is paid for in any interval, the clock doing such steps.
pub(crate) fn keeps_its_promise(
    numbers: Numbers,
    start: u64,
    work: Vec<(Op, i64)>,
) -> TestCaseResult {
    let budget = budget(numbers.config());
    let mut clock = start;
    // When a withdrawal last looked at the clock; deposits do not.
    let mut looked = start;
    // Per operation: time that passed before it, whether it may look like more, what it withdrew, whether it was
    // a first attempt.
    let mut log = Vec::new();
    for (op, step) in work {
        clock = clock.wrapping_add_signed(step);
        let passed = u64::try_from(step).unwrap_or(0);
        // What the floor gives in half the range of the word looks like the other half.
        let moved = (clock.wrapping_sub(looked) as i64).unsigned_abs();
        let wild = numbers.given(moved) >= 1 << 30;
        if !matches!(op, Op::First) {
            looked = clock;
        }
        let now = at(clock);
        let (taken, first) = match op {
            Op::First => {
                prop_assert!(budget.deposit().get() <= numbers.capacity);
                (0, 1)
            }
            Op::Retry(cost) => (
                if budget.withdraw(Tokens::milli(cost), now).is_ok() {
                    cost
                } else {
                    0
                },
                0,
            ),
            Op::Hedge => (
                if budget.withdraw_hedge(Tokens::ONE, now).is_ok() {
                    1_000
                } else {
                    0
                },
                0,
            ),
        };
        log.push((passed, wild, u64::from(taken), first));
    }
    for begin in 0..log.len() {
        let (mut time, mut taken, mut firsts, mut full) = (0u64, 0u64, 0u64, 0u64);
        for (index, (passed, wild, cost, first)) in log[begin..].iter().enumerate() {
            // The interval begins with its first operation.
            if index > 0 {
                time = time.saturating_add(*passed);
                full += u64::from(*wild);
            }
            taken += cost;
            let paid = numbers.most(firsts, time) + u128::from(full * u64::from(numbers.capacity));
            prop_assert!(u128::from(taken) <= paid, "{taken} of {paid} in {time} ms");
            firsts += first;
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn at_an_honest_clock_it_is_the_plain_budget(
        capacity in 1_000u32..=1_000_000,
        ratio in 0u32..=1_000,
        milli in 1u32..=100_000,
        period in 1u64..=1_000_000,
        work in prop::collection::vec((ops(), 0u64..5_000), 1..200),
    ) {
        is_the_plain_budget((capacity, ratio), (milli, period), work)?;
    }

    #[test]
    fn over_any_interval_no_more_is_withdrawn_than_capacity_ratio_and_floor(
        numbers in numbers(),
        start in prop_oneof![Just(0u64), Just(u64::MAX - 50), Just((1 << 32) - 500), any::<u64>()],
        work in prop::collection::vec((ops(), steps()), 1..150),
    ) {
        keeps_its_promise(numbers, start, work)?;
    }
}
