//! What calls are said to be, and what comes of it.

use crate::spy::Lab;
use limiter_std::tower::{Error, LimiterLayer};
use limiter_std::{Priority, RejectReason, Request};
use std::future::ready;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use tower::{Layer, Service, service_fn};

fn of(class: &usize) -> Request {
    Request::new().priority(Priority::ALL[*class])
}

fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_call_is_let_in_by_the_class_that_it_is_said_to_be_of() {
    let lab = Lab::new(10);
    let layer = LimiterLayer::new(lab.limiter.clone()).describe(of);
    let mut service = layer.layer(service_fn(|class: usize| ready(Ok::<_, ()>(class))));
    let _held: Vec<_> = (0..5).map(|_| lab.limiter.try_acquire().unwrap()).collect();
    let Poll::Ready(Err(Error::Rejected(refused))) = poll(service.call(0)) else {
        panic!("half of the limit is taken");
    };
    assert_eq!(refused.reason, RejectReason::ShareTaken);
    assert_eq!(poll(service.call(1)), Poll::Ready(Ok(1)));
}

#[test]
fn calls_that_wait_are_served_by_the_class_that_they_are_said_to_be_of() {
    let lab = Lab::new(1);
    let layer = LimiterLayer::new(lab.limiter.clone()).describe(of);
    let mut service = layer
        .wait_until(std::future::pending::<()>)
        .layer(service_fn(|class: usize| ready(Ok::<_, ()>(class))));
    let held = lab.limiter.try_acquire().unwrap();
    let mut calls = [0, 3, 1].map(|class| Box::pin(service.call(class)));
    let mut context = Context::from_waker(Waker::noop());
    for call in &mut calls {
        assert!(call.as_mut().poll(&mut context).is_pending());
    }
    drop(held);
    let [batch, critical, interactive] = &mut calls;
    assert!(batch.as_mut().poll(&mut context).is_pending());
    for call in [critical, interactive, batch] {
        assert!(call.as_mut().poll(&mut context).is_ready());
    }
    assert_eq!(lab.inflight(), 0);
}
