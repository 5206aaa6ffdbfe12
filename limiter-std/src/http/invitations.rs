//! The server's side of the retry budget: how many of those who are refused may come back soon.

use crate::clock::RATE;
use crate::dependency::entropy;
use core::time::Duration;
use limiter_core::{BudgetConfig, Random, RetryBudget, Timestamp, Tokens};

/// For each ten requests that were let in one that was refused is asked to come back soon, and ten after a quiet time;
/// the others later, and not together.
///
/// Who comes back comes on top of what there is already. With everybody asked to come back in a second, what was
/// too much once is too much again a second later.
#[derive(Debug)]
pub(super) struct Invitations {
    budget: RetryBudget,
    random: Random,
}

const SOON: Duration = Duration::from_secs(1);
/// The shortest of the other times, and by how much they differ, in seconds.
const LATER: u32 = 10;
const SPREAD: u32 = 21;

impl Invitations {
    pub(super) fn new() -> Self {
        Self {
            budget: RetryBudget::new(BudgetConfig::new().without_floor(), RATE),
            random: Random::new(entropy()),
        }
    }

    /// A request was let in.
    pub(super) fn admitted(&self) {
        self.budget.deposit();
    }

    /// A request was refused: when its caller may come back.
    pub(super) fn refused(&self) -> Duration {
        // Without a floor no time adds anything, and none is looked at.
        match self.budget.withdraw(Tokens::ONE, Timestamp::from_ticks(0)) {
            Ok(_) => SOON,
            Err(_) => {
                let more = (u64::from(self.random.word()) * u64::from(SPREAD)) >> 32;
                Duration::from_secs(u64::from(LATER) + more)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_what_is_let_in_is_asked_to_come_back_soon_and_the_others_not_together() {
        let invitations = Invitations::new();
        let soon = |refused: u32| {
            (0..refused)
                .filter(|_| invitations.refused() == SOON)
                .count()
        };
        assert_eq!(soon(1_000), 10, "what is saved up");
        for _ in 0..50 {
            invitations.admitted();
        }
        assert_eq!(soon(1_000), 5);
        let mut seconds = [0_u32; 31];
        for _ in 0..10_000 {
            seconds[invitations.refused().as_secs() as usize] += 1;
        }
        assert!(seconds[..10].iter().all(|&count| count == 0), "{seconds:?}");
        assert!(
            seconds[10..].iter().all(|&count| count > 300),
            "{seconds:?}"
        );
    }
}
