//! What of a dependency outlives a restart.

use crate::budget::Tokens;
use crate::law::record::{MAGIC, SIZE, VERSION, WORDS, checksum};
use core::{array, fmt};

mod journal;
mod restore;

pub use journal::{Journal, Place};

/// A dependency as it was saved: limit, budget and breaker. Durations, no stamps: clocks start anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub(crate) sequence: u32,
    pub(crate) limit: u32,
    pub(crate) balance: Tokens,
    /// Milliseconds until an open breaker may half-open.
    pub(crate) open_left: u32,
    /// How often it opened again, when it is not closed.
    pub(crate) reopened: Option<u8>,
    /// How often it was restored since it opened.
    pub(crate) restored: u8,
    /// Attempts were on their way.
    pub(crate) unsettled: bool,
}

const UNSETTLED: u8 = 1;
const NOT_CLOSED: u8 = 1 << 1;

impl Record {
    /// How many bytes a record takes.
    pub const SIZE: usize = SIZE;

    /// The bytes to keep, with a version and a checksum.
    pub fn to_bytes(&self) -> [u8; SIZE] {
        let flags = if self.unsettled { UNSETTLED } else { 0 }
            | if self.reopened.is_some() {
                NOT_CLOSED
            } else {
                0
            };
        // Counts of four bits each.
        let counts = self.reopened.unwrap_or(0) & 0xf | self.restored.min(0xf) << 4;
        let head = u32::from_le_bytes([MAGIC, VERSION, flags, counts]);
        let (limit, balance) = (self.limit, self.balance.get());
        let end = checksum(&[head, self.sequence, limit, balance, self.open_left]);
        let words = [head, self.sequence, limit, balance, self.open_left, end];
        // Byte by byte where it belongs: copied in one, it would be by a routine of 600 on small cores.
        let [
            [a, b, c, d],
            [e, f, g, h],
            [i, j, k, l],
            [m, n, o, p],
            [q, r, s, t],
            [u, v, w, x],
        ] = words.map(u32::to_le_bytes);
        [
            a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x,
        ]
    }

    /// The record in these bytes, which may be longer.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordError> {
        let bytes = bytes.first_chunk::<SIZE>().ok_or(RecordError::Short)?;
        let words: [u32; WORDS] = array::from_fn(|i| {
            let four = bytes.iter().skip(4 * i).take(4).rev();
            four.fold(0, |word, byte| word << 8 | u32::from(*byte))
        });
        let [head, sequence, limit, balance, open_left, end] = words;
        if words.iter().all(|word| *word == head) && matches!(head, 0 | u32::MAX) {
            return Err(RecordError::Blank);
        }
        if checksum(&[head, sequence, limit, balance, open_left]) != end {
            return Err(RecordError::Damaged);
        }
        let [magic, version, flags, counts] = head.to_le_bytes();
        if magic != MAGIC {
            return Err(RecordError::Damaged);
        }
        if version != VERSION {
            return Err(RecordError::Version(version));
        }
        Ok(Self {
            sequence,
            limit,
            balance: Tokens::milli(balance),
            open_left,
            reopened: (flags & NOT_CLOSED != 0).then_some(counts & 0xf),
            restored: counts >> 4,
            unsettled: flags & UNSETTLED != 0,
        })
    }

    /// Attempts were on their way when it was saved.
    pub const fn unsettled(&self) -> bool {
        self.unsettled
    }

    /// The number that a [`Journal`] gave it.
    pub const fn sequence(&self) -> u32 {
        self.sequence
    }
}

/// Bytes that are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum RecordError {
    /// Fewer bytes than a record has.
    Short,
    /// All zero or all ones: nothing was ever saved there.
    Blank,
    /// The checksum does not match: torn, or worn out.
    Damaged,
    /// A version that this release does not know.
    Version(u8),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "too few bytes for a record; the budget starts empty",
            Self::Blank => "blank memory instead of a record; the budget starts empty",
            Self::Damaged => "a damaged record; the budget starts empty",
            Self::Version(_) => "a record of another version; the budget starts empty",
        })
    }
}

impl core::error::Error for RecordError {}
