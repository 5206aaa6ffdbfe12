//! Sleeping on a clock that is moved by hand.

use limiter_std::{Clock, ManualClock, Timestamp, duration, timestamp};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Is over when the clock has been moved so far; wakes nobody.
pub(crate) struct Napping(ManualClock, Timestamp);

impl Napping {
    pub(crate) fn new(clock: &ManualClock, time: Duration) -> Self {
        let now = duration(clock.now().since(Timestamp::default()).unwrap_or_default());
        Self(clock.clone(), timestamp(now + time))
    }
}

impl Future for Napping {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0.now() >= self.1 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
