//! Two places written in turn, so that a reset in the middle of a save loses nothing.

use super::{Record, RecordError};
use crate::law::record::{SIZE, is_after};

/// Which of the two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Place {
    /// The first.
    A,
    /// The second.
    B,
}

impl Place {
    const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// Which place to write next, and under which number.
///
/// Keeps no bytes: the adapter has two places in memory that survives a reset, reads both at the start, and
/// writes where it is told. Save before each attempt leaves, or a crash loop refills its budget.
///
/// ```
/// use limiter_core::{Journal, Place, Record, RecordError};
///
/// // At the first start nothing was ever saved.
/// let mut kept = [[0xff; Record::SIZE]; 2];
/// let (mut journal, found) = Journal::open(&kept[0], &kept[1]);
/// assert_eq!(found, Err(RecordError::Blank));
///
/// # use limiter_core::{Config, Dependency, DependencyConfig, TickRate, Timestamp, law::Aimd};
/// # let rate = TickRate::MILLIS;
/// # let dependency: Dependency<Aimd> =
/// #     Dependency::new(Config::new(Aimd::new(), rate), DependencyConfig::new(rate));
/// let (place, bytes) = journal.write(dependency.save(Timestamp::from_ticks(0)));
/// match place {
///     Place::A => kept[0] = bytes,
///     Place::B => kept[1] = bytes,
/// }
/// let (_, found) = Journal::open(&kept[0], &kept[1]);
/// assert!(found.is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Journal {
    sequence: u32,
    place: Place,
}

impl Journal {
    /// Looks at both places: the newer record, and a journal that goes on beside it.
    ///
    /// The error is that of the place that says more: a damaged one where the other is blank. A record of
    /// another version in either place is one too, for it may be the newer.
    pub fn open(a: &[u8], b: &[u8]) -> (Self, Result<Record, RecordError>) {
        let (first, second) = (Record::from_bytes(a), Record::from_bytes(b));
        let second_leads = match (&first, &second) {
            (Err(RecordError::Version(_)), _) => false,
            (_, Err(RecordError::Version(_))) => true,
            (Ok(a), Ok(b)) => is_after(b.sequence, a.sequence),
            (first, _) => first.is_err(),
        };
        let (place, found, other) = if second_leads {
            (Place::B, &second, &first)
        } else {
            (Place::A, &first, &second)
        };
        // Beside a version that is not understood the other's numbers go on.
        let sequence = match (found, other) {
            (Ok(record), _) | (_, Ok(record)) => record.sequence,
            _ => 0,
        };
        // Of two that tell nothing the first says why, unless it was never written.
        let found = match (found, other) {
            (Err(RecordError::Version(_)), _) | (_, Err(RecordError::Blank)) => found,
            (Err(_), Err(_)) if second_leads => other,
            _ => found,
        };
        (Self { sequence, place }, *found)
    }

    /// The bytes to write, and where: never over the record that is the newest.
    pub fn write(&mut self, record: Record) -> (Place, [u8; SIZE]) {
        self.sequence = self.sequence.wrapping_add(1);
        self.place = self.place.other();
        let record = Record {
            sequence: self.sequence,
            ..record
        };
        (self.place, record.to_bytes())
    }
}
