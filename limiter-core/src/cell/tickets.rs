//! One entry of a ticket table: which generation of it is out.
//!
//! ```text
//! 31..1 generation | 0 out
//! ```
//!
//! Transitions: `take` turns (g, free) into (g, out); `give_back` turns (g, out) into (g + 1, free) and
//! nothing else, so a second return of the same ticket fails whatever happened in between, until the same
//! entry has been used 2³¹ times.
//!
//! ```text
//! op        | success | failure | pairs with | why
//! take      | Acquire | Relaxed | give_back  | one user of the entry after the other
//! give_back | Release | Relaxed | take       | see above
//! ```

use super::sync::{AtomicU32, Ordering, const_unless_loom};

const OUT: u32 = 1;

#[derive(Debug)]
pub(crate) struct Entry(AtomicU32);

impl Entry {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self(AtomicU32::new(0))
        }
    }

    /// Takes the entry and returns its generation, or `None` when it is out.
    pub(crate) fn take(&self) -> Option<u32> {
        // Relaxed: the compare-exchange decides.
        let word = self.0.load(Ordering::Relaxed);
        if word & OUT != 0 {
            return None;
        }
        // Acquire pairs with `give_back`. A failure means that another taker was first.
        self.0
            .compare_exchange(word, word | OUT, Ordering::Acquire, Ordering::Relaxed)
            .ok()
            .map(|word| word >> 1)
    }

    /// Frees the entry if `generation` of it is out.
    pub(crate) fn give_back(&self, generation: u32) -> bool {
        let out = (generation << 1) | OUT;
        // `out + 1` carries into the generation and clears the bit. Release pairs with `take`.
        self.0
            .compare_exchange(
                out,
                out.wrapping_add(1),
                Ordering::Release,
                Ordering::Relaxed,
            )
            .is_ok()
    }
}
