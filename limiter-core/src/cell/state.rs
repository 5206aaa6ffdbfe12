//! A law's state as plain words, copied in and out under the gate.
//!
//! ```text
//! op    | success | failure | pairs with          | why
//! load  | Relaxed | -       | Gate::enter / leave | only the gate's holder reads and writes; the gate orders
//! store | Relaxed | -       | Gate::enter / leave | one holder after the other
//! ```

use super::sync::{AtomicU32, Ordering};

/// The state of a [`Law`](crate::law::Law): `[u32; N]` for any `N`. All zero before the first window.
///
/// Sealed: implemented for arrays of `u32` only.
pub trait Words: Copy + core::fmt::Debug + sealed::Sealed {
    /// The same words as atomics.
    #[doc(hidden)]
    type Cells: Cells<Self>;
    /// All zero.
    const ZERO: Self;
}

/// Storage of a law's state.
#[doc(hidden)]
pub trait Cells<W>: Sized + core::fmt::Debug + Send + Sync {
    /// All zero.
    #[cfg(not(limiter_loom))]
    const ZERO: Self;
    /// All zero.
    #[cfg(limiter_loom)]
    fn zero() -> Self;
    fn load(&self) -> W;
    fn store(&self, words: W);
}

mod sealed {
    pub trait Sealed {}
    impl<const N: usize> Sealed for [u32; N] {}
}

impl<const N: usize> Words for [u32; N] {
    type Cells = [AtomicU32; N];
    const ZERO: Self = [0; N];
}

impl<const N: usize> Cells<[u32; N]> for [AtomicU32; N] {
    #[cfg(not(limiter_loom))]
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "copied into each new limiter"
    )]
    const ZERO: Self = [const { AtomicU32::new(0) }; N];

    #[cfg(limiter_loom)]
    fn zero() -> Self {
        core::array::from_fn(|_| AtomicU32::new(0))
    }

    fn load(&self) -> [u32; N] {
        core::array::from_fn(|i| self[i].load(Ordering::Relaxed))
    }

    fn store(&self, words: [u32; N]) {
        for (cell, word) in self.iter().zip(words) {
            cell.store(word, Ordering::Relaxed);
        }
    }
}
