//! What survives a reset, in memory that start-up code does not clear.

use core::sync::atomic::{AtomicU32, Ordering};
use limiter_core::{Journal, Place, Record, RecordError};

const WORDS: usize = Record::SIZE / 4;

/// Two records of a dependency and how long the device has been up, for memory that start-up code leaves
/// alone: `.uninit` of `cortex-m-rt`, or the memory of a real-time clock.
///
/// One for each dependency. Whatever is in it at power-on is told from a record by a checksum.
///
/// ```
/// # #![allow(unsafe_code)]
/// use limiter_embassy::Retained;
///
/// // SAFETY: nothing else is in this section, and every value of every word is allowed.
/// #[unsafe(link_section = ".uninit.cloud")]
/// static KEPT: Retained = Retained::new();
/// ```
#[derive(Debug)]
pub struct Retained {
    // Loads and stores only, which every core has. Relaxed throughout: the reader is the next life.
    places: [[AtomicU32; WORDS]; 2],
    /// Seconds since the last record was written, and their complement: a torn pair is no time.
    since: [AtomicU32; 2],
}

impl Retained {
    /// Blank memory. In a section that is not loaded this is not what is there.
    pub const fn new() -> Self {
        Self {
            places: [const { [const { AtomicU32::new(0) }; WORDS] }; 2],
            since: [const { AtomicU32::new(0) }; 2],
        }
    }

    pub(crate) fn open(&self) -> (Journal, Result<Record, RecordError>) {
        let [a, b] = self.places.each_ref().map(read);
        Journal::open(&a, &b)
    }

    /// Writes a record that a journal numbered: a handful of stores.
    pub(crate) fn write(&self, place: Place, bytes: &[u8; Record::SIZE]) {
        let [a, b] = &self.places;
        let words = match place {
            Place::A => a,
            Place::B => b,
        };
        for (word, four) in words.iter().zip(bytes.chunks_exact(4)) {
            if let Some(four) = four.first_chunk() {
                word.store(u32::from_le_bytes(*four), Ordering::Relaxed);
            }
        }
        self.set_since(0);
    }

    /// Whole seconds that the device stayed up after the last record, 0 when it is not known.
    pub(crate) fn since(&self) -> u32 {
        let [seconds, complement] = self
            .since
            .each_ref()
            .map(|word| word.load(Ordering::Relaxed));
        if seconds == !complement { seconds } else { 0 }
    }

    pub(crate) fn set_since(&self, seconds: u32) {
        let [value, complement] = &self.since;
        value.store(seconds, Ordering::Relaxed);
        complement.store(!seconds, Ordering::Relaxed);
    }
}

impl Default for Retained {
    fn default() -> Self {
        Self::new()
    }
}

fn read(words: &[AtomicU32; WORDS]) -> [u8; Record::SIZE] {
    let mut bytes = [0; Record::SIZE];
    for (four, word) in bytes.chunks_exact_mut(4).zip(words) {
        four.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
    }
    bytes
}
