//! The head of a request, whatever its body.

use ::http::{Extensions, HeaderMap, Method, Request, Uri};

/// What [`LimiterLayer::describe`](super::LimiterLayer::describe) knows of a request: everything but its body.
///
/// In the extensions is what layers around this one have put there: the peer's address, who is logged in.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Head<'a> {
    /// The method.
    pub method: &'a Method,
    /// The target.
    pub uri: &'a Uri,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The extensions.
    pub extensions: &'a Extensions,
}

impl<'a> Head<'a> {
    /// The head of a request.
    pub fn of<B>(request: &'a Request<B>) -> Self {
        Self {
            method: request.method(),
            uri: request.uri(),
            headers: request.headers(),
            extensions: request.extensions(),
        }
    }
}
