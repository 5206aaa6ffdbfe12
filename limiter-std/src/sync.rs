//! The only file that switches between std and loom: locks, atomics and threads come from here.

#[cfg(all(limiter_loom, not(feature = "loom")))]
compile_error!("`--cfg limiter_loom` also needs `--features loom`");

#[cfg(not(limiter_loom))]
pub(crate) use std::{
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread, thread_local,
};

#[cfg(limiter_loom)]
pub(crate) use loom::{
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread, thread_local,
};
