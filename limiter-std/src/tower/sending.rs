//! The attempts of a service's call.

use super::dependency::Prepare;
use crate::Attempt;
use crate::dependency::future::Start;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use pin_project_lite::pin_project;
use tower_service::Service;

/// A service, and the request that its attempts send.
pub(crate) struct Requests<S, P, Req> {
    service: S,
    prepare: P,
    /// What further attempts are copied from; none once the only attempt left with it.
    request: Option<Req>,
    /// The copy for the first attempt, where there can be one.
    first: Option<Req>,
}

impl<S, P: Prepare<Req>, Req> Requests<S, P, Req> {
    pub(super) fn new(service: S, prepare: P, request: Req) -> Self {
        Self {
            first: prepare.copy(&request),
            service,
            prepare,
            request: Some(request),
        }
    }

    pub(super) const fn repeatable(&self) -> bool {
        self.first.is_some()
    }
}

impl<S: Service<Req> + Clone, P: Prepare<Req>, Req> Start for Requests<S, P, Req> {
    type Running = Running<S, Req>;

    fn start(&mut self, attempt: Attempt) -> Running<S, Req> {
        let copy = self.first.take().or_else(|| {
            let request = self.request.as_ref()?;
            self.prepare.copy(request)
        });
        // One that cannot be copied is sent itself, once.
        let mut request = copy.or_else(|| self.request.take());
        if let Some(request) = &mut request {
            self.prepare.mark(request, &attempt);
        }
        Running {
            stage: Stage::Readying {
                service: self.service.clone(),
                request,
            },
        }
    }
}

pin_project! {
    /// One attempt: a clone of the service becomes ready, and is called.
    pub(crate) struct Running<S: Service<Req>, Req> {
        #[pin]
        stage: Stage<S, S::Future, Req>,
    }
}

pin_project! {
    #[project = Staged]
    enum Stage<S, F, Req> {
        Readying { service: S, request: Option<Req> },
        Called { #[pin] response: F },
    }
}

impl<S: Service<Req>, Req> Future for Running<S, Req> {
    type Output = Result<S::Response, S::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut stage = self.project().stage;
        loop {
            let response = match stage.as_mut().project() {
                Staged::Readying { service, request } => {
                    ready!(service.poll_ready(context))?;
                    match request.take() {
                        Some(request) => service.call(request),
                        // Nothing is left to send: over when its time is.
                        None => return Poll::Pending,
                    }
                }
                Staged::Called { response } => return response.poll(context),
            };
            stage.set(Stage::Called { response });
        }
    }
}
