//! Bytes as numbers, choices and times.

use arbitrary::{Arbitrary, Unstructured};
use proptest::test_runner::TestCaseResult;

/// Longer work finds nothing that shorter does not, and slows the fuzzer.
const MOST: usize = 300;

/// What is left of the bytes; zeros follow them.
pub(crate) struct Input<'a>(Unstructured<'a>);

impl<'a> Input<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self(Unstructured::new(data))
    }

    /// Any value.
    pub(crate) fn any<T: Arbitrary<'a> + Default>(&mut self) -> T {
        self.0.arbitrary().unwrap_or_default()
    }

    /// From 0 to `most`.
    pub(crate) fn upto(&mut self, most: u64) -> u64 {
        self.0.int_in_range(0..=most).unwrap_or_default()
    }

    /// From `least` to `most`.
    pub(crate) fn between(&mut self, least: u32, most: u32) -> u32 {
        self.0.int_in_range(least..=most).unwrap_or(least)
    }

    /// One of these.
    pub(crate) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        let index = self.upto(of.len() as u64 - 1) as usize;
        of[index]
    }

    /// A number that is small, large, at an edge, or anything.
    pub(crate) fn odd(&mut self) -> u64 {
        match self.upto(7) {
            0 => 0,
            1 => u64::MAX - self.upto(1_000),
            2 => (1 << 32) - 500 + self.upto(1_000),
            3 => self.any::<u32>().into(),
            4 => self.any(),
            _ => self.upto(10_000),
        }
    }

    /// A step of a clock that stands still, runs, jumps, steps back and wraps.
    pub(crate) fn step(&mut self) -> i64 {
        match self.upto(7) {
            0 => 0,
            1 => -(self.upto(200_000) as i64),
            2 => self.upto(10_000_000_000) as i64,
            3 => -(self.upto(10_000_000_000) as i64),
            4 => self.any(),
            5 => self.upto(100_000) as i64,
            _ => self.upto(200) as i64,
        }
    }

    /// As many as the bytes are good for.
    pub(crate) fn all<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut all = Vec::new();
        while !self.0.is_empty() && all.len() < MOST {
            all.push(one(self));
        }
        all
    }

    /// Whether there are no bytes left.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes that are left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0.take_rest()
    }
}

/// What a model says, said to the fuzzer.
pub(crate) fn expect(result: TestCaseResult) {
    if let Err(error) = result {
        panic!("{error}");
    }
}
