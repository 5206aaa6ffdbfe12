//! Those of one partition who wait.

use super::super::pace::Pace;
use super::super::standing::Standing;
use super::CLASSES;
use limiter_core::Priority;

/// Those of one class of a partition.
#[derive(Debug, Default)]
pub(super) struct Class {
    pub(super) head: Option<usize>,
    pub(super) tail: Option<usize>,
    pub(super) len: usize,
    /// How many slots they wait for.
    pub(super) slots: u64,
    pub(super) standing: Standing,
}

impl Class {
    /// Whose turn it is: the oldest, the newest when the delay stands.
    pub(super) const fn next(&self) -> Option<usize> {
        if self.standing.stands() {
            self.tail
        } else {
            self.head
        }
    }

    /// Who would be served last.
    pub(super) const fn last(&self) -> Option<usize> {
        if self.standing.stands() {
            self.head
        } else {
            self.tail
        }
    }
}

/// Those of one partition, or of none.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// By the class's place in [`Priority::ALL`].
    pub(super) classes: [Class; CLASSES],
    pub(super) pace: Pace,
    /// Its newcomers were told that it waits.
    pub(super) told: bool,
}

impl Part {
    pub(super) fn len(&self) -> usize {
        self.classes.iter().map(|class| class.len).sum()
    }

    pub(super) fn class(&self, class: Priority) -> Option<&Class> {
        self.classes.get(class as usize)
    }

    /// The highest class that waits.
    pub(super) fn first_class(&self) -> Option<&Class> {
        self.classes.iter().rev().find(|class| class.len != 0)
    }

    /// How many slots are waited for before one of `class` that came now is served.
    pub(super) fn ahead(&self, class: Priority) -> u64 {
        let ahead = Priority::ALL.into_iter().filter(|&other| {
            let stands = self
                .class(class)
                .is_some_and(|class| class.standing.stands());
            // Newest first nobody of its own class is ahead.
            other > class || other == class && !stands
        });
        let slots = ahead.filter_map(|class| self.class(class));
        slots.map(|class| class.slots).sum()
    }
}
