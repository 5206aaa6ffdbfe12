//! A fault for each gate.

use alloc::boxed::Box;

#[inline(never)]
pub fn panics(words: &[u32], index: usize) -> u32 {
    words[index]
}

#[inline(never)]
pub fn allocates(word: u32) -> Box<u32> {
    Box::new(word)
}

#[inline(never)]
pub fn floats(word: u32, factor: f32) -> u32 {
    (word as f32 * factor) as u32
}

#[inline(never)]
pub fn divides(word: u32, by: core::num::NonZeroU32) -> u32 {
    word / by
}

/// One call away, as most faults would be.
#[inline(never)]
pub fn divides_inside(word: u32, by: core::num::NonZeroU32) -> u32 {
    divides(word, by).wrapping_add(1)
}

/// A mutex, which may ask the system to wait.
#[cfg(not(target_os = "none"))]
pub mod hosted {
    extern crate std;

    use std::sync::Mutex;

    #[inline(never)]
    pub fn locks(word: &Mutex<u32>) -> bool {
        word.lock().is_ok()
    }

    #[inline(never)]
    pub fn calls_the_system() {
        std::thread::yield_now();
    }
}
