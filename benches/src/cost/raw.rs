//! What times are given in: adding 1 to a word and taking it away again.

use super::case::{Subject, each, subject};
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

/// A word alone on its cache line.
#[derive(Default)]
#[repr(align(64))]
struct Line(AtomicUsize);

/// The pair: as little as taking a slot and giving it back can be.
pub(crate) fn pair() -> Box<dyn Subject> {
    subject(Line::default(), |line, operations: Range<u64>| {
        each(operations, |_| {
            line.0.fetch_add(1, Ordering::Acquire);
            line.0.fetch_sub(1, Ordering::Release);
            true
        })
    })
}
