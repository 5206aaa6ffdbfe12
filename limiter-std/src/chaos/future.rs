//! The response of a service that may be hurt.

use super::schedule::Harm;
use crate::Sleep;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use pin_project_lite::pin_project;

pin_project! {
    /// The response of a [`ChaosService`](super::ChaosService).
    #[must_use = "a future does nothing until it is polled"]
    pub struct ChaosFuture<F, T, E, Z: Sleep> {
        #[pin]
        state: State<F, Z::Sleeping>,
        answer: Option<Result<T, E>>,
        // How much later the answer comes, by which sleep.
        later: Option<(Duration, Z)>,
        lost: bool,
    }
}

pin_project! {
    #[project = Stage]
    enum State<F, S> {
        Working { #[pin] inner: F },
        Sleeping { #[pin] sleep: S },
        Done,
    }
}

impl<F, T, E, Z: Sleep + Clone> ChaosFuture<F, T, E, Z> {
    pub(super) fn answered(answer: Result<T, E>) -> Self {
        Self {
            state: State::Done,
            answer: Some(answer),
            later: None,
            lost: false,
        }
    }

    pub(super) fn working(inner: F, harm: Option<Harm>, sleep: &Z) -> Self {
        Self {
            state: State::Working { inner },
            answer: None,
            later: match harm {
                Some(Harm::Delayed(time)) => Some((time, sleep.clone())),
                _ => None,
            },
            lost: harm == Some(Harm::Lost),
        }
    }
}

impl<F, T, E, Z> Future for ChaosFuture<F, T, E, Z>
where
    F: Future<Output = Result<T, E>>,
    Z: Sleep,
{
    type Output = Result<T, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            match this.state.as_mut().project() {
                Stage::Working { inner } => {
                    let answer = ready!(inner.poll(context));
                    if !*this.lost {
                        *this.answer = Some(answer);
                    }
                    // The work is done, and what it held is free.
                    this.state.set(match this.later.take() {
                        Some((time, sleep)) => State::Sleeping {
                            sleep: sleep.sleep(time),
                        },
                        None => State::Done,
                    });
                }
                Stage::Sleeping { sleep } => {
                    ready!(sleep.poll(context));
                    this.state.set(State::Done);
                }
                // A lost answer never comes, and one that was given does not come again.
                Stage::Done => {
                    return match this.answer.take() {
                        Some(answer) => Poll::Ready(answer),
                        None => Poll::Pending,
                    };
                }
            }
        }
    }
}

impl<F, T, E, Z: Sleep> fmt::Debug for ChaosFuture<F, T, E, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChaosFuture").finish_non_exhaustive()
    }
}
