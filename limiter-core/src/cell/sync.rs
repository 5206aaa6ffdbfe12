//! The only file that names an atomic type: `portable_atomic`, or loom's or shuttle's under a model-checking cfg.
//!
//! `Word` is the machine word the admission word and the sums live in: 64 bits on servers, 32 bits on
//! 32-bit targets and wherever `--cfg limiter_narrow` asks for it, so that models, properties and fuzzing
//! run both widths on one host.

#[cfg(all(limiter_loom, not(feature = "loom")))]
compile_error!("`--cfg limiter_loom` also needs `--features loom`");

#[cfg(not(any(limiter_loom, limiter_shuttle)))]
use portable_atomic as atomic;

#[cfg(all(limiter_shuttle, not(limiter_loom)))]
use shuttle::sync::atomic;

#[cfg(limiter_loom)]
use loom::sync::atomic;

pub(crate) use atomic::{AtomicU32, Ordering};

#[cfg(any(limiter_narrow, not(target_pointer_width = "64")))]
pub(crate) use atomic::AtomicU32 as AtomicWord;

#[cfg(any(limiter_narrow, not(target_pointer_width = "64")))]
pub(crate) type Word = u32;

#[cfg(not(any(limiter_narrow, not(target_pointer_width = "64"))))]
pub(crate) use atomic::AtomicU64 as AtomicWord;

#[cfg(not(any(limiter_narrow, not(target_pointer_width = "64"))))]
pub(crate) type Word = u64;

/// Declares a function that is `const`, except under loom, whose atomics have no `const` constructor.
macro_rules! const_unless_loom {
    ($(#[$meta:meta])* $vis:vis fn $($rest:tt)*) => {
        #[cfg(not(limiter_loom))]
        $(#[$meta])* $vis const fn $($rest)*
        #[cfg(limiter_loom)]
        $(#[$meta])* $vis fn $($rest)*
    };
}
pub(crate) use const_unless_loom;
