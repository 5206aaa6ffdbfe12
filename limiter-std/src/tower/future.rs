//! The future of a limited response.

use super::role::{Answer, Guard, Role, run};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use pin_project_lite::pin_project;
use tower_service::Service;

pin_project! {
    /// The response of a [`LimiterService`](super::LimiterService).
    ///
    /// # Cancellation
    ///
    /// Dropping it frees the slot after the inner future is dropped, and counts as
    /// [`Outcome::Cancelled`](crate::Outcome::Cancelled) with its age; while it waits, it leaves the queue.
    #[must_use = "a future does nothing until it is polled"]
    pub struct ResponseFuture<Y, S, Req>
    where
        Y: Role<S, Req>,
        S: Service<Req>,
    {
        #[pin]
        state: State<Y, S, Req, S::Future, Y::Guard, Y::Wait, Answer<Y, S, Req>>,
    }
}

pin_project! {
    // Fields are dropped in order: the slot comes after what runs in it.
    #[project = Stage]
    enum State<Y, S, Req, F, G, W, A> {
        Waiting { #[pin] wait: W, call: Option<(Y, S, Req)> },
        Readying { service: S, request: Option<Req>, guard: Option<G> },
        Running { #[pin] inner: F, guard: Option<G> },
        Answered { answer: Option<A> },
    }
}

impl<Y: Role<S, Req>, S: Service<Req>, Req> ResponseFuture<Y, S, Req> {
    pub(super) fn waiting(wait: Y::Wait, role: Y, service: S, request: Req) -> Self {
        Self {
            state: State::Waiting {
                wait,
                call: Some((role, service, request)),
            },
        }
    }

    pub(super) fn running(inner: S::Future, guard: Option<Y::Guard>) -> Self {
        Self {
            state: State::Running { inner, guard },
        }
    }

    pub(super) fn answered(answer: Answer<Y, S, Req>) -> Self {
        Self {
            state: State::Answered {
                answer: Some(answer),
            },
        }
    }
}

impl<Y: Role<S, Req>, S: Service<Req>, Req> Future for ResponseFuture<Y, S, Req> {
    type Output = Answer<Y, S, Req>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        loop {
            let next = match state.as_mut().project() {
                Stage::Waiting { wait, call } => {
                    let entered = ready!(wait.poll(context));
                    let Some((role, service, mut request)) = call.take() else {
                        return Poll::Pending;
                    };
                    let wanted = match entered {
                        Ok(permit) => match role.is_wanted(&request) {
                            Ok(()) => Ok(permit),
                            Err(rejected) => {
                                permit.forget();
                                Err(rejected)
                            }
                        },
                        refused => refused,
                    };
                    match wanted {
                        Ok(permit) => State::Readying {
                            service,
                            guard: Some(role.begin(permit, &mut request)),
                            request: Some(request),
                        },
                        Err(rejected) => State::Answered {
                            answer: Some(role.refuse(rejected, request)),
                        },
                    }
                }
                Stage::Readying {
                    service,
                    request,
                    guard,
                } => {
                    // It was ready when the wait began, and may not be any more.
                    match ready!(run(guard, || service.poll_ready(context))) {
                        Ok(()) => {
                            let Some(request) = request.take() else {
                                return Poll::Pending;
                            };
                            State::Running {
                                inner: run(guard, || service.call(request)),
                                guard: guard.take(),
                            }
                        }
                        Err(error) => State::Answered {
                            answer: guard.take().map(|guard| guard.end(Err(error))),
                        },
                    }
                }
                Stage::Running { inner, guard } => {
                    if guard.is_none() {
                        return Poll::Pending;
                    }
                    let result = ready!(run(guard, || inner.poll(context)));
                    return match guard.take() {
                        Some(guard) => Poll::Ready(guard.end(result)),
                        None => Poll::Pending,
                    };
                }
                // Pending for ever once it was ready.
                Stage::Answered { answer } => {
                    return answer.take().map_or(Poll::Pending, Poll::Ready);
                }
            };
            state.set(next);
        }
    }
}

impl<Y: Role<S, Req>, S: Service<Req>, Req> fmt::Debug for ResponseFuture<Y, S, Req> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match &self.state {
            State::Waiting { .. } => "waiting",
            State::Readying { .. } => "readying",
            State::Running { .. } => "running",
            State::Answered { .. } => "answered",
        };
        f.debug_struct("ResponseFuture")
            .field("stage", &stage)
            .finish_non_exhaustive()
    }
}
