//! The largest number in flight since the open window began, beside the admission word that it follows.
//!
//! ```text
//! op    | success | failure | pairs with | why
//! raise | Relaxed | -       | -          | a gauge: atomicity is all that it needs
//! load  | Relaxed | -       | -          | likewise
//! take  | Relaxed | -       | -          | likewise; for the gate's holder only
//! ```

use super::sync::{AtomicU32, Ordering, const_unless_loom};

#[derive(Debug)]
pub(crate) struct Peak(AtomicU32);

impl Peak {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self(AtomicU32::new(0))
        }
    }

    #[inline]
    pub(crate) fn raise(&self, inflight: u32) {
        if inflight > self.load() {
            self.0.fetch_max(inflight, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(crate) fn load(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes the largest, and starts anew from what is in flight.
    pub(crate) fn take(&self, inflight: u32) -> u32 {
        self.0.swap(inflight, Ordering::Relaxed)
    }
}
