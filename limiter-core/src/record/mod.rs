//! What of a dependency outlives a restart.

use crate::budget::Tokens;
use crate::law::record::{MAGIC, SIZE, VERSION, checksum};
use core::fmt;

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
        let mut bytes = [0; SIZE];
        let flags = if self.unsettled { UNSETTLED } else { 0 }
            | if self.reopened.is_some() {
                NOT_CLOSED
            } else {
                0
            };
        // Counts of four bits each.
        let counts = self.reopened.unwrap_or(0) & 0xf | self.restored.min(0xf) << 4;
        let head = u32::from_le_bytes([MAGIC, VERSION, flags, counts]);
        let words = [
            head,
            self.sequence,
            self.limit,
            self.balance.get(),
            self.open_left,
        ];
        for (four, word) in bytes.chunks_exact_mut(4).zip(words) {
            four.copy_from_slice(&word.to_le_bytes());
        }
        if let Some((body, end)) = bytes.split_last_chunk_mut::<4>() {
            *end = checksum(body).to_le_bytes();
        }
        bytes
    }

    /// The record in these bytes, which may be longer.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordError> {
        let bytes = bytes.first_chunk::<SIZE>().ok_or(RecordError::Short)?;
        for blank in [0x00, 0xff] {
            if bytes.iter().all(|&byte| byte == blank) {
                return Err(RecordError::Blank);
            }
        }
        let (body, end) = bytes.split_last_chunk::<4>().ok_or(RecordError::Short)?;
        if checksum(body) != u32::from_le_bytes(*end) {
            return Err(RecordError::Damaged);
        }
        let mut words = body
            .chunks_exact(4)
            .filter_map(|four| four.first_chunk::<4>())
            .map(|four| u32::from_le_bytes(*four));
        let mut next = || words.next().ok_or(RecordError::Short);
        let [magic, version, flags, counts] = next()?.to_le_bytes();
        if magic != MAGIC {
            return Err(RecordError::Damaged);
        }
        if version != VERSION {
            return Err(RecordError::Version(version));
        }
        Ok(Self {
            sequence: next()?,
            limit: next()?,
            balance: Tokens::milli(next()?),
            open_left: next()?,
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
