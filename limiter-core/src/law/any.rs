//! One of the shipped laws, chosen at run time.

use super::{Aimd, Decision, Fixed, Gradient, Knee, Law, Vegas, Window};
use crate::Words;
use crate::error::ConfigError;

/// Any of the shipped laws, for a choice from a configuration file or a command line. Takes the memory
/// of the largest: the state is 9 words, those of [`Knee`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnyLaw {
    /// [`Fixed`].
    Fixed(Fixed),
    /// [`Aimd`].
    Aimd(Aimd),
    /// [`Vegas`].
    Vegas(Vegas),
    /// [`Gradient`].
    Gradient(Gradient),
    /// [`Knee`].
    Knee(Knee),
}

/// The largest state of all.
type State = <Knee as Law>::State;

/// Runs `f` of a law whose state is the first words of the common one.
fn with_state<const N: usize, T>(state: &mut State, f: impl FnOnce(&mut [u32; N]) -> T) -> T {
    const { assert!(N <= State::ZERO.len(), "the common state is the largest") };
    let mut own = [0; N];
    own.copy_from_slice(&state[..N]);
    let result = f(&mut own);
    state[..N].copy_from_slice(&own);
    result
}

impl Law for AnyLaw {
    type State = State;

    fn on_window(&self, state: &mut State, window: &Window) -> Decision {
        match self {
            Self::Fixed(law) => with_state(state, |state| law.on_window(state, window)),
            Self::Aimd(law) => with_state(state, |state| law.on_window(state, window)),
            Self::Vegas(law) => with_state(state, |state| law.on_window(state, window)),
            Self::Gradient(law) => with_state(state, |state| law.on_window(state, window)),
            Self::Knee(law) => with_state(state, |state| law.on_window(state, window)),
        }
    }

    fn on_set(&self, state: &mut State, limit: u32) {
        match self {
            Self::Fixed(law) => with_state(state, |state| law.on_set(state, limit)),
            Self::Aimd(law) => with_state(state, |state| law.on_set(state, limit)),
            Self::Vegas(law) => with_state(state, |state| law.on_set(state, limit)),
            Self::Gradient(law) => with_state(state, |state| law.on_set(state, limit)),
            Self::Knee(law) => with_state(state, |state| law.on_set(state, limit)),
        }
    }

    fn adapts(&self) -> bool {
        !matches!(self, Self::Fixed(_))
    }

    /// Laws of one kind only: the words of another mean something else.
    fn goes_on_from(&self, before: &Self) -> bool {
        core::mem::discriminant(self) == core::mem::discriminant(before)
    }

    fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::Fixed(law) => law.check(),
            Self::Aimd(law) => law.check(),
            Self::Vegas(law) => law.check(),
            Self::Gradient(law) => law.check(),
            Self::Knee(law) => law.check(),
        }
    }
}
