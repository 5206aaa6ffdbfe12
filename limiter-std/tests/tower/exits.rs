//! Every way out of a call gives the slot back, once.

use crate::spy::{CANCELLED, Lab, NOTHING, OVERLOADED, SUCCEEDED, ms, trace};
use limiter_std::Outcome;
use limiter_std::tower::{Error, LimiterLayer};
use std::cell::Cell;
use std::future::{Future, Pending, Ready, pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tower::{Layer, Service, service_fn};

/// Polls once, without a waker.
fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A service that hands out the future made by `make`, under the limiter of `lab`.
macro_rules! limited {
    ($lab:expr, $make:expr) => {
        LimiterLayer::new($lab.limiter.clone()).layer(service_fn($make))
    };
}

/// A future that is ready with `result` when polled for the second time.
fn second<T, E>(result: Result<T, E>) -> impl Future<Output = Result<T, E>> {
    let mut result = Some(result);
    let mut first = true;
    poll_fn(move |_| {
        if std::mem::take(&mut first) {
            return Poll::Pending;
        }
        result.take().map_or(Poll::Pending, Poll::Ready)
    })
}

fn answered<T: Copy, E: Copy>(lab: &Lab, age: Duration, result: Result<T, E>) {
    let mut service = limited!(lab, move |()| second(result));
    let mut response = pin!(service.call(()));
    assert!(poll(response.as_mut()).is_pending());
    assert_eq!(lab.inflight(), 1);
    lab.clock.advance(age);
    assert!(poll(response.as_mut()).is_ready());
    assert_eq!(lab.inflight(), 0, "freed when the response is ready");
}

#[test]
fn an_answer_is_a_success_with_its_time() {
    assert_eq!(
        trace(|lab, age| answered(lab, age, Ok::<_, ()>(()))),
        SUCCEEDED
    );

    let lab = Lab::new(1);
    answered(&lab, ms(30), Ok::<_, ()>(()));
    let window = lab.windows()[0];
    assert_eq!(window.rtt_mean.get(), 30_000_000);
}

#[test]
fn an_error_is_a_failure() {
    assert_eq!(
        trace(|lab, age| answered(lab, age, Err::<(), _>(()))),
        NOTHING
    );
}

#[test]
fn a_response_future_that_is_never_polled_is_cancelled() {
    let never = trace(|lab, age| {
        let mut service = limited!(lab, |()| pending::<Result<(), ()>>());
        let response = service.call(());
        assert_eq!(lab.inflight(), 1);
        lab.clock.advance(age);
        drop(response);
    });
    assert_eq!(never, CANCELLED);
}

#[test]
fn a_response_future_that_is_dropped_halfway_is_cancelled() {
    let halfway = trace(|lab, age| {
        let mut service = limited!(lab, |()| pending::<Result<(), ()>>());
        let mut response = Box::pin(service.call(()));
        assert!(poll(response.as_mut()).is_pending());
        lab.clock.advance(age);
        drop(response);
    });
    assert_eq!(halfway, CANCELLED);
}

#[test]
fn a_panic_while_polled_frees_the_slot_at_once_and_teaches_nothing() {
    let panicked = trace(|lab, age| {
        let mut service = limited!(lab, |()| poll_fn(|_| -> Poll<Result<(), ()>> {
            panic!("inside the inner future")
        }));
        let mut response = Box::pin(service.call(()));
        lab.clock.advance(age);
        let unwound = catch_unwind(AssertUnwindSafe(|| poll(response.as_mut())));
        assert!(unwound.is_err());
        assert_eq!(lab.inflight(), 0, "freed while the future is still there");
        assert!(poll(response.as_mut()).is_pending(), "and not polled again");
    });
    assert_eq!(panicked, NOTHING);
}

#[test]
fn a_hundred_panics_in_call_leave_the_limiter_as_it_was() {
    let panicked = trace(|lab, age| {
        let before = lab.limiter.snapshot();
        let mut service = limited!(lab, |()| -> Ready<Result<(), ()>> {
            assert_eq!(lab.inflight(), 1, "the slot is taken before");
            lab.clock.advance(age);
            panic!("inside of call")
        });
        for _ in 0..100 {
            let unwound = catch_unwind(AssertUnwindSafe(|| drop(service.call(()))));
            assert!(unwound.is_err());
            assert_eq!(lab.inflight(), 0);
        }
        let after = lab.limiter.snapshot();
        assert_eq!((after.limit, after.cuts), (before.limit, before.cuts));
    });
    assert_eq!(panicked, NOTHING);
}

#[test]
fn a_panic_of_the_classifier_frees_the_slot() {
    let lab = Lab::new(1);
    let layer = LimiterLayer::new(lab.limiter.clone())
        .classify(|_: Result<&(), &()>| -> Outcome { panic!("inside the classifier") });
    let mut service = layer.layer(service_fn(|()| ready(Ok(()))));
    let mut response = Box::pin(service.call(()));
    let unwound = catch_unwind(AssertUnwindSafe(|| poll(response.as_mut())));
    assert!(unwound.is_err());
    assert_eq!(lab.inflight(), 0);
}

#[test]
fn the_inner_future_is_dropped_before_its_slot_is_free() {
    struct Work<'a>(&'a Lab, &'a Cell<u32>);

    impl Drop for Work<'_> {
        fn drop(&mut self) {
            self.1.set(self.0.inflight());
        }
    }

    let lab = Lab::new(1);
    let seen = Cell::new(u32::MAX);
    let mut service = limited!(lab, |()| {
        let work = Work(&lab, &seen);
        async move {
            let _work = work;
            pending::<Result<(), ()>>().await
        }
    });
    let mut response = Box::pin(service.call(()));
    assert!(poll(response.as_mut()).is_pending());
    drop(response);
    assert_eq!((seen.get(), lab.inflight()), (1, 0));
}

