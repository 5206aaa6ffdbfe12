//! How a future sleeps: by whatever its runtime has.

use core::future::Future;
use core::time::Duration;

/// Makes the sleeps of a call. Implemented for functions such as a runtime's `sleep`, and by [`Tokio`].
///
/// A sleep that ends early does no harm: the call looks at its own clock.
pub trait Sleep {
    /// A sleep.
    type Sleeping: Future<Output = ()>;

    /// Begins to sleep for `time`.
    fn sleep(&self, time: Duration) -> Self::Sleeping;
}

impl<F: Fn(Duration) -> S, S: Future<Output = ()>> Sleep for F {
    type Sleeping = S;

    fn sleep(&self, time: Duration) -> S {
        self(time)
    }
}

/// Sleeps by tokio's timer.
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokio;

#[cfg(feature = "tokio")]
impl Sleep for Tokio {
    type Sleeping = tokio::time::Sleep;

    fn sleep(&self, time: Duration) -> tokio::time::Sleep {
        tokio::time::sleep(time)
    }
}
