//! Who has had more than its share, in a table that is made when somebody names a caller.

use crate::clock::RATE;
use crate::dependency::entropy;
use crate::request::Request;
use crate::sync::{AtomicU32, Ordering};
use crate::wait::may_come;
use limiter_core::{Callers, RejectReason, Rejected, Standing, Timestamp};
use std::sync::OnceLock;

/// Four times as many as callers that can each matter, in 32 kB.
const CELLS: usize = 1_024;

/// What callers beyond their share may use of the limit unless configured otherwise, per mille: as the core's.
pub const DEFAULT_BEYOND_MAY_USE: u16 = 800;

#[derive(Debug)]
pub(crate) struct Crowd {
    table: OnceLock<Box<Callers<CELLS>>>,
    /// Per mille.
    beyond: AtomicU32,
}

impl Crowd {
    pub(crate) fn new(beyond: u16) -> Self {
        Self {
            table: OnceLock::new(),
            beyond: AtomicU32::new(beyond.into()),
        }
    }

    pub(crate) fn set(&self, beyond: u16) {
        // Relaxed: whoever comes meanwhile is judged by the one or the other.
        self.beyond.store(beyond.into(), Ordering::Relaxed);
    }

    fn table(&self) -> &Callers<CELLS> {
        self.table
            .get_or_init(|| Box::new(Callers::new(RATE, entropy())))
    }

    /// How the caller of a request stands.
    pub(crate) fn standing(&self, request: &Request, now: Timestamp) -> Standing {
        match request.caller {
            Some(caller) => self.table().standing(caller.0, now),
            None => Standing::Within,
        }
    }

    /// The request as a caller that stands so may make it.
    pub(crate) fn judged(&self, request: &Request, standing: Standing) -> limiter_core::Request {
        match standing {
            Standing::Within => request.core,
            _ => request
                .core
                .at_most(self.beyond.load(Ordering::Relaxed) as u16),
        }
    }

    /// Counts what the caller of a request was let in for.
    pub(crate) fn count(&self, request: &Request, standing: Standing, now: Timestamp) {
        if let Some(caller) = request.caller {
            self.table().count(caller.0, standing, request.slots(), now);
        }
    }
}

/// A refusal as the caller that stands so is told of it: one beyond its share does not wait, for those who wait are
/// not enough for all already.
pub(crate) fn told(refused: Rejected, standing: Standing) -> Rejected {
    if may_come(refused) && standing != Standing::Within {
        return refused.because(RejectReason::OverShare);
    }
    refused
}
