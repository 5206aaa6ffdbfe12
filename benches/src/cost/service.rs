//! A service that is ready and answers at once, and how services are called.

use super::case::each;
use core::convert::Infallible;
use core::future::Future;
use core::ops::Range;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use tower::Service;

/// Is ready and answers at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready;

impl Service<u64> for Ready {
    type Response = u64;
    type Error = Infallible;
    type Future = core::future::Ready<Result<u64, Infallible>>;

    #[inline]
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    #[inline]
    fn call(&mut self, request: u64) -> Self::Future {
        core::future::ready(Ok(request))
    }
}

/// Polls until it is ready: at once, unless another thread has the only slot.
#[inline]
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

/// Calls a service, by a clone for each thread as servers do for each connection.
pub(crate) fn serve<S>(service: &S, operations: Range<u64>) -> u64
where
    S: Service<u64> + Clone,
{
    let mut service = service.clone();
    each(operations, |operation| {
        make_ready(&mut service) && wait(service.call(operation)).is_ok()
    })
}

/// As [`serve`], for a service that has no slot left.
pub(crate) fn serve_refusals<S>(service: &S, operations: Range<u64>) -> u64
where
    S: Service<u64> + Clone,
{
    let all = operations.end - operations.start;
    all - serve(service, operations)
}

/// Waits until a service is ready; whether it is.
#[inline]
pub(crate) fn make_ready<S: Service<u64>>(service: &mut S) -> bool {
    wait(core::future::poll_fn(|context| service.poll_ready(context))).is_ok()
}
