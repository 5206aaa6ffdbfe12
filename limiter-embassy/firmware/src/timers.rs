//! Three timers of the board whose interrupts nest: the second interrupts the first, the third both.

use core::ptr::{read_volatile, write_volatile};

use cortex_m::Peripherals;
use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::NVIC;

pub const TIMERS: usize = 3;

struct Timer {
    base: usize,
    irq: u16,
    kind: Kind,
}

#[allow(dead_code, reason = "each board has some")]
enum Kind {
    /// nRF51 TIMER.
    Nordic,
    /// Stellaris general-purpose timer.
    Stellaris,
    /// Arm CMSDK APB timer.
    Cmsdk,
    /// Arm CMSDK dual timer, its first half.
    CmsdkDual,
}

const fn timer(base: usize, irq: u16, kind: Kind) -> Timer {
    Timer { base, irq, kind }
}

#[cfg(board = "microbit")]
static BOARD: [Timer; TIMERS] = [
    timer(0x4000_8000, 8, Kind::Nordic),
    timer(0x4000_9000, 9, Kind::Nordic),
    timer(0x4000_a000, 10, Kind::Nordic),
];
#[cfg(board = "lm3s6965evb")]
static BOARD: [Timer; TIMERS] = [
    timer(0x4003_0000, 19, Kind::Stellaris),
    timer(0x4003_1000, 21, Kind::Stellaris),
    timer(0x4003_2000, 23, Kind::Stellaris),
];
#[cfg(board = "mps2-an386")]
static BOARD: [Timer; TIMERS] = [
    timer(0x4000_0000, 8, Kind::Cmsdk),
    timer(0x4000_1000, 9, Kind::Cmsdk),
    timer(0x4000_2000, 10, Kind::CmsdkDual),
];

#[derive(Clone, Copy)]
struct Irq(u16);

// SAFETY: the number is the one of the board's table and does not change.
unsafe impl InterruptNumber for Irq {
    fn number(self) -> u16 {
        self.0
    }
}

impl Timer {
    fn write(&self, offset: usize, value: u32) {
        // SAFETY: a register of the board's table; nothing else drives these timers.
        unsafe { write_volatile((self.base + offset) as *mut u32, value) }
    }

    fn read(&self, offset: usize) -> u32 {
        // SAFETY: as above.
        unsafe { read_volatile((self.base + offset) as *const u32) }
    }

    fn start(&self, reload: u32) {
        match self.kind {
            Kind::Nordic => {
                self.write(0x540, reload);
                self.write(0x200, 1);
                self.write(0x304, 1 << 16);
                self.write(0x000, 1);
            }
            Kind::Stellaris => {
                self.write(0x000, 0);
                self.write(0x004, 2);
                self.write(0x028, reload);
                self.write(0x018, 1);
                self.write(0x00c, 1);
            }
            Kind::Cmsdk => {
                self.write(0x008, reload);
                self.write(0x004, reload);
                self.write(0x000, 1 << 3 | 1);
            }
            Kind::CmsdkDual => {
                self.write(0x000, reload);
                self.write(0x008, 1 << 7 | 1 << 6 | 1 << 5 | 1 << 1);
            }
        }
    }

    /// Stops it, at the beginning of its period.
    fn halt(&self) {
        match self.kind {
            Kind::Nordic => {
                self.write(0x004, 1);
                self.write(0x00c, 1);
            }
            Kind::Stellaris => self.write(0x00c, 0),
            Kind::Cmsdk => self.write(0x000, 0),
            Kind::CmsdkDual => self.write(0x008, 0),
        }
    }

    fn acknowledge(&self) {
        match self.kind {
            Kind::Nordic => {
                self.write(0x140, 0);
                self.read(0x140);
            }
            Kind::Stellaris => self.write(0x024, 1),
            Kind::Cmsdk | Kind::CmsdkDual => self.write(0x00c, 1),
        }
    }
}

/// Starts the timers, each with its period in ticks of its clock, at rising priorities above SysTick.
pub fn start(peripherals: &mut Peripherals, reloads: [u32; TIMERS]) {
    for ((timer, reload), priority) in BOARD.iter().zip(reloads).zip([0x80, 0x40, 0x00]) {
        // SAFETY: no critical section relies on priorities: all of them mask every interrupt.
        unsafe {
            peripherals.NVIC.set_priority(Irq(timer.irq), priority);
            NVIC::unmask(Irq(timer.irq));
        }
        timer.start(reload);
    }
    // SAFETY: as above. The lowest there is.
    unsafe {
        use cortex_m::peripheral::scb::SystemHandler;
        peripherals.SCB.set_priority(SystemHandler::SysTick, 0xc0);
    }
}

/// Starts the third timer alone, above everything else: its first interrupt comes after `ticks` of its clock.
pub fn once(ticks: u32) {
    let [.., timer] = &BOARD;
    // SAFETY: no critical section relies on this mask: all of them mask every interrupt.
    unsafe { NVIC::unmask(Irq(timer.irq)) };
    timer.start(ticks);
}

/// No more interrupts from any of them, until they are started again.
pub fn stop() {
    for timer in &BOARD {
        NVIC::mask(Irq(timer.irq));
        timer.halt();
        timer.acknowledge();
        NVIC::unpend(Irq(timer.irq));
    }
}

/// Which timer an interrupt came from; clears it.
pub fn acknowledge(irq: i16) -> Option<usize> {
    let index = BOARD
        .iter()
        .position(|timer| i16::try_from(timer.irq) == Ok(irq))?;
    BOARD[index].acknowledge();
    Some(index)
}
