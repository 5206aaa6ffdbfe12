//! Logical calls: what is tried again and what is not, hedges, time, and what every way to end gives back.

#![cfg(not(limiter_loom))]

#[path = "call/counts.rs"]
mod counts;
#[path = "call/ends.rs"]
mod ends;
#[path = "call/hedges.rs"]
mod hedges;
#[path = "call/model.rs"]
mod model;
#[path = "call/retries.rs"]
mod retries;
#[path = "call/rules.rs"]
mod rules;

use model::{RATE, at, fixed, milli, plain_budget};

use core::time::Duration;
use limiter_core::law::{Aimd, Fixed};
use limiter_core::{
    Attempt, Backoff, BreakerConfig, BudgetConfig, Call, CallOptions, Config, Dependency,
    DependencyConfig, Depends, Ending, GiveUp, Jitter, Latencies, Step, Ticks,
};

/// The random word of calls where the delays do not matter.
const WORD: u32 = 0x8000_0000;

/// Delays of exactly a second, three attempts in ten seconds, no throttle, a breaker that never opens.
fn plain() -> DependencyConfig {
    let second = Duration::from_secs(1);
    DependencyConfig::new(RATE)
        .backoff(Backoff::new(Jitter::Decorrelated, second, second, RATE))
        .breaker(BreakerConfig::new().consecutive(None).failure_share(None))
        .throttle(None)
}

fn adaptive(config: DependencyConfig) -> Dependency<Aimd> {
    Dependency::new(Config::new(Aimd::new(), RATE), config)
}

fn begin<L: limiter_core::law::Law, H: Latencies>(
    dependency: &Dependency<L, H>,
    now: u64,
) -> Call<&Dependency<L, H>> {
    dependency.call(at(now), CallOptions::new())
}

fn step<D: Depends>(call: &mut Call<D>, now: u64) -> Step {
    call.step(at(now), WORD)
}

fn attempt<D: Depends>(call: &mut Call<D>, now: u64) -> Attempt {
    match step(call, now) {
        Step::Attempt(attempt) => attempt,
        other => panic!("{other:?} at {now}"),
    }
}

fn wait<D: Depends>(call: &mut Call<D>, now: u64) -> u64 {
    match step(call, now) {
        Step::Wait(until) => until.ticks(),
        other => panic!("{other:?} at {now}"),
    }
}

fn gives_up<D: Depends>(call: &mut Call<D>, now: u64) -> GiveUp {
    match step(call, now) {
        Step::GiveUp(why) => why,
        other => panic!("{other:?} at {now}"),
    }
}

fn end<D: Depends>(call: &mut Call<D>, attempt: Attempt, ending: Ending, now: u64) {
    call.finish(attempt.number, ending, at(now), WORD);
}

/// An attempt that ends at once.
fn fail<D: Depends>(call: &mut Call<D>, ending: Ending, now: u64) {
    let attempt = attempt(call, now);
    end(call, attempt, ending, now);
}

fn ticks(millis: u64) -> Ticks {
    Ticks::new(millis)
}
