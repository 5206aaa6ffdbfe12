//! From a call to what it says of itself.

use crate::Request;
use core::time::Duration;

/// Says of each call how much it matters, what it costs, and whose it is.
///
/// Implemented for functions:
///
/// ```
/// use limiter_std::tower::LimiterLayer;
/// use limiter_std::{Caller, Limiter, Priority, Request};
///
/// struct Query {
///     tenant: String,
///     report: bool,
/// }
///
/// let layer = LimiterLayer::new(Limiter::default()).describe(|query: &Query| {
///     let priority = if query.report { Priority::Batch } else { Priority::Interactive };
///     Request::new().priority(priority).caller(Caller::new(&query.tenant))
/// });
/// # let _ = layer;
/// ```
pub trait Describe<Req> {
    /// Describes a call.
    fn describe(&self, request: &Req) -> Request;

    /// Whether all calls are alike, so that nobody has to be asked.
    #[doc(hidden)]
    fn is_alike(&self) -> bool {
        false
    }
}

/// All calls are alike: each may use the whole limit, and takes one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alike;

impl<Req> Describe<Req> for Alike {
    fn describe(&self, _: &Req) -> Request {
        Request::new()
    }

    fn is_alike(&self) -> bool {
        true
    }
}

impl<Req, F: Fn(&Req) -> Request> Describe<Req> for F {
    fn describe(&self, request: &Req) -> Request {
        self(request)
    }
}

/// What a call asks its limiter for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// `None` where it says nothing.
    pub(crate) request: Option<Request>,
    /// For how long a slot is of use.
    pub(crate) within: Option<Duration>,
}

impl Asked {
    pub(crate) fn of<Req>(describe: &impl Describe<Req>, request: &Req) -> Self {
        let alike = describe.is_alike();
        Self {
            request: (!alike).then(|| describe.describe(request)),
            within: None,
        }
    }
}
