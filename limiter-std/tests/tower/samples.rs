//! What the limiter learns through the layer.

use crate::spy::{Lab, ms};
use limiter_std::law::Aimd;
use limiter_std::tower::{Error, LimiterLayer};
use limiter_std::{Config, Limiter, ManualClock, Outcome};
use std::collections::VecDeque;
use std::future::{Future, ready};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::oneshot;
use tower::{Layer, Service, service_fn};

fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

type Answer = Result<(), ()>;
type Call = Pin<Box<dyn Future<Output = Result<(), Error<()>>>>>;

/// Hands on those that are due, and returns the others.
fn end<T>(mut calls: VecDeque<(u64, T)>, now: u64, mut ended: impl FnMut(T)) -> VecDeque<(u64, T)> {
    while calls.front().is_some_and(|(due, _)| *due <= now) {
        if let Some((_, call)) = calls.pop_front() {
            ended(call);
        }
    }
    calls
}

/// Callers of a service that takes 20 ms and has room for as many as ask, in steps of 1 ms; every
/// second one goes away after `patience` milliseconds. Returns the limit in the end.
fn limit_with_leavers(patience: Option<u64>) -> u32 {
    let clock = ManualClock::new();
    let config = Config::new(Aimd::new()).initial(20).max(40);
    let limiter = Limiter::with_clock(config, clock.clone()).unwrap();
    let inner = service_fn(|answer: oneshot::Receiver<Answer>| async { answer.await.unwrap() });
    let mut service = LimiterLayer::new(limiter.clone()).layer(inner);

    // In the order in which they end: those that stay, and those that leave.
    let mut staying = VecDeque::new();
    let mut leaving = VecDeque::new();
    for step in 0..4_000 {
        staying = end(
            staying,
            step,
            |(answer, mut call): (oneshot::Sender<Answer>, Call)| {
                answer.send(Ok(())).unwrap();
                assert!(call.as_mut().poll(&mut context()).is_ready());
            },
        );
        leaving = end(leaving, step, drop);
        for caller in 0..3 {
            let (answer, answered) = oneshot::channel();
            let mut call: Call = Box::pin(service.call(answered));
            if call.as_mut().poll(&mut context()).is_ready() {
                continue;
            }
            match patience.filter(|_| caller % 2 == 0) {
                Some(patience) => leaving.push_back((step + patience, (answer, call))),
                None => staying.push_back((step + 20, (answer, call))),
            }
        }
        clock.advance(ms(1));
    }
    limiter.snapshot().limit
}

#[test]
fn clients_that_leave_early_do_not_move_the_limit_and_those_that_leave_late_do() {
    let undisturbed = limit_with_leavers(None);
    assert!(undisturbed >= 20, "{undisturbed}");
    let early = limit_with_leavers(Some(5));
    assert!(early.abs_diff(undisturbed) <= 1, "{early}, {undisturbed}");
    let late = limit_with_leavers(Some(200));
    assert!(late < 20, "{late}");
}

#[test]
fn fast_refusals_by_an_inner_limiter_are_no_fast_successes() {
    let outer = Lab::new(20);
    let inner = Lab::new(1);
    let served = service_fn(|answer: oneshot::Receiver<()>| answer);
    let under_inner = LimiterLayer::new(inner.limiter.clone()).layer(served);
    let mut service = LimiterLayer::new(outer.limiter.clone()).layer(under_inner);
    let mut refused = 0;
    for _ in 0..100 {
        let (send, answer) = oneshot::channel();
        let mut good = Box::pin(service.call(answer));
        assert!(good.as_mut().poll(&mut context()).is_pending());
        // Nine are refused, a tenth of a millisecond each.
        for _ in 0..9 {
            let (_send, answer) = oneshot::channel();
            let call = pin!(service.call(answer));
            outer.clock.advance(Duration::from_micros(100));
            let answer = call.poll(&mut context());
            assert!(matches!(
                answer,
                Poll::Ready(Err(Error::Inner(Error::Rejected(_))))
            ));
            refused += 1;
        }
        outer.clock.advance(Duration::from_micros(20_000 - 900));
        send.send(()).unwrap();
        assert!(good.as_mut().poll(&mut context()).is_ready());
    }
    assert_eq!(refused, 900);
    assert_eq!(outer.taught().successes, 100);
    assert_eq!(outer.limiter.snapshot().usual_rtt.get(), 20_000_000);
    for window in outer.windows() {
        assert_eq!(window.rtt_min.get(), 20_000_000);
    }
    assert_eq!(outer.limiter.snapshot().limit, 20);
}

#[test]
fn each_attempt_inside_of_a_retry_is_a_sample_of_its_own() {
    let lab = Lab::new(1);
    let layer =
        LimiterLayer::new(lab.limiter.clone()).classify(|result: Result<&(), &u16>| match result {
            Ok(()) => Outcome::Success,
            Err(429) => Outcome::Overload,
            Err(_) => Outcome::Failure,
        });
    let mut answers = [Err(429), Ok(())].into_iter();
    let mut service = layer.layer(service_fn(|()| ready(answers.next().unwrap())));
    let mut attempt = || {
        let call = pin!(service.call(()));
        lab.clock.advance(ms(100));
        call.poll(&mut context())
    };

    let refused = lab.teaches(|_| assert_eq!(attempt(), Poll::Ready(Err(Error::Inner(429)))));
    // The back-off of the retry.
    lab.clock.advance(ms(5_000));
    let done = lab.teaches(|_| assert_eq!(attempt(), Poll::Ready(Ok(()))));
    assert_eq!((refused.successes, refused.overloads), (0, 1));
    assert_eq!((done.successes, done.overloads), (1, 0));
    assert!(
        lab.windows()
            .iter()
            .all(|window| window.rtt_mean.get() <= 100_000_000)
    );
}
