//! What the binaries share: the boards that QEMU emulates, a clock for `embassy-time` on SysTick, three
//! timers that interrupt one another, a serial port, and the host behind the debugger's semihosting.

#![no_std]

pub mod clock;
pub mod frame;
pub mod host;
pub mod timers;
pub mod uart;
