//! Compare-and-exchange of one word, for the cells of the caller's side.
//!
//! One code for all of them on small cores: without the instruction each is a critical section of some thirty
//! bytes.
//!
//! ```text
//! op       | success | failure | pairs with | why
//! exchange | Relaxed | Relaxed | -          | the table of the cell that uses it says so
//! publish  | Release | Relaxed | -          | likewise
//! update   | Relaxed | Relaxed | -          | likewise
//! ```

use super::sync::{AtomicU32, Ordering};

/// From one value to another; false when the word has yet another.
#[cfg_attr(target_pointer_width = "64", inline)]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(crate) fn exchange(word: &AtomicU32, from: u32, to: u32) -> bool {
    word.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed)
        .is_ok()
}

/// The same, and whoever acquires the word sees what was stored before.
#[cfg_attr(target_pointer_width = "64", inline)]
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(crate) fn publish(word: &AtomicU32, from: u32, to: u32) -> bool {
    word.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed)
        .is_ok()
}

/// Replaces the word by what `change` makes of it.
#[inline]
pub(crate) fn update(word: &AtomicU32, mut change: impl FnMut(u32) -> u32) {
    loop {
        let seen = word.load(Ordering::Relaxed);
        if exchange(word, seen, change(seen)) {
            return;
        }
    }
}
