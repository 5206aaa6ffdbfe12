//! The clock passes the wrap of every stamp that is stored, and years go by between: nothing jumps,
//! nothing stalls.
//!
//! Stamps are 32 bits of a 64-bit clock that is shifted right, so each wraps at some power of two.

#![no_std]
#![no_main]

use cortex_m::Peripherals;
use embassy_executor::Spawner;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_time::{Duration, Instant, TICK_HZ, Timer};
use firmware::{clock, host};
use limiter_embassy::law::Aimd;
use limiter_embassy::{Limiter, Outcome, RejectReason, config};

const MOST: u32 = 16;
/// A window of four round trips adds a slot for each; one more may straddle its ends.
const STEP: u32 = 5;
const WINDOW: core::time::Duration = core::time::Duration::from_millis(20);
const YEAR: u64 = 365 * 24 * 3_600 * TICK_HZ;

static LIMITER: Limiter<CriticalSectionRawMutex, Aimd, 2> = Limiter::new(
    config(Aimd::new().without_ramp())
        .initial(2)
        .max(MOST)
        .min_samples(4)
        .windows(WINDOW, WINDOW),
);

/// One round trip of 5 ms with the limit full, and one refusal beyond it.
async fn round() {
    let mut permits = [const { None }; MOST as usize];
    let limit = LIMITER.snapshot().limit;
    for place in permits.iter_mut().take(limit as usize) {
        *place = LIMITER.try_acquire().ok();
        host::check(place.is_some(), "refused below the limit");
    }
    host::check(LIMITER.try_acquire().is_err(), "admitted above the limit");
    Timer::after(Duration::from_millis(5)).await;
    for permit in permits.into_iter().flatten() {
        permit.finish(Outcome::Success);
    }
}

/// Windows go on closing: under load the limit grows by steps, to the most and no further.
async fn grows(what: &str) {
    let start = Instant::now();
    host::check(LIMITER.set_limit(2).is_ok(), "the limit cannot be set");
    // The open window still has successes of the limit before: let it close.
    while LIMITER.snapshot().window_successes > 2 {
        round().await;
        host::check(LIMITER.set_limit(2).is_ok(), "the limit cannot be set");
        host::check(start.elapsed() < Duration::from_secs(1), "a window stalls");
    }
    let mut before = 2;
    while before < MOST {
        round().await;
        let limit = LIMITER.snapshot().limit;
        host::check(
            (before..=before + STEP).contains(&limit),
            "the limit jumped",
        );
        before = limit;
        host::check(
            start.elapsed() < Duration::from_secs(1),
            "the windows stall",
        );
    }
    round().await;
    host::check(
        LIMITER.snapshot().limit == MOST,
        "the limit left its bounds",
    );
    host::check(LIMITER.snapshot().inflight == 0, "slots were lost");
    host::hprintln!("{}: grew from 2 to {}", what, MOST);
}

/// Waiting in line ends when it was told to.
async fn times_out() {
    host::check(LIMITER.set_limit(1).is_ok(), "the limit cannot be set");
    let Ok(held) = LIMITER.try_acquire() else {
        host::exit(Err("refused below the limit"));
    };
    let start = Instant::now();
    let refused = LIMITER.acquire_timeout(Duration::from_millis(50)).await;
    let waited = start.elapsed().as_millis();
    host::check(
        refused.is_err_and(|refused| refused.reason == RejectReason::TimedOut),
        "waited in line for nothing and got a slot",
    );
    host::check(
        (50..60).contains(&waited),
        "waited for another time than it was told",
    );
    held.forget();
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let Some(mut peripherals) = Peripherals::take() else {
        host::exit(Err("the peripherals are gone"));
    };
    clock::start(&mut peripherals);
    grows("at power-on").await;
    // A stamp is at most 32 bits of the clock, and no unit is longer than 2^10 ticks.
    for bits in [31_u32, 32, 33, 34, 36, 38, 40, 42, 48, 63] {
        // In the middle of the growth, and in the middle of a wait.
        clock::set((1 << bits) - 60);
        grows("over a wrap").await;
        clock::set((1 << bits) - 25);
        times_out().await;
    }
    let mut now = Instant::now().as_ticks();
    for years in [1, 10, 100] {
        now += years * YEAR;
        clock::set(now);
        grows("after years asleep").await;
        times_out().await;
    }
    // A clock that steps back loses a window at most.
    clock::set(1_000);
    grows("after a step back").await;
    times_out().await;
    host::hprintln!("nothing jumped, nothing stalled");
    host::exit(Ok(()))
}
