//! What the library writes through defmt: one line for each event, never one for each request.

#![no_std]
#![no_main]

use core::future::poll_fn;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use cortex_m::Peripherals;
use defmt_semihosting as _;
use embassy_executor::Spawner;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_time::{Instant, Timer};
use firmware::{clock, host};
use limiter_embassy::law::Fixed;
use limiter_embassy::{
    BreakerConfig, BudgetConfig, CallOptions, Dependency, Ending, Limiter, Policy, Tokens, config,
    policy,
};

static LIMITER: Limiter<CriticalSectionRawMutex, Fixed> = Limiter::new(config(Fixed).initial(1));

static POLICY: Policy = Policy::new(
    policy()
        .budget(
            BudgetConfig::new()
                .capacity(Tokens::ONE)
                .ratio(0)
                .without_floor(),
        )
        .breaker(BreakerConfig::new().consecutive(Some(4)))
        .throttle(None)
        .attempts(2),
);
static CLOUD: Dependency<CriticalSectionRawMutex, Fixed> =
    Dependency::new(config(Fixed), &POLICY, 1);

/// Calls that all fail, one after the other.
async fn fail(waker: &Waker) {
    for _ in 0..10 {
        let mut call = pin!(CLOUD.call(
            CallOptions::new(),
            |_| Ending::failure(),
            async |_| Err::<(), ()>(()),
        ));
        while call
            .as_mut()
            .poll(&mut Context::from_waker(waker))
            .is_pending()
        {
            Timer::after_millis(100).await;
        }
    }
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let Some(mut peripherals) = Peripherals::take() else {
        host::exit(Err("the peripherals are gone"));
    };
    clock::start(&mut peripherals);
    defmt::info!("a thousand refusals");
    for _ in 0..1_000 {
        if let Ok(permit) = LIMITER.try_acquire() {
            defmt::assert!(LIMITER.try_acquire().is_err());
            permit.forget();
        }
    }
    Timer::after_millis(1_500).await;
    for _ in 0..10 {
        if let Ok(permit) = LIMITER.try_acquire() {
            permit.forget();
        }
    }
    defmt::info!("settings");
    defmt::assert!(LIMITER.set_limit(2).is_ok());
    LIMITER.close();
    defmt::info!("ten calls in vain");
    let waker = poll_fn(|context| Poll::Ready(context.waker().clone())).await;
    fail(&waker).await;
    // Formats of public types.
    defmt::info!("{}", LIMITER.snapshot().reason);
    defmt::info!("{}", LIMITER.try_acquire().map(drop));
    defmt::assert!(Instant::now().as_millis() > 1_000);
    host::exit(Ok(()))
}
