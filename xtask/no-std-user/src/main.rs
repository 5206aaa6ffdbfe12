//! A limiter in a bare-metal binary whose atomics go through a critical section.

#![no_std]
#![no_main]

// For their implementations of `critical-section`.
#[cfg(target_arch = "arm")]
use cortex_m as _;
#[cfg(target_arch = "riscv32")]
use riscv as _;

// Only its feature matters here.
use portable_atomic as _;

use core::panic::PanicInfo;

use limiter_core::law::Knee;
use limiter_core::{Config, Limiter, ManualClock, Outcome, TickRate, Ticks};

static LIMITER: Limiter = Limiter::new(Config::new(Knee::new(), TickRate::MICROS));

/// Where the linker starts. Nothing runs this binary, it only has to link.
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    let clock = ManualClock::new();
    loop {
        if let Ok(permit) = LIMITER.try_acquire(clock.now()) {
            clock.advance(Ticks::new(20_000));
            permit.finish(Outcome::Success, clock.now());
        }
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}
