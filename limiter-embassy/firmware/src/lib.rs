//! What the binaries share: the boards that QEMU emulates, a clock for `embassy-time` on SysTick, three
//! timers that interrupt one another, and the host behind the debugger's semihosting.

#![no_std]

pub mod clock;
pub mod host;
pub mod timers;
