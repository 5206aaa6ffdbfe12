//! The only file that switches between std and loom: locks, atomics and threads come from here.
//!
//! `Arc` is std's in both: counting references is not ours to prove, and multiplies the executions of a
//! model by thousands.

#[cfg(all(limiter_loom, not(feature = "loom")))]
compile_error!("`--cfg limiter_loom` also needs `--features loom`");

#[cfg(not(limiter_loom))]
pub(crate) use std::{
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
    thread, thread_local,
};

#[cfg(limiter_loom)]
pub(crate) use loom::{
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
    thread, thread_local,
};
