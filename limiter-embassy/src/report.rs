//! One line for each change of the limit, and one at each end of a burst of refusals: never one for each
//! request. Without the features `defmt` and `log` there is nothing here.
//!
//! Interrupt handlers report nothing.

#[cfg(any(feature = "defmt", feature = "log"))]
pub(crate) use on::Reporter;

#[cfg(not(any(feature = "defmt", feature = "log")))]
pub(crate) use off::Reporter;

#[cfg(not(any(feature = "defmt", feature = "log")))]
mod off {
    use limiter_core::{Change, Rejected, Timestamp};

    pub(crate) struct Reporter;

    impl Reporter {
        pub(crate) const fn new() -> Self {
            Self
        }

        pub(crate) const fn changed(&self, _: &Change) {}

        pub(crate) const fn refused(&self, _: &Rejected) {}

        pub(crate) const fn admitted(&self, _: Timestamp) {}
    }
}

#[cfg(any(feature = "defmt", feature = "log"))]
mod on {
    use crate::clock::now;
    use embassy_time::TICK_HZ;
    use limiter_core::{Change, Rejected, Timestamp};
    use portable_atomic::{AtomicU32, Ordering};

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
    }

    impl Reporter {
        pub(crate) const fn new() -> Self {
            Self {
                refused: AtomicU32::new(0),
                last: AtomicU32::new(0),
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
    }

    fn units(now: Timestamp) -> u32 {
        (now.ticks() >> SHIFT) as u32
    }
}
