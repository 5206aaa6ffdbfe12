//! What happens to whom, and when.

use core::ops::Range;
use core::time::Duration;

/// What is done to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Harm {
    /// The answer comes so much later than it would.
    Delayed(Duration),
    /// It fails, and the service never hears of it.
    Failed,
    /// It is refused, and the service never hears of it.
    Refused,
    /// The service does the work, and the answer is lost.
    Lost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) when: Range<Duration>,
    pub(super) per_mille: u32,
    pub(super) harm: Harm,
}

/// Troubles in the order in which they were added: a call meets the first that takes it.
///
/// Times count from the moment at which it is switched on; shares are per mille of the calls, more than 1,000 is
/// all of them. An empty range takes nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    troubles: Vec<Trouble>,
}

impl Schedule {
    /// Nothing happens.
    pub const fn new() -> Self {
        Self {
            troubles: Vec::new(),
        }
    }

    /// Answers come later by `time`.
    #[must_use]
    pub fn delay(self, when: Range<Duration>, per_mille: u32, time: Duration) -> Self {
        self.add(when, per_mille, Harm::Delayed(time))
    }

    /// Calls fail.
    #[must_use]
    pub fn fail(self, when: Range<Duration>, per_mille: u32) -> Self {
        self.add(when, per_mille, Harm::Failed)
    }

    /// Calls are refused.
    #[must_use]
    pub fn refuse(self, when: Range<Duration>, per_mille: u32) -> Self {
        self.add(when, per_mille, Harm::Refused)
    }

    /// Answers are lost: their callers wait for as long as they wait.
    #[must_use]
    pub fn lose(self, when: Range<Duration>, per_mille: u32) -> Self {
        self.add(when, per_mille, Harm::Lost)
    }

    fn add(mut self, when: Range<Duration>, per_mille: u32, harm: Harm) -> Self {
        self.troubles.push(Trouble {
            when,
            per_mille,
            harm,
        });
        self
    }

    pub(super) fn troubles(&self) -> &[Trouble] {
        &self.troubles
    }

    /// When the last trouble is over.
    pub(super) fn end(&self) -> Duration {
        let ends = self.troubles.iter().map(|trouble| trouble.when.end);
        ends.max().unwrap_or_default()
    }

    /// The place of the trouble that a call meets at `passed`, by its random words.
    pub(super) fn meets(&self, passed: Duration, mut word: impl FnMut() -> u32) -> Option<usize> {
        let mut troubles = self.troubles.iter();
        troubles.position(|trouble| {
            // The high part of a product: even for any share.
            let draw = (u64::from(word()) * 1_000) >> 32;
            trouble.when.contains(&passed) && draw < u64::from(trouble.per_mille)
        })
    }
}
