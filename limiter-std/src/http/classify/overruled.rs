//! A classification with exceptions.

use super::{ClassifyError, ClassifyResponse, Verdict};
use crate::Outcome;
use ::http::header::HeaderMap;
use ::http::response;
use core::fmt;

/// A classification with a function that is asked first; see
/// [`overruled`](ClassifyResponse::overruled).
#[derive(Clone, Copy)]
pub struct Overruled<K, F> {
    usual: K,
    judge: F,
}

impl<K, F> Overruled<K, F> {
    pub(super) const fn new(usual: K, judge: F) -> Self {
        Self { usual, judge }
    }
}

impl<K, F> ClassifyResponse for Overruled<K, F>
where
    K: ClassifyResponse,
    F: Fn(&response::Parts) -> Option<Outcome>,
{
    fn response(&self, head: &response::Parts) -> Verdict {
        match (self.judge)(head) {
            Some(outcome) => Verdict::Known(outcome),
            None => self.usual.response(head),
        }
    }

    fn trailers(&self, trailers: Option<&HeaderMap>) -> Outcome {
        self.usual.trailers(trailers)
    }
}

impl<K: ClassifyError<E>, F, E> ClassifyError<E> for Overruled<K, F> {
    fn error(&self, error: &E) -> Outcome {
        self.usual.error(error)
    }
}

impl<K: fmt::Debug, F> fmt::Debug for Overruled<K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overruled")
            .field("usual", &self.usual)
            .finish_non_exhaustive()
    }
}
