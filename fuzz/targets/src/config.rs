//! Every configuration: what is wrong is said, what is right works.

use crate::input::Input;
use crate::laws::{law, rate};
use core::time::Duration;
use limiter_core::{
    Backoff, BreakerConfig, BudgetConfig, CallOptions, Config, Dependency, DependencyConfig,
    Ending, Jitter, LatencyHistogram, Step, ThrottleConfig, TickRate, Timestamp, Tokens,
};

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let input = &mut input;
    let rate = rate(input);
    let law = law(input);
    let limiter = Config::new(law, rate)
        .initial(number(input, 10))
        .min(number(input, 1))
        .max(number(input, 1_000))
        .min_samples(number(input, 10))
        .overload_tolerance(number(input, 20))
        .urgent_overloads(number(input, 5))
        .windows(time(input, 10), time(input, 1_000));
    let policy = policy(input, rate);
    let right = limiter.check().and(policy.check());
    let dependency = Dependency::<_, LatencyHistogram>::try_new(limiter, policy);
    match (right, dependency) {
        (Ok(()), Ok(dependency)) => use_it(input, &dependency),
        (Err(error), Err(_)) => assert!(!error.field().is_empty()),
        (checked, made) => panic!("checked {checked:?}, made {:?}", made.map(drop)),
    }
}

/// Mostly what works, else anything.
fn number(input: &mut Input<'_>, usual: u32) -> u32 {
    match input.upto(15) {
        0 => 0,
        1 => input.any(),
        2 => input.between(0, 1_100),
        _ => usual,
    }
}

fn time(input: &mut Input<'_>, usual: u64) -> Duration {
    match input.upto(15) {
        0 => Duration::ZERO,
        1 => Duration::from_millis(input.odd()),
        2 => Duration::from_nanos(input.odd()),
        3 => Duration::MAX,
        _ => Duration::from_millis(usual),
    }
}

fn policy(input: &mut Input<'_>, rate: TickRate) -> DependencyConfig {
    let budget = BudgetConfig::new()
        .capacity(Tokens::milli(number(input, 10_000)))
        .ratio(number(input, 100))
        .floor(Tokens::milli(number(input, 1_000)), time(input, 10_000));
    let row = Some(number(input, 10)).filter(|_| input.any());
    let share = Some(number(input, 800)).filter(|_| input.any());
    let breaker = BreakerConfig::new()
        .consecutive(row)
        .failure_share(share)
        .volume(number(input, 20))
        .window(time(input, 10_000))
        .open(time(input, 5_000), time(input, 60_000))
        .probes(number(input, 3))
        .probe_time(time(input, 10_000));
    let throttle = ThrottleConfig::new()
        .window(time(input, 10_000))
        .slack_q8(number(input, 512))
        .protect(number(input, 10))
        .most(number(input, 900));
    let jitter = input.one(&[Jitter::Decorrelated, Jitter::Full]);
    let (base, cap) = (time(input, 100), time(input, 10_000));
    let backoff = Backoff::try_new(jitter, base, cap, rate);
    DependencyConfig::new(rate)
        .budget(budget)
        .breaker(breaker)
        .throttle(Some(throttle).filter(|_| input.any()))
        .backoff(backoff.unwrap_or(Backoff::standard(rate)))
        .attempts(number(input, 3))
        .total(time(input, 10_000))
        .timeout(time(input, 1_000))
        .timeout_bounds(time(input, 10), time(input, 5_000))
        .timeout_quantile(number(input, 990), number(input, 500), number(input, 100))
        .hedge(number(input, 950), time(input, 50))
        .retry_cost(Tokens::milli(number(input, 1_000)))
        .timeout_cost(Tokens::milli(number(input, 1_000)))
        .pushback_cost(Tokens::milli(number(input, 1_000)))
        .waiting(number(input, 100))
}

type Made = Dependency<limiter_core::law::AnyLaw, LatencyHistogram>;

fn use_it(input: &mut Input<'_>, dependency: &Made) {
    let mut clock = input.odd();
    while !input.is_empty() {
        let options = CallOptions::new();
        let options = if input.any() {
            options.hedge()
        } else {
            options
        };
        let mut call = dependency.call(Timestamp::from_ticks(clock), options);
        for _ in 0..input.upto(12) {
            clock = clock.wrapping_add_signed(input.step());
            let now = Timestamp::from_ticks(clock);
            if let Step::Attempt(attempt) = call.step(now, input.any()) {
                clock = clock.wrapping_add(input.upto(attempt.timeout.get()));
                let endings = [Ending::success(), Ending::overload(), Ending::timeout()];
                let ended = Timestamp::from_ticks(clock);
                call.finish(attempt.number, input.one(&endings), ended, input.any());
            }
        }
        drop(call);
        let seen = dependency.snapshot(Timestamp::from_ticks(clock));
        assert_eq!((seen.limiter.inflight, seen.backing_off), (0, 0));
    }
}
