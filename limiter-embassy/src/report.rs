//! One line for each change of the limit and of the breaker, for each end of a burst of refusals, and when
//! the retry budget runs empty or covers retries again: never one for each request. Without the features `defmt` and `log` there is nothing here.
//!
//! Interrupt handlers report nothing.

#[cfg(any(feature = "defmt", feature = "log"))]
pub(crate) use on::Reporter;

#[cfg(not(any(feature = "defmt", feature = "log")))]
pub(crate) use off::Reporter;

#[cfg(not(any(feature = "defmt", feature = "log")))]
mod off {
    use limiter_core::{BreakerChange, Change, Rejected, Timestamp};

    pub(crate) struct Reporter;

    impl Reporter {
        pub(crate) const fn new() -> Self {
            Self
        }

        pub(crate) const fn changed(&self, _: &Change) {}

        pub(crate) const fn refused(&self, _: &Rejected) {}

        pub(crate) const fn admitted(&self, _: Timestamp) {}

        pub(crate) const fn breaker(&self, _: &BreakerChange) {}

        pub(crate) const fn exhausted(&self) {}

        pub(crate) const fn retried(&self) {}
    }
}

#[cfg(any(feature = "defmt", feature = "log"))]
mod on {
    use crate::clock::now;
    use embassy_time::TICK_HZ;
    use limiter_core::{BreakerChange, Change, Rejected, Timestamp};
    use portable_atomic::{AtomicBool, AtomicU32, Ordering};

    // Frames of defmt are read by a debugger or a serial port: on a host there is nothing to take them.
    macro_rules! line {
        ($level:ident, $($arg:tt)*) => {{
            #[cfg(feature = "log")]
            log::$level!($($arg)*);
            #[cfg(all(feature = "defmt", target_os = "none"))]
            defmt::$level!($($arg)*);
            #[cfg(not(any(feature = "log", target_os = "none")))]
            let _ = format_args!($($arg)*);
        }};
    }

    /// Units of at most two milliseconds; 2³² of them are a month or more.
    const SHIFT: u32 = match (TICK_HZ / 1024).checked_ilog2() {
        Some(log) => log,
        None => 0,
    };
    /// A second without a refusal ends a burst.
    const QUIET: u32 = (TICK_HZ >> SHIFT) as u32;

    pub(crate) struct Reporter {
        /// Refusals in the burst that goes on, 0 when there is none.
        refused: AtomicU32,
        /// When the last one was.
        last: AtomicU32,
        /// The budget did not cover the last attempt that was not a first one.
        exhausted: AtomicBool,
    }

    impl Reporter {
        pub(crate) const fn new() -> Self {
            Self {
                refused: AtomicU32::new(0),
                last: AtomicU32::new(0),
                exhausted: AtomicBool::new(false),
            }
        }

        pub(crate) fn changed(&self, change: &Change) {
            line!(
                info,
                "limit {} -> {}: {:?}",
                change.from,
                change.to,
                change.reason
            );
        }

        pub(crate) fn refused(&self, refused: &Rejected) {
            // Relaxed, here and below: the words publish nothing, whoever moves the count from or to 0
            // writes the line.
            self.last.store(units(now()), Ordering::Relaxed);
            if self.refused.fetch_add(1, Ordering::Relaxed) == 0 {
                line!(
                    warn,
                    "refusing: {:?}, {} in flight, limit {}",
                    refused.reason,
                    refused.inflight,
                    refused.limit
                );
            }
        }

        pub(crate) fn admitted(&self, now: Timestamp) {
            if self.refused.load(Ordering::Relaxed) == 0 {
                return;
            }
            let quiet = units(now).wrapping_sub(self.last.load(Ordering::Relaxed));
            if quiet < QUIET {
                return;
            }
            let refused = self.refused.swap(0, Ordering::Relaxed);
            if refused != 0 {
                line!(info, "refused {} and stopped", refused);
            }
        }

        pub(crate) fn breaker(&self, change: &BreakerChange) {
            line!(warn, "breaker {:?}", change);
        }

        pub(crate) fn exhausted(&self) {
            if !self.exhausted.swap(true, Ordering::Relaxed) {
                line!(warn, "retry budget empty");
            }
        }

        pub(crate) fn retried(&self) {
            if self.exhausted.load(Ordering::Relaxed)
                && self.exhausted.swap(false, Ordering::Relaxed)
            {
                line!(info, "retry budget covers retries again");
            }
        }
    }

    fn units(now: Timestamp) -> u32 {
        (now.ticks() >> SHIFT) as u32
    }
}
