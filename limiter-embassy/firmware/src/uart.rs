//! The serial port of a board, byte by byte.

use core::ptr::{read_volatile, write_volatile};

#[cfg(board = "microbit")]
const BASE: usize = 0x4000_2000;
#[cfg(board = "lm3s6965evb")]
const BASE: usize = 0x4000_c000;
#[cfg(board = "mps2-an386")]
const BASE: usize = 0x4000_4000;

fn write(offset: usize, value: u32) {
    // SAFETY: a register of the serial port, which only this file drives.
    unsafe { write_volatile((BASE + offset) as *mut u32, value) }
}

fn read(offset: usize) -> u32 {
    // SAFETY: as above.
    unsafe { read_volatile((BASE + offset) as *const u32) }
}

/// Turns it on.
pub fn start() {
    if cfg!(board = "microbit") {
        // nRF51: enable, start to receive, start to send.
        write(0x500, 4);
        write(0x000, 1);
        write(0x008, 1);
    } else if cfg!(board = "lm3s6965evb") {
        // PL011: eight bits with queues; on, both ways.
        write(0x02c, 0x70);
        write(0x030, 0x301);
    } else {
        // CMSDK: a divisor, then both ways.
        write(0x010, 16);
        write(0x008, 3);
    }
}

/// Sends a byte, waiting for room in the port's queue: an emulated port has some at once.
pub fn send(byte: u8) {
    if cfg!(board = "microbit") {
        write(0x11c, 0);
        write(0x51c, byte.into());
        while read(0x11c) == 0 {}
    } else if cfg!(board = "lm3s6965evb") {
        while read(0x018) & 1 << 5 != 0 {}
        write(0x000, byte.into());
    } else {
        while read(0x004) & 1 != 0 {}
        write(0x000, byte.into());
    }
}

/// The next byte that came in.
pub fn receive() -> Option<u8> {
    if cfg!(board = "microbit") {
        if read(0x108) == 0 {
            return None;
        }
        write(0x108, 0);
        Some(read(0x518) as u8)
    } else if cfg!(board = "lm3s6965evb") {
        (read(0x018) & 1 << 4 == 0).then(|| read(0x000) as u8)
    } else {
        (read(0x004) & 1 << 1 != 0).then(|| read(0x000) as u8)
    }
}
