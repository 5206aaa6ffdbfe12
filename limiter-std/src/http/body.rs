//! The body of a limited response.

use ::http::header::HeaderMap;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

/// What waits for the end of a body. Dropping it is the end too.
pub(super) trait Rest: Send + Sync {
    /// The body came to its end, with or without trailers.
    fn ended(&mut self, trailers: Option<&HeaderMap>);

    /// The body failed.
    fn failed(&mut self);
}

pin_project! {
    /// The body of a response: the inner service's, which may hold a slot until it ends, or the empty one
    /// of a refusal.
    pub struct ResponseBody<B> {
        // `None` for a refusal. Dropped before the slot.
        #[pin]
        inner: Option<B>,
        rest: Option<Box<dyn Rest>>,
    }
}

impl<B> ResponseBody<B> {
    pub(super) const fn empty() -> Self {
        Self {
            inner: None,
            rest: None,
        }
    }

    pub(super) const fn unwatched(body: B) -> Self {
        Self {
            inner: Some(body),
            rest: None,
        }
    }

    pub(super) const fn watched(body: B, rest: Box<dyn Rest>) -> Self {
        Self {
            inner: Some(body),
            rest: Some(rest),
        }
    }
}

impl<B: Body> Body for ResponseBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let this = self.project();
        let Some(mut inner) = this.inner.as_pin_mut() else {
            return Poll::Ready(None);
        };
        let frame = ready!(inner.as_mut().poll_frame(context));
        let Some(rest) = this.rest.as_mut() else {
            return Poll::Ready(frame);
        };
        let over = match &frame {
            Some(Ok(frame)) => match frame.trailers_ref() {
                Some(trailers) => {
                    rest.ended(Some(trailers));
                    true
                }
                None if inner.is_end_stream() => {
                    rest.ended(None);
                    true
                }
                None => false,
            },
            Some(Err(_)) => {
                rest.failed();
                true
            }
            None => {
                rest.ended(None);
                true
            }
        };
        if over {
            *this.rest = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(B::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner
            .as_ref()
            .map_or(SizeHint::with_exact(0), B::size_hint)
    }
}

impl<B: fmt::Debug> fmt::Debug for ResponseBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody")
            .field("inner", &self.inner)
            .field("holds_slot", &self.rest.is_some())
            .finish()
    }
}
