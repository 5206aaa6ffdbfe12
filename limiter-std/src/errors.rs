//! What can be known of an error whatever its type.

use crate::{BreakerOpen, Exhausted, GiveUp, Outcome, Rejected};
use core::error::Error;
use std::io;

/// What can be known of an error from itself and its sources, whatever its type.
///
/// - A [`Rejected`], [`BreakerOpen`], [`Exhausted`] or [`GiveUp`] is `Ignored`: this process refused, the
///   dependency never heard of it.
/// - A time limit that ran out is `Overload`: an [`io::Error`] of kind
///   [`TimedOut`](io::ErrorKind::TimedOut), or an error that says so. The timeouts of tower, tokio,
///   reqwest and tonic are of types of their own, so they are known by their text ("timed out",
///   "deadline has elapsed", "timeout expired").
/// - Anything else, such as a refused or broken connection, is `Failure`: nobody answers, which says
///   nothing about how full the dependency is.
///
/// ```
/// use limiter_std::Outcome;
/// use limiter_std::http::error_outcome;
/// use std::io::{Error, ErrorKind};
///
/// assert_eq!(error_outcome(&Error::from(ErrorKind::TimedOut)), Outcome::Overload);
/// assert_eq!(error_outcome(&Error::from(ErrorKind::ConnectionRefused)), Outcome::Failure);
/// ```
pub fn error_outcome(error: &(dyn Error + 'static)) -> Outcome {
    core::iter::successors(Some(error), |error| cause(*error))
        .find_map(|error| {
            if is_local(error) {
                Some(Outcome::Ignored)
            } else if timed_out(error) {
                Some(Outcome::Overload)
            } else {
                None
            }
        })
        .unwrap_or(Outcome::Failure)
}

/// Whether this process refused.
fn is_local(error: &(dyn Error + 'static)) -> bool {
    error.is::<Rejected>()
        || error.is::<BreakerOpen>()
        || error.is::<Exhausted>()
        || error.is::<GiveUp>()
}

/// The error behind this one. An [`io::Error`] made from another is that error, and leaves it out of its
/// chain of sources.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

fn timed_out(error: &(dyn Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return error.kind() == io::ErrorKind::TimedOut;
    }
    let text = error.to_string().to_ascii_lowercase();
    ["timed out", "deadline has elapsed", "timeout expired"]
        .iter()
        .any(|said| text.contains(said))
}
