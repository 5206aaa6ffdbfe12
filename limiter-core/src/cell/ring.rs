//! A ring of counters that turns with the time: what happened within the last while.
//!
//! ```text
//! turned    stamp at which the ring was last seen to turn; `turned >> shift` is its bucket's number
//! buckets   one word each: fields of counts, the top bit of each clear
//! ```
//!
//! A bucket is the power of two of stamp units at or next to an `N`-th of the window, so its number is a
//! shift, and its place the number's low bits. `N` is a power of two.
//!
//! Transitions: adding is one exchange of one word; when a field's top bit comes up all of the word's fields
//! are halved, which keeps their ratios. The first to come in a new bucket empties it, and those that nobody
//! came in, and then moves `turned`. Whoever adds to a bucket while two turn the ring may lose what it
//! added, one count for each thread: the ratios are of tens of counts.
//!
//! ```text
//! op           | success | failure | pairs with | why
//! add          | Relaxed | Relaxed | -          | counts: atomicity is all they need
//! turn: bucket | Relaxed | -       | place      | emptied by a swap before `turned` moves, which publishes it
//! turn: turned | Release | Relaxed | place      | who sees the move sees the buckets empty; a failure means that
//!              |         |         |            | another turned it
//! place        | Acquire | -       | turn       | see above
//! within,clear | Relaxed | -       | -          | a picture
//! ```

use super::sync::{AtomicU32, Ordering, const_unless_loom};
use crate::time::Stamp;

/// `N` words of counts over a window.
#[derive(Debug)]
pub(crate) struct Ring<const N: usize> {
    turned: AtomicU32,
    buckets: [AtomicU32; N],
}

/// Where a stamp lies in the ring.
#[derive(Clone, Copy)]
struct Place {
    index: usize,
    /// How many buckets, this one among them, belong to the time since the ring turned.
    fresh: u32,
    /// What `turned` was, and what it becomes.
    turned: Stamp,
    stamp: Stamp,
}

impl<const N: usize> Ring<N> {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            const { assert!(N.is_power_of_two()) };
            Self {
                turned: AtomicU32::new(0),
                #[cfg(not(limiter_loom))]
                buckets: [const { AtomicU32::new(0) }; N],
                #[cfg(limiter_loom)]
                buckets: core::array::from_fn(|_| AtomicU32::new(0)),
            }
        }
    }

    /// Adds `counts` to the bucket of `now`; `tops` are the top bits of the fields.
    pub(crate) fn add(&self, now: Stamp, shift: u32, counts: u32, tops: u32) {
        let place = self.place(now, shift);
        if place.fresh > 0 {
            self.turn(place);
        }
        self.add_at(place.index, counts, tops);
    }

    /// Adds `counts` to the bucket that the ring turned to last: for those who have no clock.
    pub(crate) fn add_late(&self, shift: u32, counts: u32, tops: u32) {
        let turned = Stamp(self.turned.load(Ordering::Relaxed));
        self.add_at(index::<N>(turned, shift), counts, tops);
    }

    fn add_at(&self, index: usize, counts: u32, tops: u32) {
        let Some(bucket) = self.buckets.get(index) else {
            return;
        };
        let mut word = bucket.load(Ordering::Relaxed);
        loop {
            // The top bits are clear on both sides, so no field carries into the next.
            let mut after = word.wrapping_add(counts);
            if after & tops != 0 {
                after = (after >> 1) & !tops;
            }
            match bucket.compare_exchange_weak(word, after, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(current) => word = current,
            }
        }
    }

    /// The words that are within the window at `now`. Stores nothing.
    pub(crate) fn within(&self, now: Stamp, shift: u32) -> impl Iterator<Item = u32> + '_ {
        let place = self.place(now, shift);
        self.buckets
            .iter()
            .enumerate()
            .filter_map(move |(index, bucket)| {
                // How many buckets back, counted from that of `now`.
                let back = place.index.wrapping_sub(index) & (N - 1);
                (back >= place.fresh as usize).then(|| bucket.load(Ordering::Relaxed))
            })
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        for bucket in &self.buckets {
            bucket.store(0, Ordering::Relaxed);
        }
    }

    fn place(&self, now: Stamp, shift: u32) -> Place {
        // Acquire pairs with `turn`.
        let turned = Stamp(self.turned.load(Ordering::Acquire));
        let fresh = match now.since(turned) {
            // Bucket numbers wrap where stamps do.
            Some(_) => ((now.0 >> shift).wrapping_sub(turned.0 >> shift) & (u32::MAX >> shift))
                .min(N as u32),
            // A thread that was stopped since it read its clock counts where the others are; further
            // behind than the window the clock was set back, and the ring starts anew.
            None if turned.0.wrapping_sub(now.0) >> shift <= N as u32 => 0,
            None => N as u32,
        };
        let stamp = if fresh == 0 { turned } else { now };
        Place {
            index: index::<N>(stamp, shift),
            fresh,
            turned,
            stamp,
        }
    }

    #[cold]
    fn turn(&self, place: Place) {
        // Else another has turned it since, and its counts would go.
        if self.turned.load(Ordering::Relaxed) != place.turned.0 {
            return;
        }
        for back in 0..place.fresh as usize {
            if let Some(bucket) = self.buckets.get(place.index.wrapping_sub(back) & (N - 1)) {
                bucket.swap(0, Ordering::Relaxed);
            }
        }
        let _ = self.turned.compare_exchange(
            place.turned.0,
            place.stamp.0,
            Ordering::Release,
            Ordering::Relaxed,
        );
    }
}

fn index<const N: usize>(stamp: Stamp, shift: u32) -> usize {
    (stamp.0 >> shift) as usize & (N - 1)
}

/// The length of a bucket of `N` in `window` units, as a shift: to the nearest power of two.
pub(crate) const fn bucket_shift<const N: usize>(window: u32) -> u32 {
    let bucket = window / N as u32;
    let shift = (bucket.saturating_add(bucket / 2)).checked_ilog2();
    match shift {
        Some(shift) => shift,
        None => 0,
    }
}
