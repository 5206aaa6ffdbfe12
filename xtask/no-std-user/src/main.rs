//! Links the core into a bare-metal binary whose atomics go through a critical section.

#![no_std]
#![no_main]

// For their implementations of `critical-section`.
#[cfg(target_arch = "arm")]
use cortex_m as _;
#[cfg(target_arch = "riscv32")]
use riscv as _;

use core::panic::PanicInfo;

use limiter_core as _;
use portable_atomic::{AtomicUsize, Ordering};

static WORD: AtomicUsize = AtomicUsize::new(0);

/// Where the linker starts; nothing runs this binary, it only has to link.
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    loop {
        let _ = WORD.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire);
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}
