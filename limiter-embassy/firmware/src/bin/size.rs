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
        limiter::every_operation(core::hint::black_box(&limiter::LIMITER));
        #[cfg(feature = "size-dependency")]
        dependency::every_operation();
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

#[cfg(any(feature = "size-limiter", feature = "size-dependency"))]
mod limiter {
    use core::hint::black_box;

    #[cfg(not(feature = "size-knee"))]
    pub use limiter_core::law::Aimd as Law;
    #[cfg(feature = "size-knee")]
    pub use limiter_core::law::Knee as Law;
    use limiter_core::{Limiter, Outcome, Ticks, Timestamp};

    #[cfg(feature = "size-limiter")]
    pub static LIMITER: Limiter<Law> = Limiter::new(limiter_core::Config::new(
        Law::new(),
        limiter_core::TickRate::MILLIS,
    ));

    pub fn now() -> Timestamp {
        Timestamp::from_ticks(black_box(0))
    }

    fn outcome() -> Outcome {
        black_box(Outcome::Success)
    }

    pub fn every_operation(limiter: &Limiter<Law>) {
        if let Ok(permit) = limiter.try_acquire(now()) {
            black_box(&permit.finish(outcome(), now()));
        }
        if let Ok(permit) = limiter.try_acquire_from_isr(now()) {
            black_box(&permit.finish_from_isr(outcome(), now()));
        }
        if let Ok(slot) = limiter.admit(now()) {
            black_box(&limiter.observe(&slot, outcome(), now()));
            black_box(&limiter.release(slot));
        }
        if let Ok(slot) = limiter.admit_waiter(now()) {
            black_box(&limiter.settle(slot, outcome(), now()));
        }
        black_box(&limiter.tend(now()));
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
        black_box(&limiter.close());
        #[cfg(feature = "size-seeded")]
        super::seeded::everything_forbidden();
    }
}

#[cfg(feature = "size-dependency")]
mod dependency {
    use core::hint::black_box;
    use core::time::Duration;

    use limiter_core::{
        Call, CallOptions, Config, Dependency, DependencyConfig, Ending, Journal, Policy, Random,
        Record, TickRate, Ticks, Tokens,
    };

    use super::limiter::{Law, every_operation as every_operation_of_its_limiter, now};

    #[cfg(not(feature = "size-histogram"))]
    type Latencies = ();
    #[cfg(feature = "size-histogram")]
    type Latencies = limiter_core::LatencyHistogram;

    static POLICY: Policy = Policy::new(DependencyConfig::new(TickRate::MILLIS));
    type Whole = Dependency<Law, Latencies, &'static Policy>;
    static DEPENDENCY: Whole =
        Dependency::sharing(Config::new(Law::new(), TickRate::MILLIS), &POLICY);
    static RANDOM: Random = Random::new(1);

    pub fn every_operation() {
        let dependency = black_box(&DEPENDENCY);
        every_operation_of_its_limiter(dependency.limiter());
        let options = CallOptions::new()
            .total(Ticks::new(black_box(9)))
            .attempts(black_box(3));
        every_operation_of_a_call(dependency, dependency.call(now(), options));
        let budget = dependency.budget();
        black_box(budget.deposit());
        black_box(budget.withdraw(Tokens::milli(black_box(1)), now()).is_ok());
        black_box(budget.balance(now()));
        black_box(&dependency.snapshot(now()));

        let places = black_box(&[[0_u8; Record::SIZE]; 2]);
        let (mut journal, found) = Journal::open(&places[0], &places[1]);
        black_box(&dependency.revive(found, Duration::from_secs(black_box(2)), now()));
        black_box(&journal.write(dependency.save(now())));
    }

    fn every_operation_of_a_call(dependency: &Whole, mut call: Call<&Whole>) {
        black_box(&call.step(now(), RANDOM.word()));
        let ending = match black_box(0) {
            0 => Ending::success(),
            1 => Ending::overload().retry_after(Ticks::new(black_box(9))),
            2 => Ending::failure().do_not_retry(),
            3 => Ending::permanent(),
            4 => Ending::timeout(),
            _ => Ending::ignored(),
        };
        call.finish(black_box(1), ending, now(), RANDOM.word());
        if let Ok(slot) = dependency.limiter().admit(now()) {
            black_box(&call.step_with(slot, now(), RANDOM.word()));
        }
        black_box(&call.take_events());
        black_box(&call.carried(now()));
        black_box(&call.abandon(now()));
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
