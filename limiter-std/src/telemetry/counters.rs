//! What a limiter counted, in stripes where threads meet: those that count at once do not share a line of the
//! cache then. Before that there is one stripe, for there may be a limiter for each of many keys (as `LongAdder` of
//! Java's library does it).
//!
//! Refusals and what did not succeed are counted one by one. Of admissions and successes those are counted whose
//! permits are timed, each as many times as it stands for: all of them one by one while a window has few, and
//! one count for up to 32 where there are so many that counting would be a part of their cost.

// Not loom's: they publish nothing, and each would multiply the executions of every model.
use core::sync::atomic::{AtomicUsize, Ordering};
use limiter_core::{Outcome, RejectReason};
use std::cell::Cell;
use std::sync::OnceLock;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)* ; $($(#[$why:meta])* $reason:ident = $kind:pat,)*) => {
        /// Counts of a [`Limiter`](crate::Limiter) since it was made; they wrap, as counters do.
        ///
        /// Refusals and all outcomes but success are exact. Admissions and successes are exact while all permits
        /// are [timed](limiter_core::Config::one_timed_of), in busy windows within one part in some hundreds: there
        /// one permit counts for several. They count requests, whatever these weigh.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct LimiterCounts {
            $($(#[$doc])* pub $name: usize,)*
            /// Requests refused, by reason.
            pub refused: RefusedCounts,
        }

        /// Requests refused, by [`RejectReason`].
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct RefusedCounts {
            $($(#[$why])* pub $reason: usize,)*
            /// For any other reason.
            pub other: usize,
        }

        impl RefusedCounts {
            /// Each reason by its name, and how many were refused for it.
            pub const fn by_reason(&self) -> [(&'static str, usize); RefusedCounts::REASONS] {
                [$((stringify!($reason), self.$reason),)* ("other", self.other)]
            }

            /// How many reasons there are.
            pub const REASONS: usize = [$(stringify!($reason)),*].len() + 1;
        }

        #[derive(Debug, Default)]
        struct Stripe {
            $($name: AtomicUsize,)*
            $($reason: AtomicUsize,)*
            other: AtomicUsize,
        }

        impl Stripe {
            fn of(&self, reason: RejectReason) -> &AtomicUsize {
                match reason {
                    $($kind => &self.$reason,)*
                    _ => &self.other,
                }
            }
        }

        impl Counters {
            pub(crate) fn read(&self) -> LimiterCounts {
                let mut read = LimiterCounts::default();
                let more = self.more.get().into_iter().flatten();
                for stripe in more.map(|aligned| &aligned.0).chain([&self.first]) {
                    $(add(&mut read.$name, &stripe.$name);)*
                    $(add(&mut read.refused.$reason, &stripe.$reason);)*
                    add(&mut read.refused.other, &stripe.other);
                }
                read
            }
        }
    };
}

counters! {
    /// Requests that got a slot.
    admitted,
    /// Permits that ended with [`Outcome::Success`].
    succeeded,
    /// With [`Outcome::Overload`].
    overloaded,
    /// With [`Outcome::Failure`].
    failed,
    /// With [`Outcome::Ignored`].
    ignored,
    /// With [`Outcome::Cancelled`], or dropped without an outcome.
    cancelled,
    ;
    /// [`RejectReason::AtLimit`], [`RejectReason::TooFewFree`].
    at_limit = RejectReason::AtLimit | RejectReason::TooFewFree(_),
    /// [`RejectReason::PartitionFull`].
    partition_full = RejectReason::PartitionFull { .. },
    /// [`RejectReason::WaitersAhead`].
    waiters_ahead = RejectReason::WaitersAhead,
    /// [`RejectReason::QueueFull`].
    queue_full = RejectReason::QueueFull,
    /// [`RejectReason::TimedOut`].
    timed_out = RejectReason::TimedOut,
    /// [`RejectReason::WouldExpire`].
    would_expire = RejectReason::WouldExpire(_),
    /// [`RejectReason::ShareTaken`].
    share_taken = RejectReason::ShareTaken,
    /// [`RejectReason::OverShare`].
    over_share = RejectReason::OverShare,
    /// [`RejectReason::TooHeavy`].
    too_heavy = RejectReason::TooHeavy(_),
    /// [`RejectReason::ZeroWeight`].
    zero_weight = RejectReason::ZeroWeight,
    /// [`RejectReason::NoSuchPartition`].
    no_such_partition = RejectReason::NoSuchPartition,
    /// [`RejectReason::Closed`].
    closed = RejectReason::Closed,
}

impl RefusedCounts {
    /// All of them together.
    pub fn total(&self) -> usize {
        let each = self.by_reason().map(|(_, count)| count);
        each.into_iter().fold(0, usize::wrapping_add)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    first: Stripe,
    /// Once two threads met, as many as there are cores, a power of two.
    more: OnceLock<Box<[Aligned]>>,
}

/// A stripe on lines of the cache of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Aligned(Stripe);

impl Counters {
    /// A permit was given out that stands for so many.
    pub(crate) fn admitted(&self, count: usize) {
        self.add(count, |stripe| &stripe.admitted);
    }

    /// A permit ended that stands for so many, and was counted as such.
    #[cold]
    #[inline(never)]
    pub(crate) fn ended(&self, outcome: Outcome, count: usize) {
        match outcome {
            Outcome::Success => self.add(count, |stripe| &stripe.succeeded),
            Outcome::Overload => self.add(1, |stripe| &stripe.overloaded),
            Outcome::Failure => self.add(1, |stripe| &stripe.failed),
            Outcome::Cancelled => self.add(1, |stripe| &stripe.cancelled),
            // `Ignored`, and what this release does not know.
            _ => self.add(1, |stripe| &stripe.ignored),
        }
    }

    #[inline]
    pub(crate) fn refused(&self, reason: RejectReason) {
        self.add(1, |stripe| stripe.of(reason));
    }

    #[inline]
    fn add(&self, count: usize, which: impl Fn(&Stripe) -> &AtomicUsize) {
        // Relaxed: counts, read one after the other.
        if let Some(stripes) = self.more.get() {
            // At least one stripe there is.
            let Aligned(stripe) = &stripes[thread_number() & (stripes.len() - 1)];
            which(stripe).fetch_add(count, Ordering::Relaxed);
            return;
        }
        let counter = which(&self.first);
        let before = counter.load(Ordering::Relaxed);
        let after = before.wrapping_add(count);
        let added = counter.compare_exchange(before, after, Ordering::Relaxed, Ordering::Relaxed);
        if added.is_err() {
            counter.fetch_add(count, Ordering::Relaxed);
            self.divide();
        }
    }

    /// Two threads met.
    #[cold]
    fn divide(&self) {
        self.more
            .get_or_init(|| (0..stripes()).map(|_| Aligned::default()).collect());
    }
}

fn add(sum: &mut usize, counter: &AtomicUsize) {
    *sum = sum.wrapping_add(counter.load(Ordering::Relaxed));
}

/// As many as threads can count at once, at most 16.
fn stripes() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        cores.next_power_of_two().min(16)
    })
}

/// Threads are numbered as they first count.
#[inline]
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    std::thread_local! {
        static NUMBER: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    NUMBER.with(|number| {
        if number.get() == usize::MAX {
            number.set(NEXT.fetch_add(1, Ordering::Relaxed) & (usize::MAX >> 1));
        }
        number.get()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_many_threads_count_at_once_adds_up() {
        let counters = Counters::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        counters.admitted(2);
                        counters.ended(Outcome::Success, 2);
                        counters.ended(Outcome::Failure, 2);
                        counters.refused(RejectReason::QueueFull);
                    }
                });
            }
        });
        let read = counters.read();
        assert_eq!(
            (read.admitted, read.succeeded, read.failed),
            (8_000, 8_000, 4_000)
        );
        assert_eq!(
            (read.refused.queue_full, read.refused.total()),
            (4_000, 4_000)
        );
    }

    #[test]
    fn what_was_counted_before_threads_met_stays() {
        let counters = Counters::default();
        counters.refused(RejectReason::AtLimit);
        assert!(counters.more.get().is_none(), "one thread needs one stripe");
        counters.divide();
        counters.refused(RejectReason::AtLimit);
        assert_eq!(counters.read().refused.at_limit, 2);
    }

    #[test]
    fn a_reason_that_a_limiter_of_std_does_not_have_counts_as_other() {
        let counters = Counters::default();
        counters.refused(RejectReason::TicketsOut);
        assert_eq!(
            counters.read().refused.by_reason().last(),
            Some(&("other", 1))
        );
    }
}