#[test]
fn four_cancelled_calls_make_room_for_the_fifth_at_once() {
    let lab = Lab::new(4);
    let mut service = limited!(lab, |()| -> Pending<Result<(), ()>> { pending() });
    let mut calls: Vec<_> = (0..4).map(|_| Box::pin(service.call(()))).collect();
    for call in &mut calls {
        assert!(poll(call.as_mut()).is_pending());
    }
    let mut refused = pin!(service.call(()));
    let Poll::Ready(Err(Error::Rejected(rejected))) = poll(refused.as_mut()) else {
        panic!("a fifth was admitted");
    };
    assert_eq!((rejected.limit, rejected.inflight), (4, 4));

    drop(calls);
    let mut fifth = pin!(service.call(()));
    assert!(poll(fifth.as_mut()).is_pending());
    assert_eq!(lab.inflight(), 1);
}

#[test]
fn a_classifier_of_ones_own_decides() {
    let timed_out = trace(|lab, age| {
        let layer = LimiterLayer::new(lab.limiter.clone()).classify(
            |result: Result<&(), &std::io::Error>| match result {
                Err(error) if error.kind() == std::io::ErrorKind::TimedOut => Outcome::Overload,
                _ => Outcome::Failure,
            },
        );
        let mut service = layer.layer(service_fn(|()| {
            ready(Err(std::io::Error::from(std::io::ErrorKind::TimedOut)))
        }));
        let mut response = pin!(service.call(()));
        lab.clock.advance(age);
        assert!(poll(response.as_mut()).is_ready());
    });
    assert_eq!(timed_out, OVERLOADED);
}

#[test]
fn a_refusal_and_a_failure_are_told_apart_and_lead_to_their_cause() {
    use std::error::Error as _;

    let lab = Lab::new(1);
    let taken = lab.limiter.try_acquire().unwrap();
    let mut service = limited!(lab, |()| ready(Err::<(), _>(std::io::Error::other(
        "broken"
    ))));
    let Poll::Ready(Err(refused)) = poll(pin!(service.call(())).as_mut()) else {
        panic!("not refused");
    };
    drop(taken);
    let Poll::Ready(Err(failed)) = poll(pin!(service.call(())).as_mut()) else {
        panic!("did not fail");
    };

    assert_eq!(refused.rejected().map(|rejected| rejected.limit), Some(1));
    assert!(refused.source().unwrap().is::<limiter_std::Rejected>());
    assert!(failed.rejected().is_none());
    assert_eq!(failed.source().unwrap().to_string(), "broken");
    assert_ne!(refused.to_string(), failed.to_string());
}
