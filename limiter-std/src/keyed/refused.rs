//! Why a key got no permit.

use crate::Rejected;
use core::fmt;

/// Every limiter of the part of the table where this key belongs is in use, and none of them has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeysBusy {
    /// How many that part may hold: all, in a table of fewer than 512 keys.
    pub keys: usize,
}

impl fmt::Display for KeysBusy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.keys;
        write!(
            f,
            "all {keys} keys have work in flight or waiting; refuse the caller, retry later"
        )
    }
}

impl core::error::Error for KeysBusy {}

/// Why a key got no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRefused {
    /// By its limiter.
    Rejected(Rejected),
    /// It has no limiter, and there is no place for another.
    KeysBusy(KeysBusy),
}

impl fmt::Display for KeyRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(refused) => refused.fmt(f),
            Self::KeysBusy(busy) => busy.fmt(f),
        }
    }
}

impl core::error::Error for KeyRefused {}
