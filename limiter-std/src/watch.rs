//! Watching only: what would have been refused is counted by its reason, and let through.

// Not loom's: counts publish nothing, and the queue's lock puts a switch before or after who is just joining.
use crate::Limiter;
use crate::clock::Clock;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use limiter_core::law::Law;
use limiter_core::{RejectReason, Rejected};

/// What a limiter that [only watches](crate::Config::watch_only) would have refused, from
/// [`Limiter::watched`](crate::Limiter::watched). Counts wrap, and stay when it enforces.
///
/// What is let through so holds no slot and is not learned from. It is counted here and nowhere else: it is not among
/// the refused of [`Limiter::counts`](crate::Limiter::counts) or of a partition, has a metric of its own, and events say
/// that it would be refused.
///
/// **Below what the server can do** limit and counts are those of a limiter that enforces. **Above it they say that
/// requests would have been refused, when, and why, but not how many**: the server that nobody protects gets slow,
/// requests that have a slot have it for longer, and the limit is that of a server in collapse. At one and a half
/// times what a server can do a limiter refuses a third and keeps the goodput at 0.99; under every law one that
/// watches falls to its smallest limit and says that of 998 in 1,000, for by then nothing is answered in time. It is
/// itself again seconds after the server is (`cargo run --release -p benches --bin watch` shows all of this). So
/// switch to enforcing in a calm hour. In an overload it helps too, but starts from that smallest limit, and the
/// server first works off what it has taken on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Watched {
    /// It only watches now.
    pub on: bool,
    /// The limit was reached, or its waiters would have been served first; with a queue they would have waited.
    pub at_limit: usize,
    /// The slots of their partition were taken, and so was what is for everybody; with a queue they would have waited.
    pub partition_full: usize,
    /// The share of their class was taken.
    pub share_taken: usize,
    /// Their caller had more than its share.
    pub over_share: usize,
    /// Never to be let in: too heavy, of weight 0, of a partition that there is not.
    pub impossible: usize,
}

impl Watched {
    /// All that would have been refused, or would have waited.
    pub fn all(&self) -> usize {
        let each = self.by_reason().map(|(_, count)| count);
        each.into_iter().fold(0, usize::wrapping_add)
    }

    /// Each reason by its name, and how many would have been refused for it.
    pub const fn by_reason(&self) -> [(&'static str, usize); 5] {
        [
            ("at_limit", self.at_limit),
            ("partition_full", self.partition_full),
            ("share_taken", self.share_taken),
            ("over_share", self.over_share),
            ("impossible", self.impossible),
        ]
    }
}

#[derive(Debug)]
pub(crate) struct Watch {
    on: AtomicBool,
    /// As in [`Watched`].
    counts: [AtomicUsize; 5],
}

impl Watch {
    pub(crate) fn new(on: bool) -> Self {
        Self {
            on: AtomicBool::new(on),
            counts: core::array::from_fn(|_| AtomicUsize::new(0)),
        }
    }

    pub(crate) fn set(&self, on: bool) {
        // Relaxed: the queue's lock puts it before or after one who is just joining.
        self.on.store(on, Ordering::Relaxed);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Whether one that was refused goes through all the same.
    pub(crate) fn lets_through(&self, refused: Rejected) -> bool {
        if !self.is_on() {
            return false;
        }
        let [
            at_limit,
            partition_full,
            share_taken,
            over_share,
            impossible,
        ] = &self.counts;
        let count = match refused.reason {
            RejectReason::PartitionFull { .. } => partition_full,
            RejectReason::ShareTaken => share_taken,
            RejectReason::OverShare => over_share,
            RejectReason::TooHeavy(_)
            | RejectReason::ZeroWeight
            | RejectReason::NoSuchPartition => impossible,
            _ => at_limit,
        };
        count.fetch_add(1, Ordering::Relaxed);
        true
    }

    pub(crate) fn read(&self) -> Watched {
        let [
            at_limit,
            partition_full,
            share_taken,
            over_share,
            impossible,
        ] = self
            .counts
            .each_ref()
            .map(|count| count.load(Ordering::Relaxed));
        Watched {
            on: self.is_on(),
            at_limit,
            partition_full,
            share_taken,
            over_share,
            impossible,
        }
    }
}

impl<L: Law, C: Clock> Limiter<L, C> {
    /// Only watches from now on, or enforces again, as by [`Config::watch_only`](crate::Config::watch_only). Who waits goes on at once where
    /// it only watches; who was let through so stays, without a slot, where it enforces.
    pub fn set_watch_only(&self, on: bool) {
        self.shared().set_watch_only(on);
    }

    /// What would have been refused while it only watched.
    pub fn watched(&self) -> Watched {
        self.shared().watched()
    }
}
