//! All there is to measure.

use super::case::Case;
use super::peers::{breakers, budgets, limits, services};
use super::{ours, raw};

/// Two seconds: the default law has seen some of its phases, which decide how many permits are timed.
const SETTLED: u64 = 200_000;
/// The same by a clock that runs: half a second and more under callgrind.
const SETTLED_BY_CLOCK: u64 = 300_000;

/// Every case, the library's first in each operation.
pub const CASES: &[Case] = &[
    Case::new("raw", "pair", raw::pair),
    Case::new("acquire-finish", "limiter", ours::acquire_finish).after(SETTLED),
    Case::new("acquire-finish", "tokio", limits::tokio),
    Case::new(
        "acquire-finish",
        "throttle-net-bulkhead",
        limits::throttle_net_bulkhead,
    ),
    Case::new("acquire-finish", "governor", limits::governor),
    Case::new("acquire-finish", "throttle-net", limits::throttle_net),
    Case::new(
        "acquire-finish",
        "congestion-limiter",
        limits::congestion_limiter,
    ),
    Case::new("admit-class", "limiter", ours::admit_class).after(SETTLED),
    Case::new("admit-partition", "limiter", ours::admit_partition).after(SETTLED),
    Case::new("refuse", "limiter", ours::refuse),
    Case::new("refuse", "tokio", limits::tokio_refuse),
    Case::new("refuse", "governor", limits::governor_refuse),
    Case::new("refuse", "throttle-net", limits::throttle_net_refuse),
    Case::new(
        "refuse",
        "congestion-limiter",
        limits::congestion_limiter_refuse,
    ),
    Case::new("refuse", "tower", services::tower_refuse),
    Case::new("breaker", "limiter", ours::breaker_consecutive),
    Case::new("breaker", "failsafe", breakers::failsafe_consecutive),
    Case::new("breaker", "recloser", breakers::recloser),
    Case::new(
        "breaker",
        "tower-resilience",
        breakers::tower_resilience_consecutive,
    ),
    Case::new("breaker-ratio", "limiter", ours::breaker_ratio),
    Case::new("breaker-ratio", "failsafe", breakers::failsafe_ratio),
    Case::new("breaker-ratio", "recloser", breakers::recloser),
    Case::new(
        "breaker-ratio",
        "tower-resilience",
        breakers::tower_resilience_ratio,
    ),
    Case::new("deposit-withdraw", "limiter", ours::deposit_withdraw),
    Case::new("deposit-withdraw", "tower", budgets::tower),
    Case::new(
        "deposit-withdraw",
        "tower-resilience",
        budgets::tower_resilience_aimd,
    ),
    Case::new(
        "deposit-withdraw",
        "tower-resilience-bucket",
        budgets::tower_resilience_bucket,
    ),
    Case::new("deposit-withdraw", "throttle-net", budgets::throttle_net),
    Case::new("deposit-full", "limiter", ours::deposit_full),
    Case::new("dependency", "limiter", ours::dependency).after(SETTLED),
    Case::new("std-clock", "limiter", ours::std_clock).after(SETTLED_BY_CLOCK),
    Case::new("std-clock", "throttle-net", limits::throttle_net),
    Case::new(
        "std-clock",
        "congestion-limiter",
        limits::congestion_limiter,
    ),
    Case::new("std-refuse", "limiter", ours::std_refuse),
    Case::new("tower", "limiter", ours::tower).after(SETTLED_BY_CLOCK),
    Case::new("tower", "tower-limit", services::tower_limit),
    Case::new("tower", "tower", services::tower),
    Case::new("tower", "little-loadshedder", services::little_loadshedder),
    Case::new("tower", "tower-resilience", services::tower_resilience),
    Case::new(
        "tower",
        "tower-resilience-bulkhead",
        services::tower_resilience_bulkhead,
    ),
    Case::new("window-close", "limiter", ours::window_close),
];

/// The case with these names.
pub fn find(op: &str, who: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.op == op && case.who == who)
}

/// The operations, in the order of the table.
pub fn operations() -> Vec<&'static str> {
    let mut found: Vec<_> = CASES.iter().map(|case| case.op).collect();
    found.dedup();
    found
}
