//! What errors say, whatever their type.

use super::Classify;
use crate::errors::error_outcome;
use crate::{Ending, Judge, Outcome};
use core::error::Error;

/// Judges results by what can be known of any error: `Ok` is a success; refusals of this process are
/// [`Ignored`](Outcome::Ignored), which is never retried; a time limit that ran out is a timeout; anything
/// else is a failure that may go away.
///
/// For errors that are known better take a function of your own, and for boxed ones, which are no
/// `Error` themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Errors;

impl<T, E: Error + 'static> Classify<T, E> for Errors {
    fn classify(&self, result: Result<&T, &E>) -> Outcome {
        result.map_or_else(|error| error_outcome(error), |_| Outcome::Success)
    }
}

impl<T, E: Error + 'static> Judge<T, E> for Errors {
    fn judge(&self, result: Result<&T, &E>) -> Ending {
        match self.classify(result) {
            Outcome::Overload => Ending::timeout(),
            outcome => outcome.into(),
        }
    }
}
