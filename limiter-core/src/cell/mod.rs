//! Atomics: one file per word or small group of words, each with its layout, its transitions and its
//! ordering table. No policy lives here.

pub(crate) mod admission;
pub(crate) mod backlog;
pub(crate) mod books;
pub(crate) mod breaker;
pub(crate) mod budget;
pub(crate) mod callers;
pub(crate) mod controls;
pub(crate) mod gate;
pub(crate) mod histogram;
pub(crate) mod partition;
pub(crate) mod peak;
pub(crate) mod ring;
pub(crate) mod sampling;
pub(crate) mod shares;
pub(crate) mod state;
pub(crate) mod sync;
pub(crate) mod tickets;
pub(crate) mod window;
pub(crate) mod word;
