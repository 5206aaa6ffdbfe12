//! A ring of counters that turns with the time: what happened within the last while.
//!
//! ```text
//! turned    number of the bucket that the ring turned to last
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
//! look, clear  | Relaxed | -       | -          | a picture
//! ```

use super::sync::{AtomicU32, Ordering, const_unless_loom};
use super::word::{publish, update};
use crate::time::Stamp;

/// `N` words of counts over a window.
#[derive(Debug)]
pub(crate) struct Ring<const N: usize> {
    turned: AtomicU32,
    buckets: [AtomicU32; N],
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

    /// The ring in buckets of `1 << shift` units, whose fields have these top bits.
    #[inline]
    pub(crate) const fn wheel(&self, shift: u8, tops: u32) -> Wheel<'_> {
        Wheel {
            turned: &self.turned,
            buckets: &self.buckets,
            shift: shift as u32,
            tops,
        }
    }

    /// Adds `counts` to the bucket of `now`.
    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) fn add(&self, shift: u8, tops: u32, now: Stamp, counts: u32) {
        match self.current(shift, now) {
            Some(bucket) => add_to(bucket, tops, counts),
            None => self.wheel(shift, tops).add(now, counts),
        }
    }

    /// Looks at the words that are within the window at `now`. Stores nothing.
    #[inline]
    pub(crate) fn look(&self, shift: u8, now: Stamp, mut see: impl FnMut(u32)) {
        if self.current(shift, now).is_some() {
            for bucket in &self.buckets {
                see(bucket.load(Ordering::Relaxed));
            }
            return;
        }
        let wheel = self.wheel(shift, 0);
        let Place { bucket, fresh, .. } = wheel.place(now);
        // Nobody came yet in those that are fresh.
        for back in fresh..N as u32 {
            if let Some(bucket) = wheel.bucket(bucket.wrapping_sub(back)) {
                see(bucket.load(Ordering::Relaxed));
            }
        }
    }

    /// The bucket of `now`, if the ring turned to it last. Only where code is cheap: elsewhere there is one for
    /// rings of every size.
    #[inline]
    fn current(&self, shift: u8, now: Stamp) -> Option<&AtomicU32> {
        if cfg!(not(target_pointer_width = "64")) {
            return None;
        }
        let number = now.0 >> (shift & 31);
        // Acquire pairs with `turn`.
        if self.turned.load(Ordering::Acquire) != number {
            return None;
        }
        self.buckets.get(number as usize & (N - 1))
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        for bucket in &self.buckets {
            bucket.store(0, Ordering::Relaxed);
        }
    }
}

/// A ring of any size: one code for all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wheel<'a> {
    turned: &'a AtomicU32,
    buckets: &'a [AtomicU32],
    shift: u32,
    tops: u32,
}

/// Where a stamp lies in the ring.
#[derive(Clone, Copy)]
struct Place {
    /// The bucket's number; the low bits are its index.
    bucket: u32,
    /// How many buckets, this one among them, belong to the time since the ring turned.
    fresh: u32,
    /// What `turned` was.
    turned: u32,
}

impl Wheel<'_> {
    /// Adds `counts` to the bucket of `now`, whichever it is.
    #[cold]
    #[inline(never)]
    fn add(self, now: Stamp, counts: u32) {
        let place = self.place(now);
        if place.fresh > 0 {
            self.turn(place);
        }
        self.add_at(place.bucket, counts);
    }

    /// Adds `counts` to the bucket that the ring turned to last: for those who have no clock.
    pub(crate) fn add_late(self, counts: u32) {
        self.add_at(self.turned.load(Ordering::Relaxed), counts);
    }

    fn add_at(self, number: u32, counts: u32) {
        if let Some(bucket) = self.bucket(number) {
            add_to(bucket, self.tops, counts);
        }
    }

    #[inline]
    fn size(self) -> u32 {
        self.buckets.len() as u32
    }

    #[inline]
    fn bucket(&self, number: u32) -> Option<&AtomicU32> {
        self.buckets.get((number & (self.size() - 1)) as usize)
    }

    fn place(self, now: Stamp) -> Place {
        // Acquire pairs with `turn`.
        let turned = self.turned.load(Ordering::Acquire);
        let bucket = now.0 >> self.shift;
        // Bucket numbers wrap where stamps do.
        let most = u32::MAX >> self.shift;
        // A thread that was stopped since it read its clock counts where the others are; further behind than the
        // window the clock was set back, and the ring starts anew.
        if turned.wrapping_sub(bucket) & most <= self.size() {
            return Place {
                bucket: turned,
                fresh: 0,
                turned,
            };
        }
        Place {
            bucket,
            fresh: (bucket.wrapping_sub(turned) & most).min(self.size()),
            turned,
        }
    }

    fn turn(self, place: Place) {
        // Else another has turned it since, and its counts would go.
        if self.turned.load(Ordering::Relaxed) != place.turned {
            return;
        }
        for back in 0..place.fresh {
            if let Some(bucket) = self.bucket(place.bucket.wrapping_sub(back)) {
                bucket.swap(0, Ordering::Relaxed);
            }
        }
        // Release publishes that they are empty.
        publish(self.turned, place.turned, place.bucket);
    }
}

#[cfg_attr(target_pointer_width = "64", inline)]
fn add_to(bucket: &AtomicU32, tops: u32, counts: u32) {
    update(bucket, |word| {
        // The top bits are clear on both sides, so no field carries into the next.
        let after = word.wrapping_add(counts);
        if after & tops == 0 {
            after
        } else {
            halved(after, tops)
        }
    });
}

#[cold]
#[cfg_attr(target_pointer_width = "64", inline(never))]
fn halved(word: u32, tops: u32) -> u32 {
    (word >> 1) & !tops
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
