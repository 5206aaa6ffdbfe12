//! The host behind the debugger: text, the command line, the end.

pub use cortex_m_semihosting::hprintln;

use core::panic::PanicInfo;

use cortex_m_semihosting::{debug, syscall1};

/// Ends QEMU with status 0, or 1 after saying what went wrong.
pub fn exit(end: Result<(), &str>) -> ! {
    match end {
        Ok(()) => debug::exit(debug::EXIT_SUCCESS),
        Err(what) => {
            hprintln!("FAILED: {}", what);
            debug::exit(debug::EXIT_FAILURE);
        }
    }
    loop {
        cortex_m::asm::nop();
    }
}

/// Says what went wrong and ends, unless it went right.
pub fn check(right: bool, what: &str) {
    if !right {
        exit(Err(what));
    }
}

/// The numbers on the command line (`-semihosting-config ...,arg=NAME,arg=1,arg=2`), then zeros.
pub fn numbers<const N: usize>() -> [u32; N] {
    let mut text = [0_u8; 128];
    let mut block = [text.as_mut_ptr() as usize, text.len()];
    // SAFETY: the host writes at most `block[1]` bytes to `block[0]`, and both outlive the call.
    let status = unsafe { syscall1!(GET_CMDLINE, block.as_mut_ptr()) };
    let mut numbers = [0; N];
    if status == 0 {
        let length = block[1].min(text.len());
        let words = text[..length].split(|byte| matches!(byte, b' ' | 0));
        let read = words.skip(1).filter(|word| !word.is_empty()).map(number);
        for (place, number) in numbers.iter_mut().zip(read) {
            *place = number;
        }
    }
    numbers
}

fn number(word: &[u8]) -> u32 {
    let digits = word.iter().filter(|byte| byte.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    hprintln!("{}", info);
    exit(Err("a panic"))
}
