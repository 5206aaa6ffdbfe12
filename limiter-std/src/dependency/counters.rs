//! What happened, counted.

use crate::sync::{AtomicUsize, Ordering};
use limiter_core::{Attempt, BreakerChange, Ending, GiveUp, Refusal};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counts since the dependency was made; they wrap, as counters do.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct DependencyCounts {
            $($(#[$doc])* pub $name: usize,)*
        }

        // One line of the cache for all: a call that counts itself goes over a network.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $($name: AtomicUsize,)*
        }

        impl Counters {
            pub(crate) fn read(&self) -> DependencyCounts {
                DependencyCounts {
                    $($name: self.$name.load(Ordering::Relaxed),)*
                }
            }
        }
    };
}

counters! {
    /// Calls begun.
    calls,
    /// Calls whose answer was good.
    succeeded,
    /// Attempts that left.
    attempts,
    /// Attempts that were retries.
    retries,
    /// Attempts that were hedges.
    hedges,
    /// Attempts that ran out of their time.
    timeouts,
    /// Attempts that left, and that the dependency refused by a limit of its own ([`Ending::refused`](crate::Ending::refused)).
    refused_by_dependency,
    /// Attempts that the limiter refused, or its queue.
    refused_by_limiter,
    /// Attempts that the open breaker refused.
    refused_by_breaker,
    /// Attempts that the throttle refused.
    refused_by_throttle,
    /// Retries that the budget did not cover.
    refused_by_budget,
    /// Calls that gave up for any reason; those of a refusal by limiter, breaker or throttle too.
    gave_up,
    /// Calls that were dropped before their end.
    dropped,
    /// Times the breaker opened.
    opened,
}

impl Counters {
    pub(crate) fn began(&self) {
        add(&self.calls);
    }

    pub(crate) fn started(&self, attempt: &Attempt) {
        add(&self.attempts);
        if attempt.hedge {
            add(&self.hedges);
        } else if attempt.number > 1 {
            add(&self.retries);
        }
    }

    pub(crate) fn ended(&self, ending: Ending) {
        if ending == Ending::timeout() {
            add(&self.timeouts);
        } else if ending.is_refused() {
            add(&self.refused_by_dependency);
        }
    }

    pub(crate) fn succeeded(&self) {
        add(&self.succeeded);
    }

    pub(crate) fn dropped(&self) {
        add(&self.dropped);
    }

    pub(crate) fn gave_up(&self, why: GiveUp) {
        add(&self.gave_up);
        match why {
            GiveUp::Refused(Refusal::Limiter(_)) => add(&self.refused_by_limiter),
            GiveUp::Refused(Refusal::Breaker(_)) => add(&self.refused_by_breaker),
            GiveUp::Refused(_) => add(&self.refused_by_throttle),
            GiveUp::Exhausted(_) => add(&self.refused_by_budget),
            _ => {}
        }
    }

    pub(crate) fn breaker(&self, change: BreakerChange) {
        if change == BreakerChange::Opened {
            add(&self.opened);
        }
    }
}

fn add(counter: &AtomicUsize) {
    // Relaxed: counts, read one after the other.
    counter.fetch_add(1, Ordering::Relaxed);
}
