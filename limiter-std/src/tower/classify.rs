//! From a result to an outcome.

use crate::Outcome;

/// Turns the result of the inner service into an [`Outcome`].
///
/// Implemented for functions:
///
/// ```
/// use limiter_std::tower::LimiterLayer;
/// use limiter_std::{Limiter, Outcome};
/// use std::io::{self, ErrorKind};
///
/// let layer = LimiterLayer::new(Limiter::default()).classify(
///     |result: Result<&Vec<u8>, &io::Error>| match result {
///         Ok(_) => Outcome::Success,
///         Err(error) => match error.kind() {
///             ErrorKind::TimedOut => Outcome::Overload,
///             ErrorKind::NotFound => Outcome::Ignored,
///             _ => Outcome::Failure,
///         },
///     },
/// );
/// # let _ = layer;
/// ```
pub trait Classify<T, E> {
    /// Judges a result.
    fn classify(&self, result: Result<&T, &E>) -> Outcome;
}

/// `Ok` is [`Success`](Outcome::Success), `Err` is [`Failure`](Outcome::Failure).
///
/// It recognises no overload: where errors tell of one, classify them with a function of your own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OkOrErr;

impl<T, E> Classify<T, E> for OkOrErr {
    fn classify(&self, result: Result<&T, &E>) -> Outcome {
        match result {
            Ok(_) => Outcome::Success,
            Err(_) => Outcome::Failure,
        }
    }
}

impl<T, E, F> Classify<T, E> for F
where
    F: Fn(Result<&T, &E>) -> Outcome,
{
    fn classify(&self, result: Result<&T, &E>) -> Outcome {
        self(result)
    }
}
