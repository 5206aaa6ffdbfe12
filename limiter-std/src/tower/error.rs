//! What a limited service fails with.

use crate::Rejected;
use core::fmt;

/// The error of a limited service: refused here, or failed there.
///
/// A refusal never reached the inner service, and a retry that meets the same limiter a moment later
/// makes the load worse: retry layers should let [`Rejected`](Error::Rejected) pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error<E> {
    /// The limiter refused; the inner service was not called.
    Rejected(Rejected),
    /// The inner service failed.
    Inner(E),
}

impl<E> Error<E> {
    /// The refusal, if it is one.
    pub fn rejected(&self) -> Option<&Rejected> {
        match self {
            Self::Rejected(rejected) => Some(rejected),
            Self::Inner(_) => None,
        }
    }
}

impl<E> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(_) => f.write_str("refused by the limiter"),
            Self::Inner(_) => f.write_str("the limited service failed"),
        }
    }
}

impl<E> core::error::Error for Error<E>
where
    E: core::error::Error + 'static,
{
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Rejected(rejected) => Some(rejected),
            Self::Inner(error) => Some(error),
        }
    }
}
