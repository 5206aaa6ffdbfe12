//! Something to measure.

use core::fmt;
use core::ops::Range;
use limiter_core::{TickRate, Timestamp};

/// An operation of an implementation.
#[derive(Clone, Copy)]
pub struct Case {
    /// What is done.
    pub op: &'static str,
    /// By whom: `limiter`, or the peer's name.
    pub who: &'static str,
    /// Operations before those that are counted.
    pub warm_up: u64,
    build: fn() -> Box<dyn Subject>,
}

impl Case {
    pub(crate) const fn new(
        op: &'static str,
        who: &'static str,
        build: fn() -> Box<dyn Subject>,
    ) -> Self {
        Self {
            op,
            who,
            warm_up: 2_000,
            build,
        }
    }

    /// For what is at first not as it is later.
    pub(crate) const fn after(mut self, warm_up: u64) -> Self {
        self.warm_up = warm_up;
        self
    }

    /// The object that the operation is done on.
    pub fn build(&self) -> Box<dyn Subject> {
        (self.build)()
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.op, self.who)
    }
}

/// An object and one operation on it.
pub trait Subject: Send + Sync {
    /// Does the operations with these numbers, one after the other, and returns how many did what they are
    /// there for. Time follows from the number, so all threads of a round are given the same ones.
    fn run(&self, operations: Range<u64>) -> u64;

    /// Bytes of the box around the object that belong to the measurement.
    fn packing(&self) -> usize;
}

/// An object, and a function that does operations on it. The loop is in there, so that nothing is between two
/// operations but itself.
struct Timed<T, F> {
    object: T,
    work: F,
}

impl<T: Send + Sync, F: Fn(&T, Range<u64>) -> u64 + Send + Sync> Subject for Timed<T, F> {
    fn run(&self, operations: Range<u64>) -> u64 {
        (self.work)(&self.object, operations)
    }

    fn packing(&self) -> usize {
        size_of::<Self>() - size_of::<T>()
    }
}

pub(crate) fn subject<T, F>(object: T, work: F) -> Box<dyn Subject>
where
    T: Send + Sync + 'static,
    F: Fn(&T, Range<u64>) -> u64 + Send + Sync + 'static,
{
    Box::new(Timed { object, work })
}

/// Does an operation for each number, and counts those that did what they are there for: what they return is
/// used, as a caller would, and by as little as can be.
#[inline(always)]
pub(crate) fn each(operations: Range<u64>, mut operation: impl FnMut(u64) -> bool) -> u64 {
    let all = operations.end - operations.start;
    let mut missed = 0;
    for number in operations {
        if !operation(number) {
            miss(&mut missed);
        }
    }
    all - missed
}

/// Out of line: the loop is then a step and a comparison.
#[cold]
#[inline(never)]
fn miss(missed: &mut u64) {
    *missed += 1;
}

/// The ticks of timestamps given by the caller.
pub(crate) const RATE: TickRate = TickRate::NANOS;
/// Between two operations: 100,000 a second, so that windows close as often as in a busy server.
const STEP: u64 = 10_000;
/// How long an operation takes, as its timestamps say.
const RTT: u64 = 1_000_000;

/// When an operation began and when it ends. Ends are in order, so time never steps back.
#[inline]
pub(crate) fn times(operation: u64) -> (Timestamp, Timestamp) {
    let began = operation * STEP;
    let ends = began + RTT;
    (Timestamp::from_ticks(began), Timestamp::from_ticks(ends))
}
