//! A time driver on SysTick: one interrupt for each tick of a millisecond.

use core::cell::{Cell, RefCell};
use core::task::Waker;

use cortex_m::Peripherals;
use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m_rt::exception;
use critical_section::Mutex;
use embassy_time_driver::{Driver, TICK_HZ};
use embassy_time_queue_utils::Queue;

/// The clock of the core as QEMU emulates it.
pub const CORE_HZ: u32 = if cfg!(board = "microbit") {
    16_000_000
} else if cfg!(board = "lm3s6965evb") {
    12_500_000
} else {
    25_000_000
};

struct SysTickDriver {
    now: Mutex<Cell<u64>>,
    timers: Mutex<RefCell<Queue>>,
}

embassy_time_driver::time_driver_impl!(static DRIVER: SysTickDriver = SysTickDriver {
    now: Mutex::new(Cell::new(0)),
    timers: Mutex::new(RefCell::new(Queue::new())),
});

impl Driver for SysTickDriver {
    fn now(&self) -> u64 {
        critical_section::with(|cs| self.now.borrow(cs).get())
    }

    fn schedule_wake(&self, at: u64, waker: &Waker) {
        // The next tick looks at it.
        critical_section::with(|cs| {
            self.timers.borrow_ref_mut(cs).schedule_wake(at, waker);
        });
    }
}

#[exception]
fn SysTick() {
    critical_section::with(|cs| {
        let now = DRIVER.now.borrow(cs);
        now.set(now.get().saturating_add(1));
        DRIVER.timers.borrow_ref_mut(cs).next_expiration(now.get());
    });
}

/// Starts the ticks.
pub fn start(peripherals: &mut Peripherals) {
    let syst = &mut peripherals.SYST;
    syst.set_clock_source(SystClkSource::Core);
    syst.set_reload(CORE_HZ / TICK_HZ as u32 - 1);
    syst.clear_current();
    syst.enable_counter();
    syst.enable_interrupt();
}

/// Moves the clock to `ticks`, as a device that slept through the time between.
pub fn set(ticks: u64) {
    critical_section::with(|cs| DRIVER.now.borrow(cs).set(ticks));
}

/// SysTick as a counter of its own, without interrupts: for counting instructions.
pub fn count(syst: &mut SYST) {
    syst.set_clock_source(SystClkSource::Core);
    syst.disable_interrupt();
    syst.set_reload(0x00ff_ffff);
    syst.clear_current();
    syst.enable_counter();
}
