//! Bodies and services made by hand.

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame, SizeHint};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tower::{Service, service_fn};

pub(crate) fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

pub(crate) fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut context())
}

/// What a body does when it is polled.
#[derive(Debug)]
pub(crate) enum Step {
    Data(&'static str),
    Trailers(HeaderMap),
    Fail,
}

/// A body whose steps are given to it while it is read. It is pending when it has none, and over when it
/// was told so.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    steps: Arc<Mutex<(VecDeque<Step>, bool)>>,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Nothing, and it is known.
    pub(crate) fn empty() -> Self {
        Self::new().end()
    }

    pub(crate) fn push(&self, step: Step) {
        self.steps.lock().unwrap().0.push_back(step);
    }

    pub(crate) fn end(self) -> Self {
        self.steps.lock().unwrap().1 = true;
        self
    }
}

impl Body for Script {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        let (steps, over) = &mut *self.steps.lock().unwrap();
        match steps.pop_front() {
            Some(Step::Data(text)) => Poll::Ready(Some(Ok(Frame::data(Bytes::from(text))))),
            Some(Step::Trailers(trailers)) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
            Some(Step::Fail) => Poll::Ready(Some(Err("the body broke"))),
            None if *over => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        let (steps, over) = &*self.steps.lock().unwrap();
        steps.is_empty() && *over
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(7)
    }
}

/// The next frame, which has to be there.
pub(crate) fn frame<B: Body + Unpin>(body: &mut B) -> Option<Result<Frame<B::Data>, B::Error>> {
    match Pin::new(body).poll_frame(&mut context()) {
        Poll::Ready(frame) => frame,
        Poll::Pending => panic!("no frame is there"),
    }
}

/// A service that answers every request with what `respond` makes.
pub(crate) fn answers<Q, B>(
    respond: impl FnMut(Request<Q>) -> Response<B> + Clone,
) -> impl Service<
    Request<Q>,
    Response = Response<B>,
    Error = Infallible,
    Future = std::future::Ready<Result<Response<B>, Infallible>>,
> + Clone {
    let mut respond = respond;
    service_fn(move |request| std::future::ready(Ok(respond(request))))
}
