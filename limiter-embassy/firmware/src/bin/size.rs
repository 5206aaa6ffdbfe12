//! What the library costs in flash: every operation is called with inputs that the compiler cannot know.
//! `cargo xtask size` takes the difference to the same binary with none of the `size-` features.
//!
//! Nothing runs this: it is linked and looked at.

#![no_std]
#![no_main]

use core::hint::black_box;
use core::panic::PanicInfo;

// For its implementation of `critical-section`, where that is the back end.
#[cfg(feature = "critical-section")]
use cortex_m as _;
use cortex_m_rt::entry;

#[entry]
fn main() -> ! {
    loop {
        black_box(0_u32);
        #[cfg(feature = "size-limiter")]
        limiter::every_operation();
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

#[cfg(feature = "size-limiter")]
mod limiter {
    use core::hint::black_box;

    #[cfg(not(feature = "size-knee"))]
    use limiter_core::law::Aimd as Law;
    #[cfg(feature = "size-knee")]
    use limiter_core::law::Knee as Law;
    use limiter_core::{Config, Limiter, Outcome, TickRate, Ticks, Timestamp};

    static LIMITER: Limiter<Law> = Limiter::new(Config::new(Law::new(), TickRate::MILLIS));

    fn now() -> Timestamp {
        Timestamp::from_ticks(black_box(0))
    }

    fn outcome() -> Outcome {
        black_box(Outcome::Success)
    }

    pub fn every_operation() {
        let limiter = black_box(&LIMITER);
        if let Ok(permit) = limiter.try_acquire(now()) {
            black_box(permit.finish(outcome(), now()));
        }
        if let Ok(permit) = limiter.try_acquire_from_isr(now()) {
            black_box(permit.finish_from_isr(outcome(), now()));
        }
        if let Ok(slot) = limiter.admit(now()) {
            black_box(limiter.observe(&slot, outcome(), now()));
            black_box(limiter.release(slot));
        }
        if let Ok(slot) = limiter.admit_waiter(now()) {
            black_box(limiter.settle(slot, outcome(), now()));
        }
        black_box(limiter.tend(now()));
        black_box(&limiter.snapshot());
        black_box(limiter.set_limit(black_box(1), now()).is_ok());
        black_box(
            limiter
                .set_bounds(black_box(1), black_box(9), now())
                .is_ok(),
        );
        limiter.set_wall_offset(Ticks::new(black_box(0)));
        limiter.set_waiting();
        black_box(limiter.has_room());
        limiter.clear_waiting();
        black_box(limiter.close());
        #[cfg(feature = "size-seeded")]
        super::seeded::everything_forbidden();
    }
}

/// What the gate on symbols has to find: a 64-bit division, a float, a panic and formatted text.
#[cfg(feature = "size-seeded")]
mod seeded {
    use core::fmt::Write;
    use core::hint::black_box;

    struct Nowhere;

    impl Write for Nowhere {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            black_box(text);
            Ok(())
        }
    }

    pub fn everything_forbidden() {
        black_box(black_box(1_u64) / black_box(3_u64));
        black_box(black_box(1.0_f32) * black_box(3.0_f32));
        black_box(black_box(1.0_f64) + black_box(3.0_f64));
        black_box([0_u8; 4][black_box(5)]);
        let _ = write!(Nowhere, "{}", black_box(1_u32));
    }
}
