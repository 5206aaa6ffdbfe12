//! Which permits are timed: all of them while a window has few, one in `2^scale` when it has many.
//!
//! ```text
//! scale      log2 of the permits for each that is timed, 0 to 5
//! share      turns up to this are timed: `u32::MAX >> scale`
//! turn       moves on by the golden ratio of 2³² for each permit while not all are timed; wraps
//! stood_for  successes of the open window that timed ones stand for beside themselves; saturates
//! given_up   permits that were given up in the open window, timed or not; saturates
//! ```
//!
//! A permit that is not timed adds nothing to the window, so that its whole cost is the admission word. One
//! that is stands for `2^scale`. Turns are spread by the golden ratio (Knuth, The Art of Computer Programming
//! 6.4): of any run of permits nearly the right share is timed, and no period of the traffic meets only those
//! that are, or only others. Narrow words time every permit: what has them has few.
//!
//! ```text
//! op   | success | failure | pairs with | why
//! draw | Relaxed | -       | -          | a load and a store, not one operation: two that take the same turn
//!      |         |         |            | are both timed or both not, which the next turns even out
//! set  | Relaxed | -       | -          | one that is drawn beside it may stand for the number of before or
//!      |         |         |            | after: one permit for each thread
//! add  | Relaxed | -       | -          | sums: atomicity is all that conservation needs
//! take | Relaxed | -       | -          | likewise, each word by one swap; for the gate's holder only
//! ```

use super::sync::const_unless_loom;

/// One permit in 32 is timed at most: those in flight when a dependency comes to a halt are then still enough
/// to tell, and what two readings of a clock cost is a third of a compare-exchange for each.
pub(crate) const MAX_SCALE: u8 = 5;

#[cfg(not(any(limiter_narrow, not(target_pointer_width = "64"))))]
mod words {
    use super::super::sync::{AtomicU32, Ordering};
    use super::super::window::{count, count_by};
    use super::*;

    pub(crate) const WIDE: bool = true;

    /// 2³² divided by the golden ratio.
    const GOLDEN: u32 = 0x9e37_79b9;

    #[derive(Debug)]
    pub(crate) struct Sampling {
        share: AtomicU32,
        turn: AtomicU32,
        scale: AtomicU32,
    }

    impl Sampling {
        const_unless_loom! {
            pub(crate) fn new() -> Self {
                Self {
                    share: AtomicU32::new(u32::MAX),
                    turn: AtomicU32::new(0),
                    scale: AtomicU32::new(0),
                }
            }
        }

        /// How many the permit stands for that was just admitted, as a shift; `None` when it is not timed.
        #[inline]
        pub(crate) fn draw(&self) -> Option<u32> {
            let share = self.share.load(Ordering::Relaxed);
            if share == u32::MAX {
                return Some(0);
            }
            let turn = self.turn.load(Ordering::Relaxed);
            self.turn
                .store(turn.wrapping_add(GOLDEN), Ordering::Relaxed);
            (turn <= share).then(|| self.scale.load(Ordering::Relaxed))
        }

        pub(crate) fn set(&self, scale: u8) {
            let scale = u32::from(if scale > MAX_SCALE { MAX_SCALE } else { scale });
            self.scale.store(scale, Ordering::Relaxed);
            self.share.store(u32::MAX >> scale, Ordering::Relaxed);
        }
    }

    #[derive(Debug)]
    pub(crate) struct Unseen {
        stood_for: AtomicU32,
        given_up: AtomicU32,
    }

    impl Unseen {
        const_unless_loom! {
            pub(crate) fn new() -> Self {
                Self {
                    stood_for: AtomicU32::new(0),
                    given_up: AtomicU32::new(0),
                }
            }
        }

        /// Adds what a timed success of this shift stands for beside itself.
        #[inline]
        pub(crate) fn add(&self, shift: u32) {
            if shift != 0 {
                count_by(&self.stood_for, (1 << shift) - 1);
            }
        }

        /// Adds a permit that was given up, and returns how many there are now.
        pub(crate) fn give_up(&self) -> u32 {
            count(&self.given_up)
        }

        pub(crate) fn stood_for(&self) -> u32 {
            self.stood_for.load(Ordering::Relaxed)
        }

        /// Takes what is stood for, and those that were given up.
        pub(crate) fn take(&self) -> (u32, u32) {
            (
                self.stood_for.swap(0, Ordering::Relaxed),
                self.given_up.swap(0, Ordering::Relaxed),
            )
        }
    }
}

#[cfg(any(limiter_narrow, not(target_pointer_width = "64")))]
mod words {
    use super::*;

    pub(crate) const WIDE: bool = false;

    #[derive(Debug)]
    pub(crate) struct Sampling;

    impl Sampling {
        const_unless_loom! {
            pub(crate) fn new() -> Self {
                Self
            }
        }

        #[inline]
        pub(crate) fn draw(&self) -> Option<u32> {
            Some(0)
        }

        pub(crate) fn set(&self, _: u8) {}
    }

    #[derive(Debug)]
    pub(crate) struct Unseen;

    impl Unseen {
        const_unless_loom! {
            pub(crate) fn new() -> Self {
                Self
            }
        }

        #[inline]
        pub(crate) fn add(&self, _: u32) {}

        pub(crate) fn give_up(&self) -> u32 {
            0
        }

        pub(crate) fn stood_for(&self) -> u32 {
            0
        }

        pub(crate) fn take(&self) -> (u32, u32) {
            (0, 0)
        }
    }
}

pub(crate) use words::{Sampling, Unseen, WIDE};
